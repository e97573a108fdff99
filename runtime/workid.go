package idem

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
)

// WorkID names one piece of work: the SHA-256 of its kind, version and identity.
// Two deliveries of the same work have the same WorkID, and nothing else has.
//
// It is comparable and may be a map key. The zero WorkID names no work and is
// never made by a derivation. There is no conversion from string: a WorkID comes
// from a generated derivation or, for operators, from [ParseWorkID].
type WorkID struct{ sum [sha256.Size]byte }

// HashWorkID is the last step of a generated derivation: preimage is the kind,
// ":v", the version, ":" and the identity's canonical text. Only generated code
// has reason to call it.
func HashWorkID(preimage []byte) WorkID { return WorkID{sha256.Sum256(preimage)} }

// ParseWorkID reads the form that [WorkID.String] writes: 64 lower-case
// hexadecimal digits. It checks the form, not that there is such work.
func ParseWorkID(s string) (WorkID, error) {
	var id WorkID
	if len(s) != hex.EncodedLen(len(id.sum)) {
		return WorkID{}, fmt.Errorf("work ID: want %d hexadecimal digits, got %d characters", hex.EncodedLen(len(id.sum)), len(s))
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return WorkID{}, fmt.Errorf("work ID: want lower-case hexadecimal digits, got %q at position %d", c, i+1)
		}
	}
	if _, err := hex.Decode(id.sum[:], []byte(s)); err != nil {
		return WorkID{}, fmt.Errorf("work ID: %w", err)
	}
	return id, nil
}

// String is the form that the ledger stores: 64 lower-case hexadecimal digits.
func (id WorkID) String() string { return hex.EncodeToString(id.sum[:]) }

// IsZero reports whether id names no work.
func (id WorkID) IsZero() bool { return id == WorkID{} }

// MarshalText writes the form of [WorkID.String], so that a WorkID in JSON or
// in a log is the one that an operator can search for.
func (id WorkID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText wrote, as [ParseWorkID] does.
func (id *WorkID) UnmarshalText(text []byte) error {
	parsed, err := ParseWorkID(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// EffectID names one effect inside one piece of work.
type EffectID struct {
	// Name is the effect's name in the contract.
	Name string
	// Per is the hash of the values that once_per names, in hexadecimal digits,
	// or empty for an effect that happens once per work.
	Per string
}

// effectKey derives the key that a provider dedupes on. The epoch is left out
// while it is zero, so that keys of the first epoch need nothing but the work
// and the effect's name.
func effectKey(id WorkID, name string, per []byte, epoch int) Hash {
	b := make([]byte, 0, 160+len(per))
	b = hex.AppendEncode(b, id.sum[:])
	b = append(b, ':')
	b = append(b, name...)
	if per != nil {
		b = append(b, ':')
		b = append(b, per...)
	}
	if epoch > 0 {
		b = append(b, ":e"...)
		b = strconv.AppendInt(b, int64(epoch), 10)
	}
	return sha256.Sum256(b)
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
