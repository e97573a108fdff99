package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"

	idem "github.com/idemgen/idem/runtime"
	"modernc.org/sqlite"
)

// Open opens the ledger in the file at path, which [Migrate] has prepared.
//
// [idem.ErrSchema] if the tables are missing or of a version that does not fit;
// its message says what to do.
func Open(ctx context.Context, path string, opts ...Option) (*Store, error) {
	abs, err := checkPath(path)
	if err != nil {
		return nil, err
	}
	return open(ctx, abs, newOptions(opts))
}

// OpenDB opens the ledger in the file that the application's own handle has
// open. The store makes its own connections to the file: nothing is changed on
// the handle's, and the handle stays the application's to close.
//
// It refuses a handle of another driver than modernc.org/sqlite, since two
// SQLite libraries in one process take away each other's locks, and a database
// that is in memory or temporary. A handle whose driver is wrapped, for tracing
// say, cannot be told from a foreign one: pass the file's path to [Open].
func OpenDB(ctx context.Context, db *sql.DB, opts ...Option) (*Store, error) {
	path, err := pathOf(ctx, db)
	if err != nil {
		return nil, err
	}
	o := newOptions(opts)
	if !o.foreignKeysSet {
		if err := db.QueryRowContext(ctx, `PRAGMA foreign_keys`).Scan(&o.foreignKeys); err != nil {
			return nil, wrapDB(ctx, "foreign keys of the application's handle", err)
		}
	}
	s, err := open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	if err := s.sameLedger(ctx, db); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// pathOf finds the file behind a handle.
func pathOf(ctx context.Context, db *sql.DB) (string, error) {
	if _, ok := db.Driver().(*sqlite.Driver); !ok {
		return "", fmt.Errorf("sqlite: the handle is of driver %T, not of modernc.org/sqlite: with two SQLite libraries in one process, closing a file in one drops the locks of the other, and acknowledged commits are lost; open the application's database with modernc.org/sqlite", db.Driver())
	}
	// A query and not the handle's data source name, which database/sql does not
	// tell.
	var path string
	if err := db.QueryRowContext(ctx, `SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&path); err != nil {
		return "", wrapDB(ctx, "file of the application's handle", err)
	}
	return checkPath(path)
}

func open(ctx context.Context, path string, o *options) (_ *Store, err error) {
	file, err := mustExist(path)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, file: file, turns: newTurns(), patient: o.synchronous == Full}
	s.queue = s.newQueue()
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeHandles())
		}
	}()
	if s.writer, err = openWriter(path, o, &s.gate); err != nil {
		return nil, wrapDB(ctx, "open", err)
	}
	if err := connect(ctx, s.writer); err != nil {
		return nil, wrapDB(ctx, "open", err)
	}
	if s.readers, err = openReaders(path, max(2, runtime.GOMAXPROCS(0))); err != nil {
		return nil, wrapDB(ctx, "open", err)
	}
	if err := checkSchema(ctx, s.writer); err != nil {
		return nil, err
	}
	if err := checkPragmas(ctx, s.writer, o); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		return nil, wrapDB(ctx, "prepare", err)
	}
	var mark int64
	if err := s.writer.QueryRowContext(ctx, `SELECT ledger_id, clock_high_water FROM ledger_meta`).Scan(&s.ledgerID, &mark); err != nil {
		return nil, wrapDB(ctx, "ledger's identity", err)
	}
	s.clock = newClock(o.clock)
	s.clock.raise(mark)
	return s, nil
}

// checkPragmas reads back what durability rests on: SQLite answers a pragma that
// it cannot follow with the old value, not with an error. A file system without
// shared memory, for one, cannot have a write-ahead log.
func checkPragmas(ctx context.Context, db *sql.DB, o *options) error {
	var journal string
	var synchronous int
	err := errors.Join(
		db.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&journal),
		db.QueryRowContext(ctx, `PRAGMA synchronous`).Scan(&synchronous))
	if err != nil {
		return wrapDB(ctx, "journal mode", err)
	}
	const normal, full = 1, 2
	want := full
	if o.synchronous == Normal {
		want = normal
	}
	if journal != "wal" || synchronous != want {
		return fmt.Errorf("sqlite: the file gives journal_mode %s and synchronous %d, and the ledger needs wal and %d: %w", journal, synchronous, want, idem.ErrLedger)
	}
	return nil
}

// sameLedger makes sure that the application's transactions and the ledger's are
// on one database: the file could have been replaced under the handle.
func (s *Store) sameLedger(ctx context.Context, db *sql.DB) error {
	var id string
	if err := db.QueryRowContext(ctx, `SELECT ledger_id FROM ledger_meta`).Scan(&id); err != nil {
		return wrapDB(ctx, "ledger's identity through the application's handle", err)
	}
	if id != s.ledgerID {
		return fmt.Errorf("sqlite: the application's handle is on ledger %s and its path leads to ledger %s, was the file replaced while it was open? %w", id, s.ledgerID, idem.ErrLedger)
	}
	return nil
}
