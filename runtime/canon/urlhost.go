package canon

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// appendAuthority appends userinfo@host:port.
func appendAuthority(dst []byte, authority, scheme string) ([]byte, error) {
	userinfo, address, found := strings.Cut(authority, "@")
	if !found {
		userinfo, address = "", authority
	}
	if strings.IndexByte(address, '@') >= 0 {
		return dst, errors.New("has two @ before its path")
	}
	host, port, err := splitPort(address)
	if err != nil {
		return dst, err
	}
	if host, err = normalizeHost(host); err != nil {
		return dst, err
	}
	if port, err = normalizePort(port, scheme); err != nil {
		return dst, err
	}
	if found {
		if dst, err = appendEscaped(dst, userinfo); err != nil {
			return dst, err
		}
		dst = append(dst, '@')
	}
	dst = append(dst, host...)
	if port != "" {
		dst = append(dst, ':')
		dst = append(dst, port...)
	}
	return dst, nil
}

// splitPort splits at the colon that is not part of an IPv6 address.
func splitPort(address string) (host, port string, err error) {
	if !strings.HasPrefix(address, "[") {
		host, port, _ = strings.Cut(address, ":")
		return host, port, nil
	}
	end := strings.IndexByte(address, ']')
	if end < 0 || end+1 < len(address) && address[end+1] != ':' {
		return "", "", errors.New("has a host with [ but without ] at its end")
	}
	return address[:end+1], strings.TrimPrefix(address[end+1:], ":"), nil
}

func normalizePort(port, scheme string) (string, error) {
	if port == "" {
		return "", nil
	}
	for i := range len(port) {
		if port[i] < '0' || port[i] > '9' {
			return "", errors.New("has a port that is not a number")
		}
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", errors.New("has a port over 65535")
	}
	if n == defaultPort(scheme) {
		return "", nil
	}
	return strconv.FormatUint(n, 10), nil
}

func defaultPort(scheme string) uint64 {
	switch scheme {
	case "http", "ws":
		return 80
	case "https", "wss":
		return 443
	case "ftp":
		return 21
	}
	return 1 << 16 // no port
}

// maxHost is how long the name of a host can be in DNS. Conversion to ASCII
// takes quadratic time, so what is much longer is refused before it.
const maxHost = 253

func normalizeHost(host string) (string, error) {
	if strings.HasPrefix(host, "[") {
		return normalizeIPv6(host)
	}
	if len(host) > 12*maxHost { // a code point of four bytes is twelve in escapes
		return "", errors.New("has a host that is too long")
	}
	name := decodeEscapes(host)
	if err := checkUTF8(name); err != nil {
		return "", fmt.Errorf("host: %w", err)
	}
	name, err := toASCII(name)
	if err != nil {
		return "", err
	}
	name = strings.TrimSuffix(name, ".")
	if len(name) > maxHost {
		return "", errors.New("has a host that is too long")
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" {
			return "", errors.New("has no host, or one with an empty label")
		}
		if strings.ContainsFunc(label, func(r rune) bool { return !isHostByte(r) }) {
			return "", errors.New("has a host with a character that no host has")
		}
	}
	return name, nil
}

// isHostByte allows the underscore: it is common in names of services.
func isHostByte(r rune) bool {
	return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_'
}

func normalizeIPv6(host string) (string, error) {
	inner := strings.Trim(host, "[]")
	if address, err := netip.ParseAddr(inner); err != nil || !address.Is6() || address.Zone() != "" {
		return "", errors.New("has no IPv6 address between its [ ]")
	}
	return "[" + strings.ToLower(inner) + "]", nil
}

// toASCII leaves to IDNA only what needs it: names that are not ASCII, and those
// that claim to be its result.
func toASCII(name string) (string, error) {
	if isASCII(name) {
		name = strings.ToLower(name)
		if !strings.HasPrefix(name, "xn--") && !strings.Contains(name, ".xn--") {
			return name, nil
		}
	}
	name, err := hostProfile.ToASCII(name)
	if err != nil {
		return "", fmt.Errorf("has a host that IDNA refuses: %w", err)
	}
	return name, nil
}

// hostProfile is UTS 46 as browsers use it: not transitional (ß stays apart from
// ss), and with hyphens and underscores wherever they are.
var hostProfile = idna.New(
	idna.MapForLookup(),
	idna.BidiRule(),
	idna.Transitional(false),
	idna.StrictDomainName(false),
	idna.CheckHyphens(false),
)
