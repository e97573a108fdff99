package audit

import (
	"fmt"
	"slices"
)

// Version is of the report as JSON. It is raised when a field changes its meaning
// or goes away; new fields may come without.
const Version = 1

// Cost is what a duplicate of an effect costs.
type Cost string

// The costs, highest first.
const (
	Money    Cost = "money"    // it is paid twice
	Inbox    Cost = "inbox"    // somebody reads it twice
	External Cost = "external" // another system holds it twice
	Internal Cost = "internal" // the program's own database does
	None     Cost = "none"     // nothing was seen that happens twice
)

// Costs are all of them, highest first.
func Costs() []Cost { return []Cost{Money, Inbox, External, Internal, None} }

func (c Cost) rank() int { return slices.Index(Costs(), c) }

// AtLeast tells whether a cost is as high as another.
func (c Cost) AtLeast(other Cost) bool { return c.rank() <= other.rank() }

// Text is how reports name the cost.
func (c Cost) Text() string {
	switch c {
	case External:
		return "external state"
	case None:
		return "no effect seen"
	}
	return string(c)
}

// Position is a place in a file, named from the folder that was audited if it is
// below it.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column,omitempty"`
}

func (p Position) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Report is an audit.
type Report struct {
	Version  int       `json:"version"`
	Module   string    `json:"module"`
	Packages int       `json:"packages"`
	Entries  []Entry   `json:"entries"`            // by cost, those without guard first
	Quiet    []Quiet   `json:"quiet,omitempty"`    // entry points in which no effect was seen
	Outside  []Finding `json:"outside,omitempty"`  // findings in code that no entry point reaches
	Notes    []Finding `json:"notes,omitempty"`    // what could not be looked at
	Problems string    `json:"problems,omitempty"` // packages that could not be looked at
}

// Entry is a place where work comes in.
type Entry struct {
	Kind     string       `json:"kind"`            // contract, http, rpc, queue, schedule, bot, lambda, command, program, call
	Name     string       `json:"name"`            // what people call it: its route, kind or function
	Func     string       `json:"func"`            // the function
	Pos      Position     `json:"pos"`             // of the function
	At       *Position    `json:"at,omitempty"`    // where it is registered
	Found    string       `json:"found"`           // how it was found
	Cost     Cost         `json:"cost"`            // the highest of its effects
	Open     Cost         `json:"open"`            // the highest of those without guard
	Effects  []Effect     `json:"effects"`         // 1 and 4
	Harmless int          `json:"harmless"`        // effects that a second call does not change
	Runs     []Runs       `json:"runs,omitempty"`  // contracts that it hands work to
	Identity Identity     `json:"identity"`        // 2
	Model    *Model       `json:"model,omitempty"` // 3; none: no model call was seen
	Failure  Failure      `json:"failure"`         // 5
	Replay   Answer       `json:"replay"`          // 6
	Findings []Finding    `json:"findings,omitempty"`
	Unknown  int          `json:"unknown,omitempty"` // calls through values of functions, not followed
	reach    map[int]bool // indices of functions
}

// Answer is a text with what it goes by.
type Answer struct {
	Verdict string    `json:"verdict"` // yes, no, partly, not seen
	Text    string    `json:"text"`
	Pos     *Position `json:"pos,omitempty"`
}

// The verdicts.
const (
	Yes     = "yes"
	No      = "no"
	Partly  = "partly"
	NotSeen = "not seen"
)

// Effect is something that happens twice if the entry runs twice.
type Effect struct {
	Cost  Cost     `json:"cost"`
	Class string   `json:"class"` // of the catalogue
	Name  string   `json:"name"`  // the call
	Pos   Position `json:"pos"`
	Way   []Step   `json:"way"`            // from the entry to the call
	Guard Guard    `json:"guard"`          // 4
	Each  string   `json:"each,omitempty"` // once for each of these
	Note  string   `json:"note,omitempty"` // what is not sure of it
	Also  []int    `json:"also,omitempty"` // lines of the same call in the same function
}

// Step is a call on the way to an effect.
type Step struct {
	Name string   `json:"name"`
	Pos  Position `json:"pos"`
}

// The guards, strongest first.
const (
	GuardLedger  = "ledger"      // a contract
	GuardNative  = "native key"  // the other side dedupes by a key that it is sent
	GuardNatural = "natural key" // a create that is an upsert, or a unique index that is handled
	GuardClaim   = "claim"       // a claim in a store comes first
	GuardSearch  = "search"      // a lookup comes first: two at once both find nothing
	GuardMemory  = "memory"      // the lookup is in the memory of the process
	GuardBroken  = "broken key"  // a key that is new on every attempt
	GuardNone    = "none"        // nothing was seen
)

// Guard is what makes a second call harmless, or less likely.
type Guard struct {
	Kind string    `json:"kind"`
	Text string    `json:"text"`
	Pos  *Position `json:"pos,omitempty"`

	check string // what is asked, and by which value, in which function
	by    string
	f     int
}

// holds tells whether the guard keeps a duplicate from happening when two runs do
// not overlap.
func (g Guard) holds() bool {
	return g.Kind != GuardNone && g.Kind != GuardBroken && g.Kind != GuardMemory
}

// Identity is what tells that two runs are of the same work.
type Identity struct {
	Verdict string   `json:"verdict"` // stable, partly, new on every attempt, none seen
	Sources []Source `json:"sources,omitempty"`
}

// Source is one thing that work is told by.
type Source struct {
	Kind string   `json:"kind"` // contract, claim, native key, natural key, search, status, task
	Text string   `json:"text"`
	From string   `json:"from"` // where its value comes from
	Pos  Position `json:"pos"`
	New  bool     `json:"new,omitempty"` // it is different on every attempt
}

// Model says what a crash after a model's answer does.
type Model struct {
	Verdict string    `json:"verdict"` // yes: it is asked again
	Text    string    `json:"text"`
	Call    Position  `json:"call"`
	Name    string    `json:"name"`
	Write   *Position `json:"write,omitempty"`  // a write between it and the effect
	Effect  *Position `json:"effect,omitempty"` // the first effect after it
}

// Failure says where work goes when it has failed for good, and who sees it.
type Failure struct {
	Goes Answer `json:"goes"`
	Sees Answer `json:"sees"`
}

// Runs is a contract that an entry hands work to.
type Runs struct {
	Contract string   `json:"contract"`
	Pos      Position `json:"pos"`
}

// Finding is a finding of a rule, or of the audit alone.
type Finding struct {
	Rule    string   `json:"rule"` // audit: no rule's
	Pos     Position `json:"pos"`
	Message string   `json:"message"`
	URL     string   `json:"url,omitempty"`
}

// Quiet is an entry point without effects.
type Quiet struct {
	Kind string   `json:"kind"`
	Name string   `json:"name"`
	Pos  Position `json:"pos"`
}
