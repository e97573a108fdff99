package idem

import "encoding/hex"

// KeyFormat is how an effect's key is written for a provider that does not take
// every text. The zero KeyFormat is 64 hexadecimal digits, all of the SHA-256.
//
// A key that was sent is sent again as it was: another format in a later release
// is for effects that have not started.
type KeyFormat struct {
	uuid   bool
	base62 int // digits
}

// KeyUUID is a UUID of version 8 (RFC 9562, section 5.8): 36 characters, which
// hold 122 bits of the key.
func KeyUUID() KeyFormat { return KeyFormat{uuid: true} }

// Base62 keys have as many digits as 128 bits need, at least, so that no two of
// a provider's keys meet, and as many as all of the SHA-256 needs, at most.
const (
	minBase62 = 22
	maxBase62 = 43
)

// KeyBase62 is that many digits of the key in base 62, from 22 to 43: the digits
// 0–9, A–Z and a–z in that order of value, of the SHA-256 as one number with the
// most significant byte first, its last digits, the most significant first.
func KeyBase62(digits int) KeyFormat {
	if digits == 0 {
		digits = -1 // no digits at all are no format; the zero KeyFormat is one
	}
	return KeyFormat{base62: digits}
}

func (f KeyFormat) valid() bool {
	return f.base62 == 0 || f.base62 >= minBase62 && f.base62 <= maxBase62
}

// text writes the key that a provider gets.
func (f KeyFormat) text(sum Hash) string {
	switch {
	case f.uuid:
		return uuidText([16]byte(sum[:16]))
	case f.base62 > 0:
		return base62Text(sum, f.base62)
	}
	return hex.EncodeToString(sum[:])
}

func uuidText(b [16]byte) string {
	b[6] = b[6]&0x0f | 0x80 // version 8
	b[8] = b[8]&0x3f | 0x80 // the variant of RFC 9562
	text := make([]byte, 0, 36)
	for i, end := range []int{4, 6, 8, 10, 16} {
		start := []int{0, 4, 6, 8, 10}[i]
		if i > 0 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, b[start:end])
	}
	return string(text)
}

// base62Text divides the number by 62 as people do on paper, byte by byte.
func base62Text(number Hash, digits int) string {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	text := make([]byte, digits)
	for i := range text {
		rest := 0
		for j, b := range number {
			rest = rest<<8 | int(b)
			number[j], rest = byte(rest/62), rest%62
		}
		text[digits-1-i] = alphabet[rest]
	}
	return string(text)
}
