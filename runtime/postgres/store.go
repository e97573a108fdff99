package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/internal/coalesce"
)

// A Store is a ledger in a PostgreSQL database. It is safe for concurrent use.
type Store struct {
	pool   pool
	opts   *options
	stmts  statements
	batch  batchStatements
	queue  *coalesce.Queue[*operation] // of writes
	reads  *coalesce.Queue[*reading]
	adrift adrift
	closed atomic.Bool
	// explicit: batches have to begin transactions, see commit.
	explicit atomic.Bool
}

var _ idem.Store[pgx.Tx] = (*Store)(nil)

// pool is where connections come from.
type pool interface {
	BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error)
	Query(ctx context.Context, text string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, text string, args ...any) pgx.Row
	// take takes a connection out. One that is inside a transaction when it is given
	// back is closed.
	take(ctx context.Context) (conn *pgx.Conn, giveBack func(), err error)
}

// pgxPool is an application's pool of pgx.
type pgxPool struct{ *pgxpool.Pool }

func (p pgxPool) take(ctx context.Context) (*pgx.Conn, func(), error) {
	c, err := p.Acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	return c.Conn(), c.Release, nil
}

// Open opens the ledger in the pool's database, which [Migrate] has prepared. The
// pool stays the caller's, and is not closed with the store. Calls of the ledger
// take connections of it for as long as one transaction takes.
//
// [idem.ErrSchema] if the tables are missing or of a version that does not fit;
// its message says what to do.
func Open(ctx context.Context, pool *pgxpool.Pool, opts ...Option) (*Store, error) {
	return open(ctx, pgxPool{pool}, opts)
}

func open(ctx context.Context, pool pool, opts []Option) (*Store, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	tx, err := pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: o.begin(true)})
	if err != nil {
		return nil, wrapDB(ctx, "open", err)
	}
	if err := errors.Join(checkSchema(ctx, tx, o), checkEncoding(ctx, tx), rollback(ctx, tx)); err != nil {
		return nil, err
	}
	s := &Store{pool: pool, opts: o, stmts: newStatements(o), batch: newBatchStatements(o)}
	s.queue, s.reads = s.newQueue(), s.newReads()
	return s, nil
}

// checkEncoding: any text may become an error's, and must find its letters.
func checkEncoding(ctx context.Context, tx pgx.Tx) error {
	var encoding string
	if err := tx.QueryRow(ctx, `SELECT current_setting('server_encoding')`).Scan(&encoding); err != nil {
		return wrapDB(ctx, "encoding", err)
	}
	if encoding != "UTF8" {
		return fmt.Errorf("postgres: the database has the encoding %s, and the ledger needs UTF8: %w", encoding, idem.ErrSchema)
	}
	return nil
}

// Claim takes work for one attempt: see [idem.Writer].
func (s *Store) Claim(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	if err := s.adrift.wait(ctx, c.Token); err != nil {
		return idem.Claimed{}, s.wrap(ctx, "claim", err)
	}
	if plainClaim(c) {
		op := &operation{claim: &c}
		if err := s.together(ctx, "claim", op); err == nil {
			return op.claimed, nil
		} else if !errors.Is(err, errAlone) {
			return idem.Claimed{}, err
		}
	}
	return write(ctx, s, "claim", func(ctx context.Context, w *writer) (idem.Claimed, error) { return w.claimLatest(ctx, c) })
}

// WriteEffect inserts or updates an effect's row: see [idem.Writer].
func (s *Store) WriteEffect(ctx context.Context, e idem.EffectWrite) (idem.EffectWritten, error) {
	if err := s.adrift.wait(ctx, e.Token); err != nil {
		return idem.EffectWritten{}, s.wrap(ctx, "effect", err)
	}
	if plainEffect(e) {
		op := &operation{effect: &e}
		if err := s.together(ctx, "effect", op); err == nil {
			return op.written, nil
		} else if !errors.Is(err, errAlone) {
			return idem.EffectWritten{}, err
		}
	}
	return write(ctx, s, "effect", func(ctx context.Context, w *writer) (idem.EffectWritten, error) { return w.writeEffect(ctx, e) })
}

// End leaves the running state: see [idem.Writer].
func (s *Store) End(ctx context.Context, e idem.End) (idem.Ended, error) {
	if err := s.adrift.wait(ctx, e.Token); err != nil {
		return idem.Ended{}, s.wrap(ctx, "end", err)
	}
	if plainEnd(e) {
		op := &operation{end: &e}
		if err := s.together(ctx, "end", op); err == nil {
			return op.ended, nil
		} else if !errors.Is(err, errAlone) {
			return idem.Ended{}, err
		}
	}
	return write(ctx, s, "end", func(ctx context.Context, w *writer) (idem.Ended, error) { return w.end(ctx, e) })
}

// Renew extends leases: see [idem.Writer].
func (s *Store) Renew(ctx context.Context, leases []idem.Lease) ([]idem.Renewal, error) {
	if len(leases) == 0 {
		return nil, nil
	}
	return write(ctx, s, "renew", func(ctx context.Context, w *writer) ([]idem.Renewal, error) { return w.renew(ctx, leases) })
}

// Register makes the rows that are missing: see [idem.Store].
func (s *Store) Register(ctx context.Context, contracts []idem.Registration) ([]idem.Registration, error) {
	if len(contracts) == 0 {
		return nil, nil
	}
	return write(ctx, s, "register", func(ctx context.Context, w *writer) ([]idem.Registration, error) { return w.register(ctx, contracts) })
}

// KeyCheck records a check value unless there is one: see [idem.Store].
func (s *Store) KeyCheck(ctx context.Context, mine idem.Hash) (idem.Hash, error) {
	return write(ctx, s, "key check", func(ctx context.Context, w *writer) (idem.Hash, error) { return w.keyCheck(ctx, mine) })
}

// ExclusiveTx is false: others write meanwhile, and renewals skip what a
// transaction has locked.
func (s *Store) ExclusiveTx() bool { return false }

// ClaimTells is true: a batch inserts what is new, and reads where the rest stands.
func (s *Store) ClaimTells() bool { return true }

// Close waits for the writes that were accepted, and makes later calls fail with
// [idem.ErrClosed]. The pool stays open.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	if err := errors.Join(s.queue.Close(ctx), s.reads.Close(ctx)); err != nil {
		return fmt.Errorf("postgres: close: calls were still under way: %w", err)
	}
	return nil
}

// inTx is the key under which the context that InTx hands out says whose
// transaction it stands in.
type inTx struct{ s *Store }

// usable says why a write cannot be made.
func (s *Store) usable(ctx context.Context) error {
	switch {
	case s.closed.Load():
		return idem.ErrClosed
	case ctx.Value(inTx{s}) != nil:
		// On another connection it would wait for what its own transaction has
		// locked, and would not be undone with it.
		return fmt.Errorf("called on the store inside its own transaction, where the Session is to be used: %w", idem.ErrInTransaction)
	}
	return nil
}

// write runs one operation in a transaction of its own. What the server has rolled
// back so that others could go on is tried again.
func write[T any](ctx context.Context, s *Store, what string, op func(ctx context.Context, w *writer) (T, error)) (result T, err error) {
	var none T
	if err := s.usable(ctx); err != nil {
		return none, fmt.Errorf("postgres: %s: %w", what, err)
	}
	const tries = 5
	for try := 1; ; try++ {
		err = s.transact(ctx, s.beginner(s.opts.begin(true)), func(tx pgx.Tx) error {
			result, err = op(ctx, &writer{store: s, tx: tx})
			return err
		})
		if err == nil {
			return result, nil
		}
		if try == tries || ctx.Err() != nil || !hasState(err, stateDeadlockDetected, stateSerializationFailure) {
			return none, s.wrap(ctx, what, err)
		}
	}
}

// InTx runs fn in a transaction of the pool: see [idem.Store]. What fn writes to
// the ledger keeps its rows locked until the transaction is over.
//
// fn must not end the transaction itself, nor call the Store in place of its
// Session; both are refused.
func (s *Store) InTx(ctx context.Context, fn func(ctx context.Context, s idem.Session[pgx.Tx]) error) error {
	return s.inTx(ctx, s.beginner(s.opts.begin(false)), func(ctx context.Context, session *session) error { return fn(ctx, session) })
}

func (s *Store) inTx(ctx context.Context, begin beginner, fn func(ctx context.Context, s *session) error) error {
	const what = "transaction"
	if err := s.usable(ctx); err != nil {
		return fmt.Errorf("postgres: %s: %w", what, err)
	}
	var failed error
	err := s.transact(ctx, begin, func(tx pgx.Tx) error {
		session := &session{w: &writer{store: s, tx: tx, lasting: true}}
		if failed = fn(context.WithValue(ctx, inTx{s}, true), session); failed != nil {
			return failed
		}
		return session.broken
	})
	if failed != nil {
		return failed
	}
	return s.wrap(ctx, what, err)
}

// endTimeout bounds a commit or rollback, which does not end with its caller: to
// leave in the middle of a commit is not to know what came of it.
const endTimeout = 15 * time.Second

// beginner begins a transaction.
type beginner func(ctx context.Context) (pgx.Tx, error)

func (s *Store) beginner(begin string) beginner {
	return func(ctx context.Context) (pgx.Tx, error) {
		return s.pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin})
	}
}

// transact runs op in a transaction and commits it if op returns nil.
func (s *Store) transact(ctx context.Context, begin beginner, op func(tx pgx.Tx) error) error {
	tx, err := begin(ctx)
	if err != nil {
		return err
	}
	over := false
	defer func() {
		if !over {
			// op has panicked, or ended its goroutine. The panic goes on.
			_ = rollback(ctx, tx)
		}
	}()
	err = op(tx)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && tx.Conn().PgConn().TxStatus() == 'I' {
		err = errors.New("somebody has ended the transaction inside it")
	}
	over = true
	if err != nil {
		return errors.Join(err, rollback(ctx, tx))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// rollback ends a transaction that may have ended already, with its connection.
// Its error is of no use where the connection is gone: then the server rolls back.
func rollback(ctx context.Context, tx pgx.Tx) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := tx.Rollback(ctx); err != nil && !errors.Is(err, pgx.ErrTxClosed) && !tx.Conn().IsClosed() {
		return fmt.Errorf("rollback: %w", err)
	}
	return nil
}
