package idem_test

import (
	"context"
	"database/sql"
	"strconv"
	"sync/atomic"
	"testing"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

// readCounter counts the reads that deliveries begin with.
type readCounter struct {
	idem.Store[*sql.Tx]
	reads atomic.Int64
}

func (c *readCounter) Lookup(ctx context.Context, id idem.WorkID) (idem.Work, error) {
	c.reads.Add(1)
	return c.Store.Lookup(ctx, id)
}

func TestALedgerStopsReadingWhereAllWorkIsNewAndBeginsAgainWithTheFirstDuplicate(t *testing.T) {
	w := newWorld(t)
	store, err := sqlite.Open(t.Context(), w.path)
	if err != nil {
		t.Fatal(err)
	}
	counter := &readCounter{Store: store}
	ledger := idem.NewLedger[*sql.Tx](counter)
	defer func() {
		if err := ledger.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	handled := 0
	contract := idem.Define(ledger, spec(func(_ context.Context, _ *idem.Run, in order) (receipt, error) {
		handled++
		return receipt{Ref: in.ID}, nil
	}))
	const many = 40
	for i := range many {
		mustDo(t, contract, order{ID: strconv.Itoa(i)})
	}
	reads := counter.reads.Load()
	if reads < 8 || reads > many/2 {
		t.Errorf("%d reads for %d new works, want the first few to be read for and the rest not", reads, many)
	}
	for range 3 {
		if got := mustDo(t, contract, order{ID: "7"}); got.Value.Ref != "7" || !got.Replayed {
			t.Errorf("a duplicate was answered with %+v", got)
		}
	}
	if handled != many {
		t.Errorf("the handler ran %d times for %d works", handled, many)
	}
	if again := counter.reads.Load() - reads; again != 2 {
		t.Errorf("%d reads for three duplicates, want one for each but the first", again)
	}
}

// The claim that finds a duplicate has nothing to write.
func TestADuplicateThatIsFoundByAClaimWritesNothing(t *testing.T) {
	w := newWorld(t)
	contract := idem.Define(w.ledger, spec(func(context.Context, *idem.Run, order) (receipt, error) { return receipt{}, nil }))
	db, err := sql.Open("sqlite", w.path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	version := func() (v int64) {
		if err := db.QueryRowContext(t.Context(), `PRAGMA data_version`).Scan(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	const tries = 4
	written := 0
	for try := range tries {
		for i := range 20 {
			mustDo(t, contract, order{ID: strconv.Itoa(100*try + i)})
		}
		before := version()
		mustDo(t, contract, order{ID: "3"})
		if version() != before {
			written++
		}
	}
	if written > tries/2 { // the clock's mark moves once a second
		t.Errorf("%d of %d duplicates wrote to the file", written, tries)
	}
}
