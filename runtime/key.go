package idem

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
)

// MinKey is how many bytes a [Key] has at least: as many as a SHA-256.
const MinKey = sha256.Size

// Key is the secret under which a ledger derives the IDs of keyed contracts
// (identity.keyed), so that nobody without it can find out by guessing whose work
// an ID names. Make one with [NewKey] and hand it to [NewLedger] with [WithKey].
//
// A Key never shows its bytes: not with fmt, whatever the verb, nor in JSON or
// slog. The zero Key is no key.
type Key struct{ ref *keyRef }

// keyRef keeps the pads two pointers away. Package fmt does not ask the methods of
// a field that is not exported, and follows one pointer for a verb that does not
// fit.
type keyRef struct{ pads *keyPads }

// keyPads are the first blocks of the two hashes of an HMAC.
type keyPads struct{ inner, outer [sha256.BlockSize]byte }

// NewKey makes a key of secret bytes, which it copies: [MinKey] or more, random,
// kept with the program's other secrets and never changed. Work that was done
// under another key is not recognised.
//
// The bytes are taken as they are. A key that is kept as hexadecimal digits may be
// decoded or not, as long as every program on the ledger does the same.
func NewKey(secret []byte) (Key, error) {
	switch {
	case len(secret) < MinKey:
		return Key{}, fmt.Errorf("key: want %d random bytes or more, got %d: %w", MinKey, len(secret), ErrKey)
	case !slices.ContainsFunc(secret, func(b byte) bool { return b != secret[0] }):
		return Key{}, fmt.Errorf("key: all %d bytes are the same, was it never filled in? %w", len(secret), ErrKey)
	}
	if len(secret) > sha256.BlockSize { // RFC 2104, section 2
		sum := sha256.Sum256(secret)
		secret = sum[:]
	}
	pads := &keyPads{}
	copy(pads.inner[:], secret)
	pads.outer = pads.inner
	for i := range pads.inner {
		pads.inner[i] ^= 0x36
		pads.outer[i] ^= 0x5c
	}
	return Key{&keyRef{pads}}, nil
}

// IsZero reports whether k is no key.
func (k Key) IsZero() bool { return k.ref == nil }

// hmac is the HMAC-SHA-256 of message (RFC 2104). It is written out because the
// hashes of the standard library take what they are given through an interface,
// so that the text of every derivation would move to the heap.
func (k Key) hmac(message []byte) Hash {
	pads := k.ref.pads
	var buf [sha256.BlockSize + 256]byte // as much text as derivations have on their stacks
	inner := sha256.Sum256(append(append(buf[:0], pads.inner[:]...), message...))
	return sha256.Sum256(append(append(buf[:0], pads.outer[:]...), inner[:]...))
}

const hiddenKey = "idem.Key(hidden)"

// String tells that there is a key and nothing of it.
func (k Key) String() string {
	if k.IsZero() {
		return "idem.Key(none)"
	}
	return hiddenKey
}

// Format writes [Key.String], whatever the verb.
func (k Key) Format(f fmt.State, _ rune) {
	// An error of the writer is fmt's to see.
	_, _ = f.Write([]byte(k.String()))
}

// LogValue is [Key.String] for package slog.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// WithKey sets the key under which the IDs of keyed contracts are derived. The
// ledger remembers a check value of the first key that it is used with, never the
// key itself, and refuses every other one with [ErrKey]: under another key all
// work would be new. Contracts that are not keyed do not need it.
func WithKey(key Key) Option { return func(c *core) { c.keys.key = key } }

// HashKeyedWorkID is the last step of a generated derivation of a keyed identity:
// [HashWorkID] with HMAC-SHA-256 in place of SHA-256. The zero WorkID without a
// key. Only generated code has reason to call it.
func HashKeyedWorkID(key Key, preimage []byte) WorkID {
	if key.IsZero() {
		return WorkID{}
	}
	return WorkID{key.hmac(preimage)}
}

// KeyedID binds a generated derivation to the ledger's key. Only generated code
// has reason to call it.
func KeyedID[Tx, In any](l *Ledger[Tx], derive func(Key, In) (WorkID, error)) func(In) (WorkID, error) {
	key := l.keys.key
	return func(in In) (WorkID, error) {
		if key.IsZero() {
			return WorkID{}, &Error{Reason: ErrKey, Cause: errNoKey}
		}
		return derive(key, in)
	}
}

// The two ways in which a key does not fit, and what to do.
var (
	errNoKey    = errors.New("the identity is keyed, and the ledger was made without a key; make one with idem.NewKey and pass idem.WithKey to idem.NewLedger")
	errOtherKey = errors.New("the ledger's keyed work was derived under another key, and under this one all of it would be done again; start the program with the first key (docs/contract.md tells how to change it)")
)

// keyCheckText is what check values are made of. No preimage of work is like it:
// those have a colon and a version after their kind.
const keyCheckText = "idem key check"

// ledgerKey is the key of a ledger, and what is known of it.
type ledgerKey struct {
	key   Key
	used  atomic.Bool // a contract is keyed
	known atomic.Int32
}

// What the ledger has said about a key. Until it has said something it is asked
// again.
const (
	_ int32 = iota
	keyRight
	keyWrong
)

// checkKey makes sure, once, that this process derives under the key that the
// ledger was first used with. It comes before anything is claimed.
func (c *core) checkKey(ctx context.Context) (reason, cause error) {
	switch {
	case c.keys.known.Load() == keyRight:
		return nil, nil
	case c.keys.key.IsZero():
		return ErrKey, errNoKey
	}
	mine := c.keys.key.hmac([]byte(keyCheckText))
	var known Hash
	err := patiently(ctx, func(ctx context.Context) (err error) {
		known, err = c.store.KeyCheck(ctx, mine)
		return err
	})
	switch {
	case err != nil:
		return ErrLedger, err
	case subtle.ConstantTimeCompare(known[:], mine[:]) == 0:
		c.keys.known.Store(keyWrong)
		return ErrKey, errOtherKey
	}
	c.keys.known.Store(keyRight)
	return nil, nil
}
