package idem_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

// doMany does n pieces of work, each with an effect.
func (w *world) doMany(contract idem.Contract[order, receipt], n int) {
	w.t.Helper()
	for i := range n {
		if _, err := contract.Do(w.t.Context(), order{ID: strconv.Itoa(i)}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestAPurgeDeletesWhatIsForgottenAndNothingElse(t *testing.T) {
	w := newWorld(t)
	contract := idem.Define(w.ledger, spec(one(idem.Once(w.effect("charge"), idem.Ask))))
	w.doMany(contract, 40)
	w.clock.advance(24 * time.Hour)
	if _, err := contract.Do(t.Context(), order{ID: "remembered"}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ most, want int }{{15, 15}, {0, 25}, {0, 0}, {-1, 0}} {
		purged, err := w.ledger.Purge(t.Context(), step.most)
		if err != nil {
			t.Fatal(err)
		}
		if want := (idem.Purged{Work: step.want, Effects: step.want, Attempts: step.want}); purged != want {
			t.Errorf("a purge of at most %d deleted %+v, want %+v", step.most, purged, want)
		}
	}
	if left := w.rows(`SELECT (SELECT count(*) FROM work_log) + (SELECT count(*) FROM effect_log) + (SELECT count(*) FROM attempt_log)`); left != 3 {
		t.Errorf("%d rows are left, want those of the one work that is remembered", left)
	}
	for _, in := range []order{{ID: "remembered"}, {ID: "3"}} {
		result, err := contract.Do(t.Context(), in)
		if err != nil || result.Replayed != (in.ID == "remembered") {
			t.Errorf("%s after the purge: replayed %t, %v", in.ID, result.Replayed, err)
		}
	}
	w.wantCalls(42)
}

func TestAPurgeStopsWithItsContext(t *testing.T) {
	w := newWorld(t)
	w.doMany(idem.Define(w.ledger, spec(one(idem.Once(w.effect("charge"), idem.Ask)))), 40)
	w.clock.advance(24 * time.Hour)
	why := errors.New("maintenance is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	ledger := idem.NewLedger(&interrupted{Store: w.store, after: func() { cancel(why) }})
	purged, err := ledger.Purge(ctx, 0)
	if !errors.Is(err, why) || purged.Work == 0 || purged.Work == 40 {
		t.Errorf("deleted %d works of 40, %v; want some, and why it stopped", purged.Work, err)
	}
	if left := w.rows(`SELECT count(*) FROM work_log`); left != 40-purged.Work {
		t.Errorf("%d works are left of 40, and %d are said to be deleted", left, purged.Work)
	}
}

// interrupted calls after when the first batch is deleted.
type interrupted struct {
	*sqlite.Store
	after func()
}

func (s *interrupted) Purge(ctx context.Context, ids []idem.WorkID) (idem.Purged, error) {
	defer s.after()
	return s.Store.Purge(ctx, ids)
}

func TestAClosedLedgerPurgesNothing(t *testing.T) {
	w := newWorld(t)
	if err := w.ledger.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ledger.Purge(t.Context(), 0); !errors.Is(err, idem.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}
