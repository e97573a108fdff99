package idem_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// telling is a store whose claims tell where work stands. It counts both.
type telling struct {
	idem.Store[*sql.Tx]
	claims, looks atomic.Int64
}

func (s *telling) ClaimTells() bool { return true }

func (s *telling) Claim(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	s.claims.Add(1)
	return s.Store.Claim(ctx, c)
}

func (s *telling) Lookup(ctx context.Context, id idem.WorkID) (idem.Work, error) {
	s.looks.Add(1)
	return s.Store.Lookup(ctx, id)
}

func (s *telling) want(t *testing.T, what string, claims, looks int64) {
	t.Helper()
	if c, l := s.claims.Swap(0), s.looks.Swap(0); c != claims || l != looks {
		t.Errorf("%s was claimed %d times and looked for %d times, want %d and %d", what, c, l, claims, looks)
	}
}

func TestWhereAClaimTellsNobodyLooksFirst(t *testing.T) {
	w := newWorld(t)
	store := &telling{Store: w.store}
	ledger := idem.NewLedger[*sql.Tx](store)
	c := idem.Define(ledger, spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour))))
	first, err := c.Do(t.Context(), order{ID: "1", Amount: 5})
	if err != nil {
		t.Fatal(err)
	}
	store.want(t, "new work", 1, 0)
	second, err := c.Do(t.Context(), order{ID: "1", Amount: 5})
	if err != nil || !second.Replayed || second.Value != first.Value {
		t.Errorf("a duplicate got %+v, %v", second, err)
	}
	store.want(t, "a duplicate", 1, 0)
	if _, err := c.Do(t.Context(), order{ID: "1", Amount: 6}); !errors.Is(err, idem.ErrPayloadMismatch) {
		t.Errorf("a duplicate with another payload got %v", err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if again, err := c.Do(t.Context(), order{ID: "1", Amount: 5}); err != nil || !again.Replayed || again.Value != first.Value {
				t.Errorf("one of many duplicates got %+v, %v", again, err)
			}
		})
	}
	all.Wait()
	w.wantCalls(1)
}

// What a claim would have to encode, or could only answer by writing, is looked for.
func TestWhatAClaimCannotTellCheaplyIsLookedForFirst(t *testing.T) {
	w := newWorld(t)
	store := &telling{Store: w.store}
	ordered := spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour)))
	ordered.Latest = func(o order) (idem.Mark, error) { return idem.Mark{Series: idem.Hash{1}, By: o.Amount}, nil }
	for name, c := range map[string]idem.Contract[order, receipt]{
		"work about one thing":    idem.Define(idem.NewLedger[*sql.Tx](store), ordered),
		"a value that is encoded": idem.Define(idem.NewLedger[*sql.Tx](store, idem.WithCodecs(idem.Gzip())), spec(one(idem.IdempotencyKey(w.effect("charge"), time.Hour)))),
	} {
		if _, err := c.Do(t.Context(), order{ID: name, Amount: 5}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		store.want(t, name, 1, 1)
		if again, err := c.Do(t.Context(), order{ID: name, Amount: 5}); err != nil || !again.Replayed {
			t.Errorf("%s: a duplicate got %+v, %v", name, again, err)
		}
		store.want(t, name, 0, 1)
	}
}
