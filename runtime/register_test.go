package idem_test

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"sync"
	"testing"

	idem "github.com/idemgen/idem/runtime"
)

func succeed(context.Context, *idem.Run, order) (receipt, error) { return receipt{Ref: "r"}, nil }

// of is a contract of a module, with an identity of that digest.
func of(module, digest string) idem.Spec[order, receipt] {
	s := spec(succeed)
	s.Module, s.Digest = module, digest
	return s
}

func TestAKindOfAnotherContractIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		module, digest string
		wants          []string
	}{
		"another module": {"example.com/other", "d1", []string{
			"order: the kind and version belong to another contract: version 1 belongs to module example.com/shop with identity d1 since 20",
			"and this is module example.com/other with identity d1: give one of the two another kind or a ledger of its own"}},
		"another identity": {"example.com/shop", "d2", []string{
			"and this is module example.com/shop with identity d2: raise the version if the identity was meant to change"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if _, err := idem.Define(w.ledger, of("example.com/shop", "d1")).Do(t.Context(), order{ID: "1"}); err != nil {
				t.Fatal(err)
			}
			second := w.open()
			c := idem.Define(second, of(test.module, test.digest))
			_, err := c.Do(t.Context(), order{ID: "1"}) // which is done
			e := wantIs(t, err, idem.ErrKindTaken)
			if idem.ShouldAck(err) {
				t.Error("work that is another program's may be acknowledged")
			}
			if e.ID.IsZero() {
				t.Error("the error does not say which work was turned away")
			}
			registering := second.Register(t.Context())
			wantIs(t, registering, idem.ErrKindTaken)
			for _, want := range test.wants {
				if !strings.Contains(registering.Error(), want) {
					t.Errorf("error is\n%v\nwant\n%s", registering, want)
				}
			}
			if _, err := c.Do(t.Context(), order{ID: "2"}); err == nil {
				t.Fatal("new work was done")
			}
			if n := w.rows(`select count(*) from work_log`); n != 1 {
				t.Errorf("%d pieces of work, want the first program's one", n)
			}
			// A person settles it, and no program has to be started again.
			w.exec(`update contract_log set module = ?, digest = ?`, test.module, test.digest)
			if _, err := c.Do(t.Context(), order{ID: "2"}); err != nil {
				t.Errorf("after it was settled: %v", err)
			}
		})
	}
}

func TestOneContractOfTwoIsNoReasonToRefuseTheOther(t *testing.T) {
	w := newWorld(t)
	if _, err := idem.Define(w.ledger, of("example.com/shop", "d1")).Do(t.Context(), order{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	second := w.open()
	refund := of("example.com/other", "d9")
	refund.Kind = "refund"
	mine, taken := idem.Define(second, refund), idem.Define(second, of("example.com/other", "d9"))
	if _, err := mine.Do(t.Context(), order{ID: "8"}); err != nil {
		t.Errorf("the contract that nobody else has: %v", err)
	}
	_, err := taken.Do(t.Context(), order{ID: "9"})
	wantIs(t, err, idem.ErrKindTaken)
}

func TestProgramsOfOneModuleShareTheirKinds(t *testing.T) {
	w := newWorld(t)
	ledgers := []*idem.Ledger[*sql.Tx]{w.ledger, w.open(), w.open()}
	var wg sync.WaitGroup
	for _, l := range ledgers {
		wg.Go(func() {
			idem.Define(l, of("example.com/shop", "d1"))
			idem.Define(l, of("example.com/shop", "d1")) // made twice, as tests do
			if err := l.Register(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := w.rows(`select count(*) from contract_log where kind = 'order' and version = 1 and module = 'example.com/shop' and digest = 'd1'`); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}

// counting is a store that counts how often it is asked to register, and cannot
// the first times.
type counting struct {
	idem.Store[*sql.Tx]
	calls, fails int
}

func (c *counting) Register(ctx context.Context, list []idem.Registration) ([]idem.Registration, error) {
	if c.calls++; c.calls <= c.fails {
		return nil, errBoom
	}
	return c.Store.Register(ctx, list)
}

func TestALedgerIsAskedOnceForAllContracts(t *testing.T) {
	w := newWorld(t)
	store := &counting{Store: w.store}
	ledger := idem.NewLedger[*sql.Tx](store)
	var contracts []idem.Contract[order, receipt]
	for _, kind := range []string{"order", "refund", "parcel"} {
		s := of("example.com/shop", "d1")
		s.Kind = kind
		contracts = append(contracts, idem.Define(ledger, s))
	}
	for _, id := range []string{"1", "1", "2"} {
		for i, c := range contracts {
			if _, err := c.Do(t.Context(), order{ID: id + strconv.Itoa(i)}); err != nil {
				t.Error(err)
			}
		}
	}
	if store.calls != 1 {
		t.Errorf("the ledger was asked %d times, want once", store.calls)
	}
}

func TestNothingIsClaimedThatCannotBeRegistered(t *testing.T) {
	w := newWorld(t)
	ledger := idem.NewLedger[*sql.Tx](&counting{Store: w.store, fails: 3})
	c := idem.Define(ledger, of("example.com/shop", "d1"))
	_, err := c.Do(t.Context(), order{ID: "1"})
	wantIs(t, err, idem.ErrLedger)
	if n := w.rows(`select count(*) from work_log`); n != 0 {
		t.Error("the work was claimed all the same")
	}
	if _, err := c.Do(t.Context(), order{ID: "1"}); err != nil {
		t.Errorf("when the ledger is back: %v", err)
	}
}

func TestRegisteringEndsWithItsContextAndItsLedger(t *testing.T) {
	w := newWorld(t)
	idem.Define(w.ledger, of("example.com/shop", "d1"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantIs(t, w.ledger.Register(ctx), idem.ErrLedger)
	if err := w.ledger.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantIs(t, w.ledger.Register(t.Context()), idem.ErrClosed)
}
