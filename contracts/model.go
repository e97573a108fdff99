package contracts

import (
	"go/token"
	"math"
	"strconv"
	"strings"
	"time"
)

// Values that hold when an optional answer is absent. They are stated here and
// nowhere else; no zero in a parsed contract means "for ever" or "no limit".
const (
	DefaultMaxAttempts       = 5
	DefaultBackoffInitial    = time.Second
	DefaultBackoffMax        = 5 * time.Minute
	DefaultBackoffMultiplier = 2.0
	DefaultLease             = 2 * time.Minute
	DefaultTimeout           = 10 * time.Minute
	DefaultHeader            = "Idempotency-Key"
)

// Pos is a place in a contract file: Width bytes of one line.
//
// Line and Column are 1-based. Columns and widths count bytes, as those of the
// Go tools do, so that a contract position and a Go position printed together
// count alike; a byte order mark at the start of the file is not counted. The
// zero Pos means "the file as a whole".
type Pos struct {
	Line, Column, Width int
}

// IsValid tells whether p names a place.
func (p Pos) IsValid() bool { return p.Line > 0 }

// Value is an answer and the place where it stands. If the answer is absent
// from the file, Set is false, V holds the documented default and Pos is that
// of the nearest enclosing key, so that a message always has a place.
type Value[T any] struct {
	V   T
	Pos Pos
	Set bool
}

// Contract says what one kind of work is, how long it is remembered and what a
// duplicate gets.
type Contract struct {
	Kind       Value[string] // ^[a-z][a-z0-9_]{0,62}$
	Version    Value[int]    // 1 to 2147483647
	Supersedes Supersedes    // not Set: nothing is said about an earlier version
	Statement  Value[string]
	Handler    Value[string] // see ParseHandler for its parts
	Delivery   Delivery      // what brings the work; not Set if the contract does not say
	Identity   Identity
	Latest     Latest // not Set: works have no order
	Window     Window
	Response   Response
	Retry      Retry
	Payload    Value[Payload]       // default keep
	Redact     []Value[string]      // field paths of the input that the ledger must not store; none is a part of another
	Release    Value[string]        // not Set: what the ledger was told
	Lease      Value[time.Duration] // 1s to 24h; default 2m
	Timeout    Value[time.Duration] // 1s or more; default 10m; may be longer or shorter than the lease
	Effects    []*Effect            // in the order of the file
	Removed    []Removed            // effects that work in flight may have done; in the order of the file
}

// Effect returns the effect of that name, or nil.
func (c *Contract) Effect(name string) *Effect {
	for _, e := range c.Effects {
		if e.Name.V == name {
			return e
		}
	}
	return nil
}

// EffectByMethod returns the effect that the method of the effects interface
// stands for, or nil.
func (c *Contract) EffectByMethod(method string) *Effect {
	for _, e := range c.Effects {
		if e.Method() == method {
			return e
		}
	}
	return nil
}

// RetrySchedule is the longest time between the first moment at which an
// attempt can act and the last one, as far as the contract bounds it:
//
//	max_attempts × timeout + (max_attempts − 1) × lease + the longest backoffs
//
// Each attempt may act until its timeout. If its process dies just before, the
// lease has to end before the next attempt starts. The backoff before attempt
// n+1 is at most min(max, initial × multiplier^(n−1)): full jitter only
// shortens it. The sum is clamped at the largest time.Duration.
func (c *Contract) RetrySchedule() time.Duration {
	n := c.Retry.MaxAttempts.V
	if n < 1 {
		return 0
	}
	sum := float64(n)*float64(c.Timeout.V) + float64(n-1)*float64(c.Lease.V)
	backoff := float64(c.Retry.Backoff.Initial.V)
	limit := float64(c.Retry.Backoff.Max.V)
	for range n - 1 {
		sum += min(backoff, limit)
		backoff = min(backoff*c.Retry.Backoff.Multiplier.V, limit)
	}
	if sum >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(sum)
}

// Delivery is what brings the work, and brings it again.
type Delivery struct {
	Pos    Pos // of the value of delivered_by, or of the kind if it is absent
	Set    bool
	System Value[string] // a row of package knowledge; not Set if the figures are written out

	// RedeliversFor is for how long after the first delivery the same message may
	// come again; positive. Set if the contract says so itself.
	RedeliversFor Value[time.Duration]
	// AckWithin is how soon the system wants its answer; zero if that is not known.
	AckWithin Value[time.Duration]
	// Keeps is for how long it brings unfinished work again by itself, at the
	// least; zero if it never does or if that is not known.
	Keeps time.Duration
	// ByDesign says that a person or a clock brings the work, which nobody bounds.
	ByDesign bool
}

// Payload is what becomes of the input in the ledger.
type Payload string

// The answers of payload.
const (
	KeepPayload Payload = "keep" // while the work may be tried again
	NoPayload   Payload = "none" // only its hash: the source delivers it again
)

// Strategy is how the identity of work is found.
type Strategy string

// The strategies. The zero Strategy stands in a contract that has errors.
const (
	ByKey       Strategy = "key"        // a business key: one field or a list of fields
	ByHash      Strategy = "hash"       // the content: chosen fields, or all but some
	ByCallerKey Strategy = "caller_key" // a key that the caller chooses: one field
)

// Identity says which two inputs are the same work.
type Identity struct {
	Pos      Pos // of the key "identity", or of the kind if it is missing
	Set      bool
	Strategy Strategy

	Key     []Value[string] // ByKey: field paths of the input, one or more; ByCallerKey: one
	KeyList bool            // ByKey: written as a list; a list of one is still a list
	KeyPos  Pos             // of the value of key, hash or caller_key

	// ByHash: at most one of the two is not empty; both empty means every
	// exported field.
	Fields []Value[string]
	Except []Value[string]

	Scope     Value[string] // field path; not Set if the contract has no scope
	Normalize []Normalize   // in the order of the file, one per field

	Keyed Value[bool] // derived under the ledger's key; default false

	AllowEmpty    []Value[string] // some parts of a list key, never all
	AllowVolatile []Excuse        // in the order of the file, one per field
}

// MayBeEmpty tells whether the part of a list key may say nothing.
func (id *Identity) MayBeEmpty(part string) bool { return setOf(id.AllowEmpty)[part] }

// Excuse says why a field that looks as if it differed between deliveries of
// the same work does not.
type Excuse struct {
	Field Value[string] // field path
	Why   Value[string]
}

// Normalize is the list of normalisers of one field, applied in order.
type Normalize struct {
	Field Value[string]
	Steps []Value[Normalizer]
}

// Normalizer is one step.
type Normalizer struct {
	Name   NormalizerName
	Digits int             // MinorUnits: 0 to 18
	Params []Value[string] // DropParams: names, one or more
}

// ParamNames are the names of Params.
func (n Normalizer) ParamNames() []string {
	var names []string
	for _, p := range n.Params {
		names = append(names, p.V)
	}
	return names
}

// NormalizerName is the name of a normaliser in the contract language.
type NormalizerName string

// The normalisers. A precision stands alone in its list, DropParams right behind
// URL, and MinorUnits last.
const (
	Exact         NormalizerName = "exact"
	Trim          NormalizerName = "trim"
	Lower         NormalizerName = "lower"
	CollapseSpace NormalizerName = "collapse_space"
	Digits        NormalizerName = "digits"
	Email         NormalizerName = "email"
	URL           NormalizerName = "url"
	DropParams    NormalizerName = "drop_params"
	Second        NormalizerName = "second"
	Millisecond   NormalizerName = "millisecond"
	Microsecond   NormalizerName = "microsecond"
	Nanosecond    NormalizerName = "nanosecond"
	MinorUnits    NormalizerName = "minor_units"
)

// IsPrecision tells whether the normaliser declares the precision of a time.
func (n NormalizerName) IsPrecision() bool {
	switch n {
	case Second, Millisecond, Microsecond, Nanosecond:
		return true
	}
	return false
}

// Latest says of which works only the newest counts.
type Latest struct {
	Pos Pos // of the key "latest", or of the kind if it is absent
	Set bool
	Of  []Value[string] // field paths of what the works are about; one or more
	By  Value[string]   // field path of what grows from one to the next; not in Of
}

// Window is how long done work is remembered, counted from its completion:
// either Forever or a positive Duration.
type Window struct {
	Pos      Pos // of the value or of its at_least, or of the kind if it is missing
	Set      bool
	Forever  bool
	Duration time.Duration // 0 if Forever, else up to MaxDuration
	// Until is the kind that has to succeed besides; not Set: time alone counts.
	Until Value[string]
}

// WhenDone is what a duplicate of done work gets.
type WhenDone string

// The answers of response.when_done.
const (
	ReturnOriginal WhenDone = "return_original"
	WhenDoneError  WhenDone = "error"
	WhenDoneNoOp   WhenDone = "no_op"
)

// WhileRunning is what a duplicate of running work gets.
type WhileRunning string

// The answers of response.while_running.
const (
	WhileRunningWait  WhileRunning = "wait" // for Response.Wait
	WhileRunningError WhileRunning = "error"
	WhileRunningNoOp  WhileRunning = "no_op"
)

// OtherPayload is what work of the same identity with another payload gets.
type OtherPayload string

// The answers of response.other_payload.
const (
	OtherPayloadError          OtherPayload = "error"
	OtherPayloadReturnOriginal OtherPayload = "return_original"
)

// Response is what a duplicate gets.
type Response struct {
	Pos          Pos
	Set          bool
	WhenDone     Value[WhenDone]
	WhileRunning Value[WhileRunning]
	Wait         Value[time.Duration] // Set and positive exactly if WhileRunning is "wait"
	OtherPayload Value[OtherPayload]
}

// RetryBy is who runs failed work again.
type RetryBy string

// The answers of retry.by.
const (
	ByRedelivery RetryBy = "redelivery"
)

// Retry is what happens after a failed attempt.
type Retry struct {
	Pos         Pos // of the key "retry", or of the kind if it is absent
	Set         bool
	By          Value[RetryBy] // default redelivery
	MaxAttempts Value[int]     // 1 to 1000; default 5
	Backoff     Backoff

	// Go errors, in the order of the file: a variable (ErrDeclined,
	// stripe.ErrDeclined) or a type (*net.OpError).
	Permanent []Value[string]
	Transient []Value[string]
}

// Backoff is the pause between attempts, always with full jitter: a random
// time between zero and min(Max, Initial × Multiplier^(attempt−1)).
type Backoff struct {
	Initial    Value[time.Duration] // positive, up to Max; default 1s
	Max        Value[time.Duration] // default 5m, or Initial if only that is given and is longer
	Multiplier Value[float64]       // 1 to 10; default 2
}

// Guard is what makes it safe to repeat an effect.
type Guard string

// The guards that are built.
const (
	Transaction    Guard = "transaction"
	IdempotencyKey Guard = "idempotency_key"
	Upsert         Guard = "upsert"
	FindFirst      Guard = "find_first"
	Once           Guard = "once"
	Repeatable     Guard = "repeatable"
	Read           Guard = "read"
)

// IfUnknown is what follows if nobody knows whether an effect happened.
type IfUnknown string

// The answers of if_unknown.
const (
	Ask    IfUnknown = "ask"
	GiveUp IfUnknown = "give_up"
	Repeat IfUnknown = "repeat"
)

// Effect is one guarded side effect, or recorded read, of a handler.
//
// OncePer may stand beside every guard, read included: a handler that reads
// one price per line needs one record per line.
type Effect struct {
	Name  Value[string] // ^[a-z][a-z0-9_]{0,62}$, unique in its contract
	Was   Value[string] // the name that it had first; not Set: this one. See LedgerName
	Guard Value[Guard]  // of an effect with Work: ChildWork
	Work  Value[string] // the kind of other work that the effect is; not Set: none, and a function carries it out
	Call  Value[string] // see ParseFunc; not Set: see CallName

	OncePer     []Value[string] // field paths of the effect's input; empty: once per work
	MaxAttempts Value[int]      // retry.max_attempts, 1 to the contract's; not Set: no budget of its own
	Message     Message         // not Set: it sends none, or does not remember it
	ExternalRef Value[string]   // field path of the effect's result; not Set: none
	Redact      []Value[string] // field paths of the effect's input that the ledger must not store

	Provider Value[string] // a row of package knowledge; not Set: none is named
	// ReplaysFailures: idempotency_key, and the provider answers a key that it knows with
	// the failure that it has stored.
	ReplaysFailures bool

	Find         Value[string]        // find_first: see ParseFunc; always Set there
	VisibleAfter Value[time.Duration] // find_first: positive; always Set there. once: not Set, nobody knows
	RemembersFor Value[time.Duration] // idempotency_key: longer than RetrySchedule; Set, or what the provider states
	Header       Value[string]        // idempotency_key: where the key travels, an HTTP field name unless KeyPlace says otherwise; default Idempotency-Key
	KeyPlace     KeyPlace             // idempotency_key: what Header names
	KeyFormat    Value[KeyFormat]     // where SendsKey: default hex, or what the provider takes
	IfUnknown    Value[IfUnknown]     // once: default ask
}

// KeyPlace is where in a call the key travels.
type KeyPlace string

// The places of keys.
const (
	KeyInHeader    KeyPlace = "header"
	KeyInField     KeyPlace = "field"     // of the body, or an argument
	KeyInDirective KeyPlace = "directive" // of a GraphQL operation
)

// KeyFormat is how an effect's key is written: "hex", "uuid" or "base62:N".
type KeyFormat string

// The formats of keys without an argument.
const (
	KeyHex  KeyFormat = "hex"  // 64 hexadecimal digits
	KeyUUID KeyFormat = "uuid" // of version 8: 36 characters
)

// The shortest and the longest base62 key: as many digits as 128 bits need, so
// that no two keys meet, and as many as a SHA-256 needs.
const (
	MinBase62 = 22
	MaxBase62 = 43
)

// Base62 is N of base62:N, and 0 for the other formats.
func (f KeyFormat) Base62() int {
	n, ok := strings.CutPrefix(string(f), "base62:")
	if !ok {
		return 0
	}
	digits, err := strconv.Atoi(n)
	if err != nil {
		return 0
	}
	return digits
}

// Length is how many characters a key has.
func (f KeyFormat) Length() int {
	switch f {
	case KeyHex:
		return 64
	case KeyUUID:
		return 36
	}
	return f.Base62()
}

// SendsKey tells whether the effect's function hands its key to the provider: to
// be deduped on, to be looked for, or as a unique value.
func (g Guard) SendsKey() bool {
	switch g {
	case IdempotencyKey, Upsert, FindFirst:
		return true
	}
	return false
}

// Method is the method of the effects interface that stands for the effect:
// SendReceipt for send_receipt.
func (e *Effect) Method() string { return MethodName(e.Name.V) }

// CallName is the Go method or function that carries the effect out (see
// ParseFunc for its parts): the contract's call, or else the method of the handler's receiver with the
// effect's name (sendReceipt for send_receipt).
func (e *Effect) CallName() string {
	if e.Call.Set {
		return e.Call.V
	}
	return unexportedName(e.Name.V)
}

// Handler is a contract's handler, taken apart.
type Handler struct {
	Receiver string // type name, empty for a plain function
	Pointer  bool   // the receiver is a pointer
	Name     string // of the method or function
}

// String is the handler as contracts write it.
func (h Handler) String() string {
	switch {
	case h.Receiver == "":
		return h.Name
	case h.Pointer:
		return "(*" + h.Receiver + ")." + h.Name
	default:
		return "(" + h.Receiver + ")." + h.Name
	}
}

// ParseHandler takes Func, (*T).Method or (T).Method apart; ok is false for
// any other text.
func ParseHandler(s string) (h Handler, ok bool) {
	h.Name = s
	if rest, isMethod := strings.CutPrefix(s, "("); isMethod {
		rest, h.Pointer = strings.CutPrefix(rest, "*")
		h.Receiver, h.Name, ok = strings.Cut(rest, ").")
		if !ok || !usableIdent(h.Receiver) {
			return Handler{}, false
		}
	}
	if !usableIdent(h.Name) {
		return Handler{}, false
	}
	return h, true
}

// usableIdent tells whether Go code can refer to something by that name.
func usableIdent(s string) bool { return token.IsIdentifier(s) && s != "_" }
