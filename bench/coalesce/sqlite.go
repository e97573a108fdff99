package coalesce

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/idemgen/idem/runtime/sqlite"
)

func openSQLite(ctx context.Context, path string, run handler) (way, error) {
	if err := sqlite.Migrate(ctx, path); err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return newLedger(store, run), nil
}

// liteHand is the table of keys that people write by hand.
type liteHand struct {
	db             *sql.DB
	insert, update *sql.Stmt
}

var errTaken = errors.New("somebody else has it")

// openLiteHand opens it with so many connections.
func openLiteHand(ctx context.Context, path string, connections int) (*liteHand, error) {
	query := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "busy_timeout(30000)"}, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", "file:"+path+"?"+query.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	h := &liteHand{db: db}
	if _, err := db.ExecContext(ctx, `CREATE TABLE keys (
		key text NOT NULL PRIMARY KEY, status text NOT NULL, payload blob, result blob, created_at integer NOT NULL, updated_at integer NOT NULL)`); err != nil {
		return nil, err
	}
	if h.insert, err = db.PrepareContext(ctx, `INSERT INTO keys (key, status, payload, created_at, updated_at) VALUES (?1, 'running', ?2, ?3, ?3) ON CONFLICT DO NOTHING`); err != nil {
		return nil, err
	}
	h.update, err = db.PrepareContext(ctx, `UPDATE keys SET status = 'done', result = ?2, updated_at = ?3 WHERE key = ?1 AND status = 'running'`)
	return h, err
}

func (h *liteHand) close() error { return h.db.Close() }

func (h *liteHand) do(ctx context.Context, name string) error {
	return byHand(ctx, name, h.claim, h.done)
}

func (h *liteHand) claim(ctx context.Context, key string, payload []byte) error {
	return oneRow(h.insert.ExecContext(ctx, key, payload, time.Now().UnixMicro()))
}

func (h *liteHand) done(ctx context.Context, key string, result []byte) error {
	return oneRow(h.update.ExecContext(ctx, key, result, time.Now().UnixMicro()))
}

// byHand is what people write around the two statements.
func byHand(ctx context.Context, name string, claim, done func(ctx context.Context, key string, body []byte) error) error {
	key := fmt.Sprintf("job:v1:%s", name)
	payload, err := json.Marshal(job{name})
	if err != nil {
		return err
	}
	if err := claim(ctx, key, payload); err != nil {
		return err
	}
	result, err := json.Marshal(handle(name))
	if err != nil {
		return err
	}
	return done(ctx, key, result)
}

func oneRow(result sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(errTaken, err)
	}
	return nil
}

// liteBatched makes the statements of liteHand in a loop.
type liteBatched struct {
	hand *liteHand
	loop *loop[statement]
}

// statement is a claim or a completion.
type statement struct {
	claim bool
	key   string
	body  []byte
}

func openLiteBatched(ctx context.Context, path string) (*liteBatched, error) {
	hand, err := openLiteHand(ctx, path, 1)
	if err != nil {
		return nil, err
	}
	return &liteBatched{hand, newLoop(func(batch []statement) error {
		tx, err := hand.db.Begin()
		if err != nil {
			return err
		}
		insert, update := tx.Stmt(hand.insert), tx.Stmt(hand.update)
		now := time.Now().UnixMicro()
		for _, s := range batch {
			stmt := update
			if s.claim {
				stmt = insert
			}
			if err := oneRow(stmt.Exec(s.key, s.body, now)); err != nil {
				return errors.Join(err, tx.Rollback())
			}
		}
		return tx.Commit()
	})}, nil
}

func (b *liteBatched) do(ctx context.Context, name string) error {
	return byHand(ctx, name,
		func(_ context.Context, key string, body []byte) error { return b.loop.do(statement{true, key, body}) },
		func(_ context.Context, key string, body []byte) error { return b.loop.do(statement{false, key, body}) })
}

func (b *liteBatched) close() error {
	b.loop.close()
	return b.hand.close()
}
