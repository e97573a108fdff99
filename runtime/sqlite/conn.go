package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// busyTimeout is how long a statement waits for another process's lock, in
// milliseconds. It ends sooner when the caller's context does.
const busyTimeout = "busy_timeout(5000)"

// What batches of writes need: work IDs come in no order, so that each batch touches
// a page of every index for each of its works. With 16 MB of log a page is written
// many times before it is copied to its place, and copying waits for the disk; with 16
// MB of cache it is mostly there.
const (
	checkpointAfter = "wal_autocheckpoint(4000)"
	cacheSize       = "cache_size(-16000)"
)

// checkPath makes path absolute, so that a later change of the working directory
// does not lead a new connection to another file.
func checkPath(path string) (string, error) {
	switch {
	case path == "" || strings.Contains(path, ":memory:"):
		return "", errInMemory
	case strings.HasPrefix(path, "file:"):
		return "", fmt.Errorf("sqlite: %q is a URI: pass the path of the file alone, since the ledger chooses its own parameters", path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("sqlite: path of the ledger: %w", err)
	}
	return abs, nil
}

var errInMemory = errors.New("sqlite: the database is in memory or temporary: a ledger must outlive its process and be seen by all connections, so it needs a file")

// mustExist keeps Open from creating an empty database where a path is misspelt.
func mustExist(path string) (os.FileInfo, error) {
	file, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("sqlite: %s does not exist, sqlite.Migrate creates it: %w", path, idem.ErrSchema)
	}
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w: %w", idem.ErrLedger, err)
	}
	return file, nil
}

// stillThere refuses to write into a file that has been deleted or replaced, by a
// restore say: SQLite goes on in a file that nobody will ever open again, so that
// what it acknowledges is lost with the process, and other processes already keep
// another ledger. Looking costs next to nothing beside a commit.
func (s *Store) stillThere() error {
	file, err := os.Stat(s.path)
	if err != nil {
		return fmt.Errorf("the file is gone: %w", err)
	}
	if !os.SameFile(s.file, file) {
		return fmt.Errorf("%s was replaced while it was open: start the program again", s.path)
	}
	return nil
}

// dataSource builds what the driver opens: path is an absolute one.
func dataSource(path string, pragmas ...string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a Windows volume
	}
	query := url.Values{"_pragma": append([]string{busyTimeout}, pragmas...), "_txlock": {"immediate"}}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: query.Encode()}
	return u.String()
}

// openWriter opens the one connection that writes. Whatever connection
// database/sql makes anew after an error gets the same pragmas and the same gate.
func openWriter(path string, o *options, gate *commitGate) (*sql.DB, error) {
	synchronous := "synchronous(FULL)"
	if o.synchronous == Normal {
		synchronous = "synchronous(NORMAL)"
	}
	foreignKeys := "foreign_keys(0)"
	if o.foreignKeys {
		foreignKeys = "foreign_keys(1)"
	}
	// fullfsync is for macOS, whose fsync does not reach the disk; elsewhere it
	// does nothing.
	base, err := sqlite.NewConnector(dataSource(path, "journal_mode(WAL)", synchronous, "fullfsync(1)", foreignKeys, checkpointAfter, cacheSize))
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector{base, gate})
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	return db, nil
}

// connect makes a writer's connection, which may have to turn the write-ahead
// log on. For that step SQLite does not wait for others: it fails at once.
func connect(ctx context.Context, writer *sql.DB) error {
	const patience, pause = 5 * time.Second, 10 * time.Millisecond
	for deadline := time.Now().Add(patience); ; {
		err := writer.PingContext(ctx)
		if err == nil || !hasCode(err, codes.SQLITE_BUSY) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// openReaders opens the connections that only look.
func openReaders(path string, n int) (*sql.DB, error) {
	base, err := sqlite.NewConnector(dataSource(path, "query_only(1)"))
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector{base, nil})
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// A commitGate lets through the commits that the store itself makes, and no
// other one on its writer connection.
//
// SQLite rolls a whole transaction back when a statement in it is interrupted by
// its context, when the disk is full and for ON CONFLICT ROLLBACK, and is then
// in autocommit mode: what an application writes next, believing itself inside
// its transaction, would commit alone, without the effect's row and without the
// fence. Likewise if it calls Commit itself. The gate turns each such commit into
// a rollback and an error.
type commitGate struct {
	last atomic.Uint64 // numbers the commits
	open atomic.Uint64 // the number of the commit that may pass, or zero
}

// pass runs commit with the gate open for one commit.
func (g *commitGate) pass(commit func() error) error {
	number := g.last.Add(1)
	g.open.Store(number)
	// If commit failed before SQLite asked the gate, the gate is still open. By
	// now the connection may serve another transaction: close only what was
	// opened here.
	defer g.open.CompareAndSwap(number, 0)
	return commit()
}

// ask is SQLite's commit hook: anything but zero makes the commit a rollback.
func (g *commitGate) ask() int32 {
	if g.open.Swap(0) == 0 {
		return 1
	}
	return 0
}

// A connector makes connections that also carry out statements directly, and none
// without its gate, if it has one.
type connector struct {
	driver.Connector
	gate *commitGate
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	own, ok := conn.(driverConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's %T lacks what a connection needs", conn), conn.Close())
	}
	if c.gate != nil {
		own.RegisterCommitHook(c.gate.ask)
	}
	return newDirect(own), nil
}
