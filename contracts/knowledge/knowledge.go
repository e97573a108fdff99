package knowledge

import (
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Source is a public page, and the day (2006-01-02) on which its text was
// read for the row. Without a day it is the place to look things up; no
// figure rests on it alone.
type Source struct {
	URL  string
	Read string
}

// Answer is what a source says to a yes-or-no question. The zero Answer is
// "not stated".
type Answer uint8

// The answers.
const (
	NotStated Answer = iota
	Yes
	No
)

// String is "yes", "no" or "not stated".
func (a Answer) String() string {
	switch a {
	case Yes:
		return "yes"
	case No:
		return "no"
	}
	return "not stated"
}

// Delivery is what brings work to a handler, and brings it again.
type Delivery struct {
	Name  string // as in `delivered_by: NAME`
	Title string // as its makers write it
	What  string // what it delivers, in a few words

	// Horizon is for how long after the first attempt the same message may
	// still come by itself: an upper bound. Not stated: the contract must say
	// redelivers_for.
	Horizon Span

	// Keeps is for how long it brings a message by itself that was not
	// acknowledged: a lower bound over what the row covers, with its defaults.
	// No time at all: never by itself. Not stated: nobody may leave the input
	// of unfinished work to it.
	Keeps Span

	// ByDesign tells that the horizon is this project's decision, because
	// what brings the work again is a person or a clock, which nobody bounds.
	ByDesign bool

	// AckWithin is how soon the system wants its answer, by default. Not
	// stated: no check is possible.
	AckWithin Span

	Schedule     string // how often it comes again, in words
	Acknowledged string // what counts as received

	// AgainAfterSuccess tells whether the source says that a message that was
	// acknowledged may come again all the same.
	AgainAfterSuccess Answer

	Notes   string // settings that change the row, and how sure it is; may be empty
	Sources []Source
}

// Moves is what a call at a provider changes in the world. A repeated call
// changes it twice.
type Moves uint8

// What can be moved; combine with |.
const (
	Money Moves = 1 << iota // charges, refunds, transfers, cheques
	Inbox                   // what a person receives: mail, messages, letters
	State                   // records and resources
)

// Has tells whether all of what is in m.
func (m Moves) Has(what Moves) bool { return what != 0 && m&what == what }

// String is "money", "inbox, state" and so on.
func (m Moves) String() string {
	var words []string
	for _, w := range []struct {
		what Moves
		word string
	}{{Money, "money"}, {Inbox, "inbox"}, {State, "state"}} {
		if m.Has(w.what) {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, ", ")
}

// Guard is a guard of the contract language, by its word there.
type Guard string

// The guards that a row recommends.
const (
	IdempotencyKey Guard = "idempotency_key"
	Upsert         Guard = "upsert"
	FindFirst      Guard = "find_first"
	Once           Guard = "once"
	Repeatable     Guard = "repeatable"
	Read           Guard = "read"
)

// Place is where in a call the key travels. The zero Place means that no key
// is documented.
type Place uint8

// The places.
const (
	Nowhere Place = iota
	InHeader
	InField     // of the body, or an argument
	InDirective // of a GraphQL operation
)

// String is "header", "field", "directive" or "none".
func (p Place) String() string {
	switch p {
	case InHeader:
		return "header"
	case InField:
		return "field"
	case InDirective:
		return "directive"
	}
	return "none"
}

// KeyFormat is a key_format of the contract language: "hex", "uuid" or
// "base62:N".
type KeyFormat string

// Length is the number of characters of a key in the format, and false for
// what is no format.
func (f KeyFormat) Length() (int, bool) {
	switch f {
	case "hex":
		return 64, true
	case "uuid":
		return 36, true
	}
	n, ok := strings.CutPrefix(string(f), "base62:")
	if !ok {
		return 0, false
	}
	length, err := strconv.Atoi(n)
	return length, err == nil && length > 0
}

// Replays is what a provider answers, under a key that it knows, when the
// first call failed. It decides whether a new key_epoch is needed once it is
// known that nothing was applied: with the old key a stored failure would be
// answered for ever.
type Replays uint8

// What may be replayed. The zero Replays is "not stated": treat it as
// ErrorsReplayed where a stuck failure is worse, and never as leave to send a
// new key while the outcome is unknown.
const (
	ReplaysNotStated Replays = iota
	ErrorsReplayed           // the stored answer, errors of the server included
	ErrorsNotStored          // only a success is stored; a failed call runs again
)

// String is "replayed", "not stored" or "not stated".
func (r Replays) String() string {
	switch r {
	case ErrorsReplayed:
		return "replayed"
	case ErrorsNotStored:
		return "not stored"
	}
	return "not stated"
}

// Key is how a provider recognises a repeated call. The zero Key: it does not.
type Key struct {
	Place  Place
	Name   string    // of the header, field or directive
	Format KeyFormat // the key_format that fits

	MinLength int    // in characters; 0: not stated
	MaxLength int    // in characters; 0: not stated
	Charset   string // in words; empty: not stated

	// Remembered is for how long a repeated call is recognised, from the
	// first one on: a lower bound over all endpoints. Not stated: the
	// contract must say remembers_for.
	Remembered Span

	Errors Replays
}

// Provider is a system at which handlers have effects.
type Provider struct {
	Name  string // as in `provider: NAME`
	Title string // as its makers write it
	What  string // what one does there, in a few words
	Moves Moves  // never empty

	Key Key

	Unique    string // fields that the provider keeps unique and the caller sets; empty: none known
	Search    string // by what one can look for an earlier call; empty: none known
	SearchLag Span   // until what was created is found

	Guard Guard // what to use when nothing else is known

	Notes   string // may be empty
	Sources []Source
}

// MovesMoney tells whether a repeated call could pay twice. The language
// refuses `if_unknown: give_up` there.
func (p Provider) MovesMoney() bool { return p.Moves.Has(Money) }

// HasKey tells whether the provider documents a key.
func (p Provider) HasKey() bool { return p.Key.Place != Nowhere }

// Deliveries returns all delivery systems in the order of their names.
func Deliveries() []Delivery {
	rows := deliveries()
	sort.Slice(rows, func(i, j int) bool { return rows[i].Name < rows[j].Name })
	return rows
}

// DeliveryNamed returns the row of the name.
func DeliveryNamed(name string) (Delivery, bool) {
	for _, d := range deliveries() {
		if d.Name == name {
			return d, true
		}
	}
	return Delivery{}, false
}

// DeliveryNames returns the names of all delivery systems in order.
func DeliveryNames() []string {
	var names []string
	for _, d := range deliveries() {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	return names
}

// Providers returns all providers in the order of their names.
func Providers() []Provider {
	rows := providers()
	sort.Slice(rows, func(i, j int) bool { return rows[i].Name < rows[j].Name })
	return rows
}

// ProviderNamed returns the row of the name.
func ProviderNamed(name string) (Provider, bool) {
	for _, p := range providers() {
		if p.Name == name {
			return p, true
		}
	}
	return Provider{}, false
}

// ProviderNames returns the names of all providers in order.
func ProviderNames() []string {
	var names []string
	for _, p := range providers() {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

// providers is one table in three files, by what a repeat would hurt most.
func providers() []Provider {
	return slices.Concat(payments(), messages(), records())
}

// firstRead is the day on which the tables were compiled. A row that is read
// again later writes its Source out with its own day.
const firstRead = "2026-11-29"

// read is pages whose text was read for the row.
func read(urls ...string) []Source {
	sources := make([]Source, 0, len(urls))
	for _, u := range urls {
		sources = append(sources, Source{URL: u, Read: firstRead})
	}
	return sources
}

// see is the place to look things up, for a row that claims no figure by it.
func see(urls ...string) []Source {
	sources := make([]Source, 0, len(urls))
	for _, u := range urls {
		sources = append(sources, Source{URL: u})
	}
	return sources
}
