package torture

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx of database/sql, for the audit

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

func migratePostgres(ctx context.Context, at string) error {
	pool, err := pgxpool.New(ctx, at)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := postgres.Migrate(ctx, pool); err != nil {
		return err
	}
	tx, err := pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // of no consequence after a commit
	// IF NOT EXISTS fails for one of two who do it at once.
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(1)`); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, draftsTable); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func openPostgres(ctx context.Context, t target, c client) (*opened, error) {
	pool, err := pgxpool.New(ctx, t.Postgres)
	if err != nil {
		return nil, err
	}
	store, err := postgres.Open(ctx, pool)
	if err != nil {
		pool.Close()
		return nil, err
	}
	options, err := t.codecs()
	if err != nil {
		defer pool.Close()
		return nil, errors.Join(err, store.Close())
	}
	ledger := idem.NewLedger(store, options...)
	works := define(ledger, c, t.RemembersFor, func(ctx context.Context, tx pgx.Tx, d draft) error {
		_, err := tx.Exec(ctx, `INSERT INTO drafts VALUES ($1, $2, $3, $4, $5)`, d.kind, d.subject, d.effect, d.key, d.price)
		return err
	})
	return openLedger(ledger, store, works, pool.Close), nil
}

// postgresHost has a ledger in a database, which victims reach directly or by a
// proxy that cuts connections.
type postgresHost struct {
	server *pgtest.Server
	url    string
	proxy  *proxy     // or nil
	full   *smallDisk // or nil
}

func newPostgresHost(t *testing.T, r *round, server *pgtest.Server) host {
	h := &postgresHost{server: server, url: server.Database(t)}
	if r.trouble == serverCrash && !server.Own() {
		t.Skip("the server is not this test's to crash: " + pgtest.URLVariable + " is set")
	}
	if r.trouble == diskFull {
		h.full = mountSmallDisk(t, r.dir)
		h.moveTo(t, r.dir, h.full.dir)
	}
	if r.trouble == connectionCut {
		p, err := startProxy(h.url, r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.close)
		h.proxy = p
	}
	return h
}

// moveTo moves the database to a folder for the time of a test. The server must be
// able to walk there, and own it.
func (h *postgresHost) moveTo(t *testing.T, parent, dir string) {
	t.Helper()
	config, err := pgx.ParseConfig(h.server.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	socket, err := os.Stat(config.Host)
	if err != nil {
		t.Skipf("the server is on another machine, whose disk cannot be filled: %v", err)
	}
	owner := socket.Sys().(*syscall.Stat_t)
	if err := errors.Join(os.Chmod(parent, 0o711), os.Chown(dir, int(owner.Uid), int(owner.Gid))); err != nil {
		t.Fatal(err)
	}
	name := pgx.Identifier{h.name(t)}.Sanitize()
	admin := func(statements ...string) {
		conn, err := pgx.ConnectConfig(context.WithoutCancel(t.Context()), config)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close(context.WithoutCancel(t.Context()))
		for _, statement := range statements {
			if _, err := conn.Exec(context.WithoutCancel(t.Context()), statement); err != nil {
				t.Errorf("%s: %v", statement, err)
				return
			}
		}
	}
	admin(`CREATE TABLESPACE `+name+` LOCATION '`+dir+`'`, `ALTER DATABASE `+name+` SET TABLESPACE `+name)
	t.Cleanup(func() {
		admin(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '`+h.name(t)+`'`,
			`ALTER DATABASE `+name+` SET TABLESPACE pg_default`, `DROP TABLESPACE `+name)
	})
}

// name is that of the database.
func (h *postgresHost) name(t *testing.T) string {
	t.Helper()
	config, err := pgx.ParseConfig(h.url)
	if err != nil {
		t.Fatal(err)
	}
	return config.Database
}

func (h *postgresHost) target(r *round) target {
	at := h.url
	if h.proxy != nil {
		at = h.proxy.url
	}
	if r.trouble == simpleProtocol {
		at = with(at, "default_query_exec_mode", "simple_protocol")
	}
	return target{Postgres: at}
}

// with adds a parameter to a URL that was made here.
func with(at, name, value string) string {
	u, err := url.Parse(at)
	if err != nil {
		panic(err)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

func (h *postgresHost) quiet(*round) target { return target{Postgres: h.url} }

func (h *postgresHost) database(context.Context) (*sql.DB, string, error) {
	db, err := sql.Open("pgx", h.url)
	return db, "idem.", err
}

func (h *postgresHost) disturb(ctx context.Context, r *round) error {
	switch r.trouble {
	case serverCrash:
		for {
			sleep(ctx, time.Duration(100+r.draw(1000))*time.Millisecond)
			if ctx.Err() != nil {
				return nil
			}
			r.log.printf("server: crash")
			began := time.Now()
			if err := h.server.Crash(); err != nil {
				return err
			}
			r.troubles.Add(1)
			r.log.printf("server: back")
			sleep(ctx, time.Since(began)) // up for as long as it was down, at least
		}
	case backendKilled:
		return errors.Join(h.killBackends(ctx, r), h.awaitRecovery(context.WithoutCancel(ctx)))
	case diskFull:
		return h.full.fillAgainAndAgain(ctx, r)
	}
	<-ctx.Done()
	return nil
}

// killBackends kills a process of the server, whereupon the server throws out all
// others, and recovers.
func (h *postgresHost) killBackends(ctx context.Context, r *round) error {
	for {
		sleep(ctx, time.Duration(100+r.draw(1500))*time.Millisecond)
		if ctx.Err() != nil {
			return nil
		}
		pid, err := h.aBackend(ctx)
		if err != nil || pid == 0 {
			continue // the server is not back yet, or nobody is connected
		}
		r.log.printf("server: kill backend %d", pid)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
		r.troubles.Add(1)
	}
}

// awaitRecovery waits until the server takes connections again.
func (h *postgresHost) awaitRecovery(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, h.url)
		if err == nil {
			return conn.Close(ctx)
		}
		if ctx.Err() != nil {
			return err
		}
		sleep(ctx, 20*time.Millisecond)
	}
}

func (h *postgresHost) aBackend(ctx context.Context) (pid int, err error) {
	conn, err := pgx.Connect(ctx, h.url)
	if err != nil {
		return 0, err
	}
	rows, err := conn.Query(ctx, `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	if err != nil {
		return 0, errors.Join(err, conn.Close(ctx))
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err := errors.Join(err, conn.Close(ctx)); err != nil || len(pids) == 0 {
		return 0, err
	}
	return pids[rand.IntN(len(pids))], nil
}

func (h *postgresHost) check(context.Context, *sql.DB) error { return nil }

// keep writes the tables down: the database is gone with its server.
func (h *postgresHost) keep(ctx context.Context, r *round) error {
	conn, err := pgx.Connect(ctx, h.url)
	if err != nil {
		return err
	}
	for _, table := range []string{"idem.work_log", "idem.effect_log", "idem.attempt_history", "drafts"} {
		file, err := os.Create(filepath.Join(r.dir, table+".csv"))
		if err != nil {
			return err
		}
		_, err = conn.PgConn().CopyTo(ctx, file, fmt.Sprintf("COPY %s TO STDOUT WITH (FORMAT csv, HEADER)", table))
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return conn.Close(ctx)
}
