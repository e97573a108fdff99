package canon

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestURLsOfOnePageAreOne(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"scheme and host in lower case", "HTTPS://Shop.Example/Path", "https://shop.example/Path"},
		{"default port", "https://a:443/", "https://a/"},
		{"default port of http", "http://a:80/", "http://a/"},
		{"default port of another scheme stays", "http://a:443/", "http://a:443/"},
		{"default port with zeros", "https://a:00443/", "https://a/"},
		{"empty port", "https://a:/", "https://a/"},
		{"other port", "https://a:8443/", "https://a:8443/"},
		{"fragment", "https://a/b#c?d/../e", "https://a/b"},
		{"fragment without path", "https://a#b", "https://a/"},
		{"trailing dot of the host", "https://a.example./", "https://a.example/"},
		{"empty path", "https://a", "https://a/"},
		{"empty path and a query", "https://a?b=1", "https://a/?b=1"},
		{"IDNA", "https://Bücher.example/", "https://xn--bcher-kva.example/"},
		{"IDNA keeps ß", "https://faß.de/", "https://xn--fa-hia.de/"},
		{"IDNA, full-width letters and dot", "https://ＡＢ。jp/", "https://ab.jp/"},
		{"IDNA, done before", "https://XN--BCHER-KVA.example/", "https://xn--bcher-kva.example/"},
		{"IDNA, escaped", "https://b%C3%BCcher.example/", "https://xn--bcher-kva.example/"},
		{"host with escapes", "https://ex%61mple.com/", "https://example.com/"},
		{"underscore and hyphens", "https://my_service--x-.local/", "https://my_service--x-.local/"},
		{"hyphen before what is not ASCII", "https://-ü.example/", "https://xn----eha.example/"},
		{"IPv4", "http://192.0.2.1:8080/", "http://192.0.2.1:8080/"},
		{"IPv6", "http://[2001:DB8::1]:80/", "http://[2001:db8::1]/"},
		{"user information", "ftp://Jo:%70w@a:21/x", "ftp://Jo:pw@a/x"},
		{"other scheme", "git+SSH://a/b", "git+ssh://a/b"},

		{"dot segments", "http://a/b/c/./../../g", "http://a/g"},
		{"dot segments beyond the root", "http://a/../../g", "http://a/g"},
		{"dot segment last", "http://a/b/.", "http://a/b/"},
		{"dots last", "http://a/b/c/..", "http://a/b/"},
		{"dots alone", "http://a/..", "http://a/"},
		{"dots escaped", "http://a/b/%2e%2E/c", "http://a/c"},
		{"three dots", "http://a/b/.../c", "http://a/b/.../c"},
		{"empty segments stay", "http://a//b//", "http://a//b//"},
		{"empty segments are segments", "http://a/b//../c", "http://a/b/c"},
		{"no slash at the end is added", "http://a/b", "http://a/b"},
		{"path keeps its case", "http://a/B", "http://a/B"},

		{"escapes in upper case", "http://a/%3a%c3%a9", "http://a/%3A%C3%A9"},
		{"unreserved ones decoded", "http://a/%7E%41%2d%2E%5f%39", "http://a/~A-._9"},
		{"reserved ones stay apart", "http://a/x%2Fy/x/y", "http://a/x%2Fy/x/y"},
		{"missing escapes", "http://a/é x|?é={\"}", "http://a/%C3%A9%20x%7C?%C3%A9=%7B%22%7D"},
		{"brackets stay", "http://a/[x]?ids[]=1", "http://a/[x]?ids[]=1"},
		{"backslash in the query", `http://a/?p=a\b`, "http://a/?p=a%5Cb"},
		{"escaped once only", "http://a/%2541", "http://a/%2541"},

		{"query sorted by name", "http://a/?b=1&a=2", "http://a/?a=2&b=1"},
		{"then by value", "http://a/?a=2&a=1&a=10", "http://a/?a=1&a=10&a=2"},
		{"by name and not by text", "http://a/?a-b=1&a=2", "http://a/?a=2&a-b=1"},
		{"stable", "http://a/?a=&a&a=", "http://a/?a=&a&a="},
		{"sorted after escapes", "http://a/?b=1&%61=2", "http://a/?a=2&b=1"},
		{"plus stays", "http://a/?q=a+b", "http://a/?q=a+b"},
		{"question mark and slash in the query", "http://a/?q=/../?x", "http://a/?q=/../?x"},
		{"empty query", "http://a/b?", "http://a/b"},
		{"query of tracking only", "http://a/b?utm_source=x&fbclid=y", "http://a/b"},
		{"empty parameters stay", "http://a/?b&&a", "http://a/?&a&b"},
		{"query of tracking and an empty parameter", "http://a/?utm_x=1&", "http://a/"},
		{"stable, many", "http://a/?" + strings.Repeat("b&a&b=&a=&", 20) + "c", "http://a/?" + strings.Repeat("a&a=&", 20) + strings.Repeat("b&b=&", 20) + "c"},
		{"tracking by prefix", "http://a/?utm_x=1&utmost=2&xutm_y=3", "http://a/?utmost=2&xutm_y=3"},
		{"tracking with an escape in its name", "http://a/?utm%5Fsource=1", "http://a/"},
		{"names have a case", "http://a/?GCLID=1", "http://a/?GCLID=1"},
		{"nothing else is dropped", "http://a/?ref=1&id=2&session=3&gclsrc=4", "http://a/?gclsrc=4&id=2&ref=1&session=3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := URL(c.in)
			if err != nil || got != c.want {
				t.Fatalf("%s (%v), want %s", got, err, c.want)
			}
			if again, err := URL(got); err != nil || again != got {
				t.Errorf("once more: %s, %v", again, err)
			}
		})
	}
}

func TestEveryDocumentedTrackingParameterIsDropped(t *testing.T) {
	for _, name := range []string{
		"utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id", "utm_",
		"gclid", "gbraid", "wbraid", "dclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "igshid", "yclid", "twclid", "ttclid",
		"li_fat_id", "_hsenc", "_hsmi", "vero_id", "oly_enc_id",
	} {
		for _, in := range []string{"http://a/?" + name, "http://a/?" + name + "=x"} {
			if got, err := URL(in); err != nil || got != "http://a/" {
				t.Errorf("%s: %s, %v", in, got, err)
			}
		}
		if got, err := URL("http://a/?id=1&" + name + "=x&z=2"); err != nil || got != "http://a/?id=1&z=2" {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func TestAContractDropsMoreParameters(t *testing.T) {
	got, err := URL("http://a/?id=1&ref=x&größe=9&ids%5B%5D=2&refs=3", "ref", "größe", "ids[]")
	if err != nil || got != "http://a/?id=1&refs=3" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestWhatIsNoAbsoluteURLIsAnErrorAndNotAGuess(t *testing.T) {
	for _, in := range []string{
		"", " ", "shop.example", "/path", "//shop.example/x", "shop.example:443/x", "localhost:8080/", "mailto:jo@x.org", "https:/a", "https:a", "https", "https://", "https:///x", "https://?x", "file:///etc/hosts",
		"1http://a/", "ht tp://a/", "http ://a/", "é://a/", " https://a/", "https://a/\n", "https://a/\tb", "https://a/\x7f", `https://a\b/`, `https://a/b\c`, `https:\\a\b`,
		"https://a:b/", "https://a:65536/", "https://a:-1/", "https://a:1:2/", "https://a:８/",
		"https://./", "https://../", "https://a..b/", "https://.a/", "https://a b/", "https://a%20b/", "https://{host}/", "https://a%2Fb/", "https://a*/", "https://a%/", "https://\u00ad/", "https://\u2100/",
		"https://xn--/", "https://xn--a/", "https://www.xn--a.example/", "https://xn--\u00fc/", "https://[::1/", "https://[::1]x/", "https://[1.2.3.4]/", "https://[fe80::1%25eth0]/", "https://[v1.a]/", "https://[]/", "https://::1/",
		"https://a@b@c/", "https://@/", "https://a:b@/", "https://a/%", "https://a/%4", "https://a/%zz", "https://a/?%", "https://a/?b=%g1", "https://%41%@a/", "https://a/\xff",
		"https://" + strings.Repeat("a.", 200) + "a/", "https://" + strings.Repeat("ü", 5000) + "/",
	} {
		if got, err := URL(in); !errors.Is(err, ErrNotURL) || got != "" {
			t.Errorf("URL(%q) = %q, %v", in, got, err)
		}
	}
}

func TestHostileURLsTakeLittleTime(t *testing.T) {
	skipUnderRace(t)
	const size = 1 << 20
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	for _, in := range []string{
		"https://a/" + fill("../"), "https://a/" + fill("x/../"), "https://a/" + fill("x/") + fill("../"), "https://a/" + fill("/") + fill("../"),
		"https://a/?" + fill("&"), "https://a/?" + fill("b&a&"), "https://a/?" + fill("%41"), "https://a/?" + fill("é"), "https://" + fill("ü") + "/", "https://" + fill("a.") + "/",
		"https://a/#" + fill("#"), "https://" + fill("@"), "https://a:" + fill("0") + "/", fill("a") + "://a/", fill("://"),
	} {
		start := time.Now()
		_, err := URL(in, "x", "y")
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%.20q… took %v (%v)", in, took, err)
		}
	}
}
