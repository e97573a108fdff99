package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/internal/coalesce"
)

// markEvery is how often the clock's high-water mark is read and written.
const markEvery = int64(time.Second / time.Microsecond)

// A Store is a ledger in an SQLite file. It is safe for concurrent use.
//
// Its writes take turns on one connection. Those of concurrent callers share
// transactions, except what is made through the Session that [Store.InTx] hands
// out. Lookup does not wait for them.
type Store struct {
	path     string
	file     os.FileInfo // what path led to when it was opened
	writer   *sql.DB
	readers  *sql.DB
	turns    turns // on the writer
	queue    *coalesce.Queue[operation]
	gate     commitGate
	stmts    statements
	exists   statement // of the readers, as are the next two
	lookup   statement
	over     statement
	clock    *clock
	ledgerID string
	marked   atomic.Int64 // the mark that was committed last, by this store
	patient  bool         // the disk is waited for at all, see Synchronous
	lagging  bool         // the writer does not wait for the disk; whoever has the turn sees to it
	closed   atomic.Bool
}

var _ idem.Store[*sql.Tx] = (*Store)(nil)

// Claim takes work for one attempt: see [idem.Writer].
func (s *Store) Claim(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	type answer struct {
		idem.Claimed
		wrote bool
	}
	answered, err := share(ctx, s, "claim", operation{lags: c.MayLag}, func(ctx context.Context, w *writer) (answer, error) {
		w.wrote = false
		claimed, err := w.claimLatest(ctx, c)
		return answer{claimed, w.wrote}, err
	})
	claimed := answered.Claimed
	if err != nil || !c.MayLag || claimed.Won || !answered.wrote {
		return claimed, err
	}
	// The claim itself has ended the work, and nobody comes back for it.
	_, err = writeTidy(ctx, s, "claim", func(ctx context.Context, w *writer) (struct{}, error) {
		return struct{}{}, w.exec(ctx, &s.stmts.mark, s.clock.now()) // any write will do
	})
	return claimed, err
}

// WriteEffect inserts or updates an effect's row: see [idem.Writer].
func (s *Store) WriteEffect(ctx context.Context, e idem.EffectWrite) (idem.EffectWritten, error) {
	return share(ctx, s, "effect", operation{spills: e.Message != nil, lags: e.MayLag}, func(ctx context.Context, w *writer) (idem.EffectWritten, error) { return w.writeEffect(ctx, e) })
}

// End leaves the running state: see [idem.Writer].
func (s *Store) End(ctx context.Context, e idem.End) (idem.Ended, error) {
	return writeTidy(ctx, s, "end", func(ctx context.Context, w *writer) (idem.Ended, error) { return w.end(ctx, e) })
}

// Renew extends leases: see [idem.Writer].
func (s *Store) Renew(ctx context.Context, leases []idem.Lease) ([]idem.Renewal, error) {
	if len(leases) == 0 {
		return nil, nil
	}
	return writeTidy(ctx, s, renewing, func(ctx context.Context, w *writer) ([]idem.Renewal, error) { return w.renew(ctx, leases) })
}

// Lookup reads one piece of work: see [idem.Store].
func (s *Store) Lookup(ctx context.Context, id idem.WorkID) (idem.Work, error) {
	if s.closed.Load() {
		return idem.Work{}, fmt.Errorf("sqlite: lookup: %w", idem.ErrClosed)
	}
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return idem.Work{}, s.wrap(ctx, "lookup", err)
	}
	var work idem.Work
	var failed error
	err = conn.Raw(func(driverConn any) error {
		// A reader waits for nobody, so that nobody has to watch over its context.
		work, failed = s.lookUp(context.Background(), driverConn.(*direct), id)
		return nil
	})
	if err = errors.Join(failed, err, conn.Close()); err != nil {
		return idem.Work{}, s.wrap(ctx, "lookup", err)
	}
	return work, nil
}

// lookUp looks first whether there is a row at all, which most work does not have when
// it comes: what a row has costs as much to ask for as to read.
func (s *Store) lookUp(ctx context.Context, conn *direct, id idem.WorkID) (idem.Work, error) {
	var exists bool
	switch err := firstOf(conn.query(ctx, &s.exists, []any{id.String()})).Scan(&exists); {
	case errors.Is(err, sql.ErrNoRows):
		return idem.Work{}, nil
	case err != nil:
		return idem.Work{}, err
	}
	work, err := scanWork(firstOf(conn.query(ctx, &s.lookup, []any{id.String()})), 0)
	work.Now = fromMicros(s.clock.now()) // after the reading, which may have waited
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return idem.Work{}, nil
	case err != nil:
		return idem.Work{}, err
	}
	gone, err := forgotten(work, func(args ...any) scanner { return firstOf(conn.query(ctx, &s.over, args)) })
	if err != nil || gone {
		return idem.Work{}, err
	}
	return work, nil
}

// LookupAll reads several pieces of work: see [idem.Store]. Nothing here is far away,
// so that one statement for all of them would save little.
func (s *Store) LookupAll(ctx context.Context, ids []idem.WorkID) ([]idem.Work, error) {
	works := make([]idem.Work, len(ids))
	for i, id := range ids {
		var err error
		if works[i], err = s.Lookup(ctx, id); err != nil {
			return nil, err
		}
	}
	return works, nil
}

// InTx runs fn in a transaction on the store's writer connection: see
// [idem.Store]. Until it is over no other write to the file can commit.
//
// fn must not end the transaction itself, nor call the Store in place of its
// Session; both are refused. If SQLite ends the transaction early (because the
// context of a statement ended, or the disk is full) nothing that fn writes
// afterwards is kept, and InTx returns an error even if fn does not.
func (s *Store) InTx(ctx context.Context, fn func(ctx context.Context, s idem.Session[*sql.Tx]) error) error {
	const what = "transaction"
	if err := s.usable(ctx); err != nil {
		return fmt.Errorf("sqlite: %s: %w", what, err)
	}
	done, err := s.turns.take(ctx)
	if err != nil {
		return s.wrap(ctx, what, err)
	}
	defer done()
	var failed error
	err = s.transact(ctx, func(tx *sql.Tx, w *writer) error {
		session := &session{w: w, tx: tx}
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

// KeyCheck records a check value unless there is one: see [idem.Store].
func (s *Store) KeyCheck(ctx context.Context, mine idem.Hash) (idem.Hash, error) {
	return writeTidy(ctx, s, "key check", func(ctx context.Context, w *writer) (idem.Hash, error) { return w.keyCheck(ctx, mine) })
}

// ExclusiveTx is true: SQLite has one writer.
func (s *Store) ExclusiveTx() bool { return true }

// ClaimTells is false: claims queue behind other writes, and readings do not.
func (s *Store) ClaimTells() bool { return false }

// Close waits for the writes that were accepted, stores the clock's mark and closes
// the store's connections. Later calls fail with [idem.ErrClosed].
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	const patience = 15 * time.Second // for a transaction that does not end
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.queue.Close(ctx); err != nil {
		err = fmt.Errorf("sqlite: close: writes still waited: %w", err)
		return errors.Join(err, s.closeHandles())
	}
	return errors.Join(s.markNow(ctx), s.closeHandles())
}

func (s *Store) closeHandles() error {
	var err error
	for _, db := range []*sql.DB{s.readers, s.writer} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	return err
}

// inTx is the key under which the context that InTx hands out says whose
// transaction it stands in.
type inTx struct{ s *Store }

// renewing is what goes before other writes: see turns.
const renewing = "renew"

// transact runs op in a transaction of database/sql, whose context ends it, and commits
// it if op returns nil. Whoever calls it has the turn.
func (s *Store) transact(ctx context.Context, op func(tx *sql.Tx, w *writer) error) error {
	if err := s.stillThere(); err != nil {
		return err
	}
	if err := s.mayLag(ctx, false, s.writer.ExecContext); err != nil {
		return err
	}
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	over := false
	defer func() {
		if !over {
			// op has panicked, or ended its goroutine. The panic goes on.
			_ = rollback(tx)
		}
	}()
	w := &writer{store: s, ex: inSQLTx{tx}, rare: always()}
	mark, err := s.moveMark(context.WithoutCancel(ctx), w)
	if err == nil {
		err = op(tx, w)
	}
	if err != nil {
		over = true
		return errors.Join(err, rollback(tx))
	}
	err = s.gate.pass(tx.Commit)
	over = true
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if mark > 0 {
		s.marked.Store(mark)
	}
	return nil
}

// direct is transact for the ledger's own writes, past database/sql. ctx ends the wait
// for another process, and no more. If the transaction lags the disk gets it with the
// next one that does not.
func (s *Store) direct(ctx context.Context, lags bool, op func(w *writer) error) error {
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return err
	}
	var failed error
	err = conn.Raw(func(driverConn any) error {
		failed = s.directOn(ctx, driverConn.(*direct), lags, op)
		return nil
	})
	return errors.Join(failed, err, conn.Close())
}

func (s *Store) directOn(ctx context.Context, conn *direct, lags bool, op func(w *writer) error) error {
	if err := s.mayLag(ctx, lags, conn.pragma); err != nil {
		return err
	}
	if err := conn.begin(ctx, s); err != nil {
		return err
	}
	over := false
	defer func() {
		if !over {
			_ = conn.rollback(s, nil)
		}
	}()
	w := &writer{store: s, ex: conn, rare: &conn.rare}
	mark, err := s.moveMark(context.Background(), w)
	if err == nil {
		err = op(w)
	}
	over = true
	if err != nil {
		return conn.rollback(s, err)
	}
	if err := s.gate.pass(func() error { return conn.commit(s) }); err != nil {
		return err
	}
	if mark > 0 {
		s.marked.Store(mark)
	}
	return nil
}

// mayLag says whether the next transaction has to wait for the disk. One that does
// takes with it what those before it have left in the log. Should database/sql make
// the connection anew, it waits until it is told not to.
func (s *Store) mayLag(ctx context.Context, lags bool, exec func(ctx context.Context, text string, args ...any) (sql.Result, error)) error {
	if !s.patient || lags == s.lagging {
		return nil
	}
	if lags {
		s.lagging = true // also if nobody knows whether the statement has done it
		_, err := exec(ctx, `PRAGMA synchronous = NORMAL`)
		return err
	}
	if _, err := exec(ctx, `PRAGMA synchronous = FULL`); err != nil {
		return err
	}
	s.lagging = false
	return nil
}

// rollback ends a transaction that may have ended already.
func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("rollback: %w", err)
	}
	return nil
}

// moveMark brings the clock and its mark together if a second has passed. It
// returns the new mark, or zero if it did nothing.
func (s *Store) moveMark(ctx context.Context, w *writer) (int64, error) {
	now := s.clock.now()
	if now-s.marked.Load() < markEvery {
		return 0, nil
	}
	var mark int64
	if err := w.row(ctx, &s.stmts.mark, now).Scan(&mark); err != nil {
		return 0, fmt.Errorf("clock: %w", err)
	}
	s.clock.raise(mark)
	return mark, nil
}

func (s *Store) markNow(ctx context.Context) error {
	done, err := s.turns.take(ctx)
	if err != nil {
		return fmt.Errorf("sqlite: close: clock: %w", err)
	}
	defer done()
	if err := s.direct(ctx, false, func(w *writer) error { return w.exec(ctx, &s.stmts.mark, s.clock.now()) }); err != nil {
		return fmt.Errorf("sqlite: close: clock: %w", err)
	}
	return nil
}
