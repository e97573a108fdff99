package idem

import (
	"context"
	"crypto/rand"
	"slices"
	"time"
)

// A Store keeps a ledger in a database. Package sqlite has one; programs do not
// call it themselves, they hand it to [NewLedger].
//
// All methods are safe for concurrent use. Every write is durable when it
// returns without an error, unless it says MayLag. All times are the store's own: no
// method is told what time it is, only how long something lasts.
//
// Tx is the type of the transactions in which the application's own writes and
// the ledger's commit together, such as *sql.Tx.
type Store[Tx any] interface {
	Writer
	Purger
	Amender

	// Lookup reads one piece of work without locking anything. The zero Work
	// means that there is none, or that its window is over. An ID that an alias
	// leads from gives the row that it leads to.
	Lookup(ctx context.Context, id WorkID) (Work, error)

	// LookupAll is Lookup of several pieces of work. The result has one entry for
	// each ID, in their order.
	LookupAll(ctx context.Context, ids []WorkID) ([]Work, error)

	// Register makes the row of each kind and version that has none, in one
	// transaction, and returns the rows as they are then, in the order of the
	// argument: those of whoever registered first. FirstSeen of the argument does
	// not count.
	Register(ctx context.Context, contracts []Registration) ([]Registration, error)

	// InTx opens a transaction that holds the ledger and the application's own
	// tables, and commits it if fn returns nil. What fn writes through s is part
	// of that transaction, and a fence that held at fn's last write holds at the
	// commit. An error of fn is returned as it is; a panic rolls back and goes on.
	InTx(ctx context.Context, fn func(ctx context.Context, s Session[Tx]) error) error

	// ExclusiveTx reports that no other write to the ledger can commit while fn
	// of InTx runs, so that leases have to be renewed inside it.
	ExclusiveTx() bool

	// ClaimTells reports that a claim of work that is done, without predecessors or a
	// mark, writes nothing and costs little more than Lookup, so that it is no waste
	// to claim without looking first.
	ClaimTells() bool

	// KeyCheck returns the check value of the key under which the ledger's keyed
	// work is derived. If there is none yet, mine is recorded, in one atomic step:
	// of several first callers one records its own, and all get that one.
	KeyCheck(ctx context.Context, mine Hash) (Hash, error)

	// Close frees what the store holds. Later calls fail.
	Close() error
}

// Session is one open transaction of a [Store]. It is valid until the function
// that InTx calls returns, and not safe for concurrent use.
type Session[Tx any] interface {
	Writer

	// Tx is the transaction, for the application's own statements.
	Tx() Tx

	// Savepoint runs fn and undoes what was written meanwhile, through Tx too, if
	// fn returns an error or panics. The error is returned as it is.
	Savepoint(ctx context.Context, fn func(ctx context.Context) error) error
}

// Writer is the ledger's writes. A [Store] makes each in a transaction of its
// own; a [Session] makes them in the one it stands for.
type Writer interface {
	// Claim takes work for one attempt, in one atomic step, if it is new, due,
	// abandoned (its lease is over) or forgotten (its window is over). Abandoned
	// work whose budget is empty becomes dead instead. A claim whose token already
	// owns the work is won: its acknowledgement had been lost.
	//
	// Of forgotten work everything goes: its effects, its attempts, and its children,
	// which are the work that has the key of an effect with the guard work for its ID.
	//
	// Work that the claim would win and that is older than what c.Mark's series
	// remembers becomes done instead, superseded and without a result, unless it is
	// [Claimed.Doubtful].
	//
	// The row is the one that [Claim.Place] says if the claim has predecessors;
	// else the one that an alias leads to from the claim's ID, or that of the ID
	// itself. Its own ID is in the answer, and in the fence of every later write.
	// Aliases of a row are forgotten with it.
	Claim(ctx context.Context, c Claim) (Claimed, error)

	// WriteEffect inserts or updates the row of one effect. [ErrLeaseLost] if the
	// fence does not hold any more and, with e.Live, if the lease is over. A [NewerWork], with
	// nothing written, if e.Live is set and e.Mark is older than what its series
	// remembers.
	//
	// With e.Message it keeps the row of the message in the same step: see
	// [MessageWrite]. If another effect has the message nothing is written at all,
	// and the answer says which.
	WriteEffect(ctx context.Context, e EffectWrite) (EffectWritten, error)

	// End leaves the running state. [ErrLeaseLost] if the fence does not hold.
	// What others remember of done work is written in the same step: its e.Mark,
	// and that its kind has succeeded, if a window waits for that.
	End(ctx context.Context, e End) (Ended, error)

	// Renew extends leases, all in one transaction. The result has one entry
	// per lease, in order: whether the fence still holds. A row that is locked by
	// another transaction is skipped, and counts as held but not renewed.
	Renew(ctx context.Context, leases []Lease) ([]Renewal, error)
}

// Purger is what a [Store] does for [Ledger.Purge].
type Purger interface {
	// Expired lists work that Purge would delete, at most limit, the longest expired
	// first. It locks nothing: what is listed may be claimed, or gone, a moment later.
	Expired(ctx context.Context, limit int) ([]WorkID, error)

	// Purge deletes those of the rows that are, when it deletes them, past their window
	// and done, or dead and acknowledged, in one transaction. With each go its effects, its attempts, the
	// aliases that lead to it, the place in a series that it holds, its children as
	// Claim says, and of the kinds whose success it waited for those that nobody else
	// waits for. It waits for no lock: what others have locked stays.
	Purge(ctx context.Context, ids []WorkID) (Purged, error)

	// PurgeMemory deletes at most limit rows of what is remembered beside work and
	// stands for nothing any more, which are messages whose time is over. One that is
	// being sent stays while nobody knows whether its effect has happened.
	PurgeMemory(ctx context.Context, limit int) (Purged, error)
}

// Token is the fencing token of one claim: random, so that an owner of long ago
// cannot be taken for the present one, whatever was replayed or purged since.
type Token [16]byte

func newToken() (t Token) {
	// crypto/rand.Read never returns an error: it ends the program instead.
	_, _ = rand.Read(t[:])
	return t
}

// Fence names work and the claim that owns it.
type Fence struct {
	ID    WorkID
	Token Token
}

// Hash is a SHA-256. The zero Hash is "none".
type Hash [32]byte

// Codecs that a Body can name.
const (
	CodecNone    = ""        // nothing was stored
	CodecJSON    = "json"    // JSON, as encoding/json writes it
	CodecDropped = "dropped" // there was a value and it could not be kept
	// CodecRedacted is JSON of an input without the fields that its contract keeps
	// out of the ledger: for people to read, and no input to run anything with.
	CodecRedacted = "redacted"
)

// Body is a stored value. Whether there is one is said by Codec, never by the
// length of Data: nil, false, 0 and "" are values.
type Body struct {
	Codec string
	Data  []byte
}

// Claim asks for work.
type Claim struct {
	Fence
	Kind    string
	Version int
	Scope   string
	// Predecessors are what the work was called in earlier versions that are
	// honoured, newest first. Mostly none.
	Predecessors []Predecessor
	// Lease is how long the claim lasts unless it is renewed. Over zero.
	Lease time.Duration
	// Budget is how many attempts new work has, this one included. Over zero.
	Budget int
	// Window is how long the work is remembered if the claim finds that it has no
	// attempt left, and buries it.
	Window Window
	// Payload is the input, kept for replays while the work may run again.
	Payload      Body
	PayloadHash  Hash
	PayloadShape string
	// AnyPayload lets the claim take work that was first seen with another
	// payload of the same shape.
	AnyPayload bool
	// Mark is the work's place among works about one thing, or zero.
	Mark Mark
	// Release, CorrelationID are recorded with the attempt. Either may be empty.
	Release       string
	CorrelationID string
	// MayLag: a claim that is won need not be durable when Claim returns, but when
	// the next write returns that may not lag, such as the start of an effect. All
	// others see it at once, and a process that dies takes nothing with it: only a
	// loss of power, or of the database server, may undo it, and then nothing has
	// been done yet.
	MayLag bool
}

// Claimed is the answer to a [Claim].
type Claimed struct {
	// Won means that the caller owns the work until its lease ends. Otherwise
	// Work says where the work stands; the zero Work means that the row has gone
	// between two statements and the claim should be made again.
	Won  bool
	Work Work
	// Effects are the rows of earlier attempts, in the order of their seq.
	// While the work is owned nobody else writes them.
	Effects []EffectRow
}

// Doubtful tells whether an effect of an earlier attempt may have happened that
// nobody has declared harmless to leave alone: only its guard can find out, or a
// person. Such work is not superseded by newer work, or nobody would ever look.
func (c Claimed) Doubtful() bool {
	return slices.ContainsFunc(c.Effects, doubtful)
}

func doubtful(e EffectRow) bool {
	switch e.Guard {
	case GuardOnce, GuardFindFirst, GuardIdempotencyKey:
		return e.State == EffectStarted || e.State == EffectUnknown
	}
	return false
}

// Work is a row of work_log.
type Work struct {
	ID            WorkID
	Kind          string
	Version       int
	Scope         string
	State         State
	Token         Token
	Attempt       int // counts from 1 and only grows
	BudgetLeft    int // attempts that may still be started
	Payload       Body
	PayloadHash   Hash
	PayloadShape  string
	Result        Body
	ExternalRef   string
	ErrorClass    Class
	LastError     string
	NextAttemptAt time.Time // of failed work
	LockedUntil   time.Time // of running work
	CreatedAt     time.Time
	DoneAt        time.Time
	ExpiresAt     time.Time // zero while the work is not done or dead, and when it is remembered for ever: see Forever
	Forever       bool      // done or dead, and never forgotten
	UntilSuccess  string    // the kind that has to succeed before done or dead work is forgotten, at ExpiresAt or later; empty: none
	SupersededBy  WorkID    // the newer work because of which this one is done without a result; zero: none
	Acknowledged  time.Time // when a person said that dead work may be forgotten; zero: nobody did
	Now           time.Time // the store's time when the row was read
}

// EffectRow is a row of effect_log.
type EffectRow struct {
	EffectID
	Guard Guard
	State EffectState
	// Key is the key of the last call, and Epoch that of the next one: it is raised
	// when the last call is known to have done nothing.
	Key         string
	Epoch       int
	PayloadHash Hash
	// PayloadShape is the shape of the input. Hashes of different shapes are not
	// compared.
	PayloadShape string
	// Calls is how many calls have been started, as the last write said.
	Calls int
	// VisibleAfter is how long after a call it may take to show at the target, as the
	// last write said. Zero: nobody has said.
	VisibleAfter time.Duration
	Input        Body
	Result       Body
	ExternalRef  string
	LastError    string
	StartedAt    time.Time
	DoneAt       time.Time
}

// EffectWrite inserts the row of an effect or moves it to another state.
type EffectWrite struct {
	Fence
	EffectID
	Guard       Guard
	State       EffectState
	Key         string
	Epoch       int
	PayloadHash Hash
	// PayloadShape is the shape of the input.
	PayloadShape string
	// Calls replaces the number of calls that have been started. It is not added
	// up, so that a write that is made twice, for its acknowledgement was lost,
	// counts once.
	Calls int
	// VisibleAfter replaces how long after a call it may take to show at the target.
	VisibleAfter time.Duration
	// Input is stored when there is one and left as it is otherwise.
	Input       Body
	Result      Body
	ExternalRef string
	Error       string
	// Live demands a lease that is not over: nothing may be started without.
	Live bool
	// Restart sets started_at to the present time even if the row has one.
	Restart bool
	// Mark is that of the claim.
	Mark Mark
	// Message is the message that the effect sends, or nil.
	Message *MessageWrite
	// MayLag: the write need not be durable when it returns, see [Claim]. It is set of
	// results that the effect's guard finds again as they were, since a program may
	// outlive its database's server and go on by what that has lost.
	MayLag bool
}

// EffectWritten is what an [EffectWrite] has come to.
type EffectWritten struct {
	// StartedAt is when the effect was (last) started. It may be zero if the write is
	// of another state, for whoever asks knows.
	StartedAt time.Time
	// Taken is the message if another effect has it. Then nothing was written.
	Taken *SentMessage
}

// End leaves the running state.
type End struct {
	Fence
	// State is StateDone, StateFailed, StateUnknown or StateDead.
	State       State
	Result      Body
	ExternalRef string
	Class       Class
	Error       string
	// RetryIn is when failed work is due. It may be zero: due now.
	RetryIn time.Duration
	// Window is how long done or dead work is remembered.
	Window Window
	// Refund gives the attempt back to the budget: it never started.
	Refund bool
	// Mark is that of the claim. Done work raises its series to it, unless newer
	// work has done so or the work is itself superseded.
	Mark Mark
	// SupersededBy is the newer work because of which this one is done without
	// having come to its end. Zero unless State is StateDone.
	SupersededBy WorkID
}

// Ended is what an [End] has come to, beside what it says itself and what its claim
// was told.
type Ended struct {
	// NextAttemptAt is when failed work is due.
	NextAttemptAt time.Time
}

// Lease is a claim to be extended by For from now on.
type Lease struct {
	Fence
	For time.Duration
}

// Renewal is what became of one [Lease].
type Renewal int

// The outcomes of a renewal. The zero Renewal is none of them.
const (
	RenewalUnknown Renewal = iota // the store could not tell in time; the lease is as long as it was
	Renewed
	LeaseLost
)

// Window is how long done work is remembered, counted from its completion. The
// zero Window is invalid: for ever must be said with [Forever].
type Window struct {
	d       time.Duration
	forever bool
	until   string
}

// Forever remembers work as long as the ledger exists.
func Forever() Window { return Window{forever: true} }

// For remembers work for d after it was done. d must be over zero.
func For(d time.Duration) Window { return Window{d: d} }

// UntilSuccessOf remembers work until other work of that kind, of the same scope
// or of none, has succeeded that was claimed first after this work was done, and
// for atLeast in any case. The kind must not be empty, and atLeast over zero.
func UntilSuccessOf(kind string, atLeast time.Duration) Window {
	return Window{d: atLeast, until: kind}
}

// UntilSuccessOf returns the kind that has to succeed before work is forgotten,
// or nothing.
func (w Window) UntilSuccessOf() string { return w.until }

// Duration returns how long the window is at least; forever means that it has no end.
func (w Window) Duration() (d time.Duration, forever bool) { return w.d, w.forever }

func (w Window) valid() bool { return w.forever || w.d > 0 }
