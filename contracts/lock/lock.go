package lock

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idem/contracts"
)

// GoldenKey are the bytes of the key under which golden keys of keyed identities
// are derived. It is in everybody's hands: a real key is of no concern to the file.
const GoldenKey = "idem.lock golden keys: no secret"

// Name is what the file is called. It stands beside the go.mod of its module.
const Name = "idem.lock"

// Format is the version of the file's format that this package reads and writes.
const Format = 1

// File is an idem.lock.
type File struct {
	Path  string // as given to Parse; for messages only
	Kinds []Kind // by name, each once
}

// Kind is a kind of work.
type Kind struct {
	Name string
	// Retired says that no contract has the kind any more. Its versions stay: a
	// kind that comes back meets the work that it did.
	Retired bool
	// Current is the version that the contract has, where it went back from the
	// highest; else zero.
	Current  int
	Versions []Version // ascending, each once; one at least

	line int
}

// Version is what a contract said at one version of its kind.
type Version struct {
	Number int // 1 or more
	// Supersedes is the version before it, if the contract said what becomes of that
	// one's work; else zero, and OldWork is empty.
	Supersedes int
	OldWork    contracts.OldWork
	Identity   Identity
	// Golden is the work ID of a fixed sample input, in hexadecimal digits, under
	// GoldenKey if the identity is keyed; empty
	// if the identity holds a value that only its own code can write, or is too
	// large to be written out.
	Golden  string
	Window  Window
	Effects []Effect // by name, each once

	line int
}

// Window is how long done work is remembered.
type Window struct {
	Forever  bool
	Duration time.Duration // 0 if Forever
	Until    string        // the kind that has to succeed besides; empty: none
}

// String is the window as contracts write it.
func (w Window) String() string {
	if w.Forever {
		return "forever"
	}
	text := contracts.FormatDuration(w.Duration)
	if w.Until != "" {
		text += untilSuccess + w.Until
	}
	return text
}

// untilSuccess stands between the duration of a window and the kind it waits for.
const untilSuccess = " and until success of "

func (w Window) shorterThan(old Window) bool {
	return !w.Forever && (old.Forever || w.Duration < old.Duration || old.Until != "" && w.Until != old.Until)
}

// Body is what the body of a work ID is.
type Body string

// The bodies.
const (
	Key  Body = "key"  // the text of one value
	List Body = "list" // an array of values, the scope first
	Hash Body = "hash" // an object; in an array after the scope if there is one
)

// Identity is the canonical shape of an identity.
type Identity struct {
	Body    Body
	Keyed   bool     // derived under the ledger's key
	Scope   *Part    // nil without a scope, and with the body Key
	Key     []Part   // one with Key, without the scope; none with Hash
	Members []Member // Hash: by path, each once, one at least

	line int
}

// Part is a field that is a value of a key by itself.
type Part struct {
	Field string // path of Go names
	Wire  string // path of names in JSON
	Type  string // how it is encoded
	// Empty is what stands in the key if the field says nothing, or stood there when it
	// could; zero if that always was an error. It is no part of the digest: to allow it, or no longer, changes no key
	// that there was.
	Empty Empty

	line int
}

// Empty is how a part of a key that says nothing is written.
type Empty string

// The ways. A nil pointer is null, and a text without letters is not.
const (
	EmptyItself Empty = "as it is"
	EmptyNull   Empty = "as null"
)

// Member is a value inside an object.
type Member struct {
	Path string // of wire names; [] is an element, [4] one of an array, {} a map's value, ? may be null
	Type string // how it is encoded

	line int
}

// Effect is an effect of a version.
type Effect struct {
	Name   string // in the ledger, and so in its key: the first that it had
	Called string // in the contract, if it was renamed; else empty
	// Removed says that the contract has the effect no more. It stays while its
	// version does: work in flight may have done it.
	Removed bool
	Guard   contracts.Guard
	// KeyFormat is how its key is written; empty if it sends none, or the digits
	// as they are. What was sent in one format is sent in it again, so that a
	// change is nothing to refuse.
	KeyFormat contracts.KeyFormat
	Work      string // the kind that does it as a child, which is in its key; empty if a function does
	OncePer   []Part // in the order of the contract

	line int
}

// parts are all values of a key or list in the order of their bytes; of a hash
// only the scope.
func (id Identity) parts() []Part {
	if id.Scope == nil {
		return id.Key
	}
	return append([]Part{*id.Scope}, id.Key...)
}

// Digest is the SHA-256, in hexadecimal digits, of what decides about the bytes
// of a work ID's body. Equal digests mean equal bytes for equal values.
func (id Identity) Digest() string {
	lines := []string{string(id.Body)}
	if id.Keyed {
		lines = append(lines, "keyed")
	}
	if id.Body == Hash {
		lines = append(lines, "scope") // a scope before an object, or none
	}
	for _, p := range id.parts() {
		lines = append(lines, p.Type)
	}
	if id.Body == Hash {
		lines = append(lines, "object")
	}
	for _, m := range id.Members {
		lines = append(lines, m.Path+": "+m.Type)
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// kind is the entry of a kind, or nil.
func (f *File) kind(name string) *Kind {
	i, ok := slices.BinarySearchFunc(f.Kinds, name, func(k Kind, name string) int { return strings.Compare(k.Name, name) })
	if !ok {
		return nil
	}
	return &f.Kinds[i]
}

// version is the entry of a version, or nil.
func (k *Kind) version(number int) *Version {
	for i := range k.Versions {
		if k.Versions[i].Number == number {
			return &k.Versions[i]
		}
	}
	return nil
}

// effect is the entry of an effect by its name in the ledger, or nil.
func (v *Version) effect(name string) *Effect {
	for i := range v.Effects {
		if v.Effects[i].Name == name {
			return &v.Effects[i]
		}
	}
	return nil
}

// current is the version that the contract had last.
func (k *Kind) current() *Version {
	if v := k.version(k.Current); v != nil {
		return v
	}
	return k.last()
}

// last is the highest version that the kind has had.
func (k *Kind) last() *Version { return &k.Versions[len(k.Versions)-1] }
