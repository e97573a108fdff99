package idem

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"slices"
	"strings"
)

// EncryptionKey is a key with a name.
type EncryptionKey struct {
	// ID is stored with every value that the key has encrypted: letters, digits and
	// any of ._-, at most 64. It never names another key.
	ID  string
	Key Key
}

// NewEncryption makes the codec that encrypts values with AES-256-GCM: with the
// current key what is written from now on, and what is read with whichever of the
// keys has encrypted it. To change the key, make the new one current and keep the
// old ones among the former as long as there are values of theirs: rows say so in
// their codec. Let all programs on the ledger know a new key before one writes with
// it.
//
// A value can be read where it was written and nowhere else: at the same [Slot].
// Each piece of work has a key of its own, derived from the one that is given, so
// that the number of values is not limited. Payloads are compared by an HMAC.
//
// Under the current key all is new to the comparison of payloads: what began under
// another one is not compared with what comes now.
func NewEncryption(current EncryptionKey, former ...EncryptionKey) (Codec, error) {
	e := &encryption{current: current.ID, keys: make(map[string]Key, 1+len(former))}
	for _, k := range append([]EncryptionKey{current}, former...) {
		_, twice := e.keys[k.ID]
		switch {
		case k.ID == "" || !codecVariant.MatchString(k.ID):
			return nil, fmt.Errorf("encryption: a key has an ID of letters, digits, and any of ._-, at most 64, and not %q: %w", k.ID, ErrKey)
		case k.Key.IsZero():
			return nil, fmt.Errorf("encryption: the key %s is none, make it with idem.NewKey: %w", k.ID, ErrKey)
		case twice:
			return nil, fmt.Errorf("encryption: there are two keys %s, and a value could not say which has encrypted it: %w", k.ID, ErrKey)
		}
		e.keys[k.ID] = k.Key
	}
	return e, nil
}

type encryption struct {
	current string
	keys    map[string]Key
}

var _ PayloadHasher = (*encryption)(nil)

// What is derived from a key, for what: no two texts begin alike, and none like the
// text of a work ID.
const (
	forValues   = "idem encryption of values\n"
	forPayloads = "idem hash of a payload\n"
)

func (*encryption) Name() string { return "aesgcm" }

func (e *encryption) Encode(value []byte, at Slot) ([]byte, string, error) {
	aead, err := aeadOf(e.keys[e.current], at.Work)
	if err != nil {
		return nil, "", err
	}
	return aead.Seal(nil, nil, value, at.Append(nil)), e.current, nil
}

func (e *encryption) Decode(stored []byte, variant string, at Slot) ([]byte, error) {
	key, known := e.keys[variant]
	if !known {
		return nil, &UnknownKeyError{ID: variant, known: e.ids()}
	}
	aead, err := aeadOf(key, at.Work)
	if err != nil {
		return nil, err
	}
	value, err := aead.Open(nil, nil, stored, at.Append(nil))
	if err != nil {
		return nil, fmt.Errorf("%w: it is not what the key %s has encrypted for this place", ErrTampered, variant)
	}
	return value, nil
}

// aeadOf is the cipher of one piece of work. It has a key of its own, so that random
// nonces do not meet.
func aeadOf(key Key, id WorkID) (cipher.AEAD, error) {
	own := key.hmac(append([]byte(forValues), id.sum[:]...))
	block, err := aes.NewCipher(own[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func (e *encryption) HashPayload(canonical []byte) (Hash, string) {
	return e.keys[e.current].hmac(append([]byte(forPayloads), canonical...)), e.current
}

func (e *encryption) ids() []string {
	var ids []string
	for id := range e.keys {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// UnknownKeyError is why a value cannot be read: the program does not have the key.
// It matches [ErrKey].
type UnknownKeyError struct {
	// ID is that of the key that has encrypted the value.
	ID    string
	known []string
}

func (e *UnknownKeyError) Error() string {
	return fmt.Sprintf("it was encrypted with the key %q, and the program has %s: pass it to idem.NewEncryption, behind the current one", e.ID, strings.Join(e.known, ", "))
}

// Is makes the error match ErrKey.
func (*UnknownKeyError) Is(target error) bool { return target == ErrKey }
