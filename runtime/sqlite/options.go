package sqlite

import "time"

// Synchronous says what a commit waits for.
type Synchronous int

const (
	// Full waits until the disk has the commit: an acknowledged write survives a
	// loss of power. It is the default.
	Full Synchronous = iota
	// Normal waits for the disk only at checkpoints. A process that dies loses
	// nothing, but a loss of power or a crash of the operating system takes back
	// the commits of the last moments, although they were acknowledged. For the
	// ledger this means effects that happened and that it knows nothing of: they
	// are made again. Choose it for tests, or where every effect is harmless to
	// repeat.
	Normal
)

// An Option changes how a store is opened.
type Option func(*options)

type options struct {
	clock          func() time.Time
	synchronous    Synchronous
	foreignKeys    bool
	foreignKeysSet bool
}

func newOptions(opts []Option) *options {
	o := &options{clock: time.Now, foreignKeys: true}
	for _, opt := range opts {
		opt(o)
	}
	return o
}

// WithClock replaces the host's clock, for tests. The store still never goes
// back: see the package's documentation. now must be safe for concurrent use.
func WithClock(now func() time.Time) Option {
	return func(o *options) { o.clock = now }
}

// WithSynchronous chooses what a commit waits for. The default is [Full].
func WithSynchronous(s Synchronous) Option {
	return func(o *options) { o.synchronous = s }
}

// WithForeignKeys says whether foreign keys are enforced in the transactions of
// [Store.InTx], in which the application writes its own tables. SQLite decides
// that per connection. By default [OpenDB] does as the application's handle
// does, and [Open] enforces them.
func WithForeignKeys(on bool) Option {
	return func(o *options) { o.foreignKeys, o.foreignKeysSet = on, true }
}
