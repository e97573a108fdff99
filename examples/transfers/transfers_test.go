package transfers_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/examples/transfers"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

var server = transfers.Server

// Of a process that is to be killed: the database's URL, and how many orders it is
// to work through.
const (
	databaseVariable = "IDEM_TRANSFERS_DATABASE"
	ordersVariable   = "IDEM_TRANSFERS_ORDERS"
)

func TestMain(m *testing.M) {
	if at := os.Getenv(databaseVariable); at != "" {
		if err := work(at); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(server.Main(m))
}

// program is the whole of it: the application's pool, the ledger on it, the
// contracts.
type program struct {
	pool   *pgxpool.Pool
	ledger *idem.Ledger[pgx.Tx]
	*transfers.Contracts
}

func start(ctx context.Context, at string) (*program, error) {
	pool, err := pgxpool.New(ctx, at)
	if err != nil {
		return nil, err
	}
	if err := postgres.Migrate(ctx, pool); err != nil {
		return nil, err
	}
	store, err := postgres.Open(ctx, pool)
	if err != nil {
		return nil, err
	}
	ledger := idem.NewLedger(store)
	return &program{pool, ledger, transfers.New(ledger, &transfers.Accounts{})}, nil
}

func (p *program) stop(ctx context.Context) error {
	err := p.ledger.Close(ctx)
	p.pool.Close()
	return err
}

// begin starts the program on a new database with two accounts.
func begin(t *testing.T) (p *program, at string) {
	t.Helper()
	at = server.Database(t)
	p, err := start(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	_, err = p.pool.Exec(t.Context(), `CREATE TABLE accounts (name text PRIMARY KEY, balance bigint NOT NULL);
		INSERT INTO accounts VALUES ('savings', 1000000), ('rent', 0)`)
	if err != nil {
		t.Fatal(err)
	}
	return p, at
}

func (p *program) want(t *testing.T, account string, want int64) {
	t.Helper()
	var got int64
	if err := p.pool.QueryRow(t.Context(), `SELECT balance FROM accounts WHERE name = $1`, account).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("%s has %d, want %d", account, got, want)
	}
}

func order(n int) transfers.Order {
	return transfers.Order{Order: strconv.Itoa(n), From: "savings", To: "rent", Amount: 100}
}

func TestAnOrderThatComesOftenAtOnceIsBookedOnce(t *testing.T) {
	p, _ := begin(t)
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			result, err := p.TransferOrdered.Do(t.Context(), order(1))
			if err != nil || result.Value.Left != 999_900 {
				t.Errorf("%+v, %v", result.Value, err)
			}
		})
	}
	wg.Wait()
	p.want(t, "rent", 100)
}

func TestWhatCannotBePaidMovesNothing(t *testing.T) {
	p, _ := begin(t)
	in := order(1)
	in.Amount = 2_000_000
	for range 2 {
		if _, err := p.TransferOrdered.Do(t.Context(), in); !errors.Is(err, idem.ErrDead) {
			t.Errorf("got %v, want ErrDead", err)
		}
	}
	p.want(t, "savings", 1_000_000)
	p.want(t, "rent", 0)
}

// work is a process: it does all orders, old ones again, in any order.
func work(at string) error {
	ctx := context.Background()
	p, err := start(ctx, at)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(os.Getenv(ordersVariable))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	var wg sync.WaitGroup
	var failed sync.Map
	for first := range 4 {
		wg.Go(func() {
			for _, i := range rand.Perm(n) {
				if i%4 != first {
					continue
				}
				if _, err := p.TransferOrdered.Do(ctx, order(i)); err != nil {
					failed.Store(i, err)
				}
			}
		})
	}
	wg.Wait()
	failed.Range(func(i, failure any) bool {
		err = errors.Join(err, fmt.Errorf("order %v: %w", i, failure.(error)))
		return true
	})
	return errors.Join(err, p.stop(ctx))
}

func TestEveryOrderIsBookedOnceHoweverOftenTheProgramIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills processes")
	}
	p, at := begin(t)
	const kills, more = 15, 40
	orders := 0
	for range kills {
		orders += more
		child := command(t, at, orders)
		time.Sleep(time.Duration(rand.IntN(80_000)) * time.Microsecond)
		if err := child.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		_ = child.Wait() // killed
	}
	if err := command(t, at, orders).Wait(); err != nil {
		t.Fatalf("the last one: %v", err)
	}
	p.want(t, "rent", int64(orders)*100)
	p.want(t, "savings", 1_000_000-int64(orders)*100)
}

// command starts a process and waits until it works.
func command(t *testing.T, at string, orders int) *exec.Cmd {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), databaseVariable+"="+at, ordersVariable+"="+strconv.Itoa(orders))
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the process says %q, %v", line, err)
	}
	return child
}
