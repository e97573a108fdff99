package invoicing

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

// Config is what the program is started with.
type Config struct {
	Listen              string // such as 127.0.0.1:8080
	Database            string // the SQLite file, which is made if it is not there
	Payments, CRM, Chat string // addresses of the services
	Secret              []byte // of the webhook's signatures
}

// callTimeout is how long a service may take to answer. After it nobody knows
// whether the call worked.
const callTimeout = 10 * time.Second

// Serve runs the program until ctx ends, and then finishes what it has begun.
// listening is told the address once requests are answered; it may be nil.
func Serve(ctx context.Context, config Config, listening func(net.Addr)) (err error) {
	db, ledger, err := Open(ctx, config.Database)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, ledger.Close(ctx), db.Close())
	}()
	client := &http.Client{Timeout: callTimeout}
	contracts := New(ledger, &Orders{
		Payments: API{URL: config.Payments, Client: client},
		CRM:      API{URL: config.CRM, Client: client},
		Chat:     API{URL: config.Chat, Client: client},
	})
	listener, err := net.Listen("tcp", config.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", config.Listen, err)
	}
	server := &http.Server{Handler: NewHandler(contracts, config.Secret), ReadHeaderTimeout: 5 * time.Second}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { stopped <- server.Shutdown(context.WithoutCancel(ctx)) })
	defer stop()
	if listening != nil {
		listening(listener.Addr())
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return <-stopped
}

// schema is this program's own table. A real one would also make reference
// unique; without, the tests can see that it is not needed.
const schema = `create table if not exists invoice_drafts (
	id        integer primary key,
	reference text    not null,
	minor     integer not null,
	currency  text    not null
) strict`

// Open opens the program's database and, in the same file, its ledger.
func Open(ctx context.Context, path string, opts ...sqlite.Option) (*sql.DB, *idem.Ledger[*sql.Tx], error) {
	db, store, err := open(ctx, path, opts...)
	if err != nil {
		return nil, nil, err
	}
	return db, idem.NewLedger(store), nil
}

func open(ctx context.Context, path string, opts ...sqlite.Option) (*sql.DB, *sqlite.Store, error) {
	if err := sqlite.Migrate(ctx, path); err != nil {
		return nil, nil, err
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, nil, err
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("tables of %s: %w", path, err), db.Close())
	}
	store, err := sqlite.OpenDB(ctx, db, opts...)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, store, nil
}
