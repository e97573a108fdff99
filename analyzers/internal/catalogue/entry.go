package catalogue

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is what an entry says of a name.
type Kind string

// The kinds of entries.
const (
	Source    Kind = "source"    // what it returns is new on every call, or comes from outside
	Flow      Kind = "flow"      // its arguments reach its results
	Sanitizer Kind = "sanitizer" // its result is stable whatever goes in
	Key       Kind = "key"       // a field or parameter that deduplicates on the other side
	Effect    Kind = "effect"    // acts outside the process
	Model     Kind = "model"     // asks a language model
	Retry     Kind = "retry"     // calls what it is given until it succeeds
	Memory    Kind = "memory"    // keeps what it is given in the memory of the process
	EntryKind Kind = "entry"     // registers a function that work comes in through
)

// Kinds are all of them, in the order of the documentation.
func Kinds() []Kind {
	return []Kind{Source, Flow, Sanitizer, Key, Effect, Model, Retry, Memory, EntryKind}
}

// Volatile says why a value differs between two attempts at the same work.
type Volatile string

// The reasons.
const (
	Random   Volatile = "random"   // a random number or identifier
	Clock    Volatile = "clock"    // the time of the call
	Counter  Volatile = "counter"  // counts calls, or differs by process
	Process  Volatile = "process"  // a process ID, a host name
	Pointer  Volatile = "pointer"  // an address
	Request  Volatile = "request"  // a request, trace or span ID: new for each delivery
	Received Volatile = "received" // when something was received or updated
	Inbound  Volatile = "inbound"  // not volatile: what the caller sent, such as its key
)

func volatiles() []string {
	return []string{string(Random), string(Clock), string(Counter), string(Process), string(Pointer), string(Request), string(Received), string(Inbound)}
}

// New tells whether a value is made anew by each attempt of the same process at
// the same work, as opposed to coming in with its delivery.
func (v Volatile) New() bool {
	switch v {
	case Random, Clock, Counter, Process, Pointer:
		return true
	}
	return false
}

// Class is what an effect costs when it happens twice.
type Class string

// The classes, most expensive first.
const (
	Money      Class = "money"
	Message    Class = "message" // somebody reads it
	Queue      Class = "queue"   // another program acts on it
	ThirdParty Class = "third party"
	State      Class = "state" // a database that others share
	Internal   Class = "internal"
)

// Classes are all of them, most expensive first.
func Classes() []Class { return []Class{Money, Message, Queue, ThirdParty, State, Internal} }

// Outward tells whether the effect is seen by others at once, so that no
// transaction of this program's can take it back.
func (c Class) Outward() bool { return c != State && c != Internal && c != "" }

// Place is where a value enters or leaves a function: a parameter (0 and up), the
// receiver or a result.
type Place int

// Recv is the receiver.
const Recv Place = -1

// Result is the place of a result.
func Result(i int) Place { return Place(-2 - i) }

// IsResult tells which result the place is, if it is one.
func (p Place) IsResult() (int, bool) { return int(-2 - p), p <= -2 }

func (p Place) String() string {
	if i, ok := p.IsResult(); ok {
		return "result" + strconv.Itoa(i)
	}
	if p == Recv {
		return "recv"
	}
	return strconv.Itoa(int(p))
}

func parsePlace(s string) (Place, error) {
	if s == "recv" {
		return Recv, nil
	}
	if rest, ok := strings.CutPrefix(s, "result"); ok {
		if rest == "" {
			return Result(0), nil
		}
		if n, err := strconv.Atoi(rest); err == nil && n >= 0 {
			return Result(n), nil
		}
	} else if n, err := strconv.Atoi(s); err == nil && n >= 0 {
		return Place(n), nil
	}
	return 0, fmt.Errorf("want a place: recv, a parameter's number (from 0), result or result1; got %q", s)
}

// Entry says one thing of one name. Which fields are set depends on the kind.
type Entry struct {
	Kind    Kind
	Package string // pattern of the import path
	Name    string // "Func", "Type.Method" or "Type.Field"
	Reason  string
	When    []Condition
	Pos     string // file:line, for errors

	Volatile Volatile // source
	From     []Place  // flow; empty: receiver and all parameters
	To       []Place  // source and flow; empty: the first result
	Hash     bool     // flow: what goes in is hashed
	Encodes  bool     // flow: what goes in is encoded with all its exported fields
	At       *Place   // key, retry and entry: the parameter; nil: the name is a field, or the entry pulls
	Pairs    bool     // key: names and values take turns from there on
	Task     bool     // key: the ID of a task or workflow, which its starter may choose freely
	Class    Class    // effect
	Safe     bool     // effect: a second call is harmless (repeat: safe)
	Itself   bool     // retry: the call itself is what is done again
	Clients  bool     // retry: has requests of the package's clients be sent again; a field: unless it is 0
	Endless  bool     // retry: repeats without a limit unless told otherwise
	Means    string   // entry: http, queue, schedule, bot or call
	Pulls    bool     // entry: who calls it takes in work itself
	Does     string   // Memory: check, mark, claim or release
}

// Of tells whether the entry speaks of the package at an import path.
func (e *Entry) Of(path string) bool { return covers(e.Package, path) }

// Targets are the places that a source or a flow reaches.
func (e *Entry) Targets() []Place {
	if len(e.To) == 0 {
		return []Place{Result(0)}
	}
	return e.To
}

// Text names the entry in messages, as code would: pkg is the package's name.
func (e *Entry) Text(pkg string) string {
	if pkg == "" {
		return e.Name
	}
	return pkg + "." + e.Name
}

// id is what must be unique.
func (e *Entry) id() string {
	id := string(e.Kind) + " " + e.Package + "." + e.Name
	if e.At != nil {
		id += "@" + e.At.String()
	}
	for _, p := range e.Targets() {
		id += ">" + p.String()
	}
	for _, c := range e.When {
		id += " when " + c.String()
	}
	return id
}
