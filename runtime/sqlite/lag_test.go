package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

const (
	normal = 1
	full   = 2
)

func openForLag(t *testing.T, opts ...Option) *Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// waits is what the last transaction waited for.
func waits(t *testing.T, s *Store) (synchronous int) {
	t.Helper()
	if err := s.writer.QueryRowContext(t.Context(), `PRAGMA synchronous`).Scan(&synchronous); err != nil {
		t.Fatal(err)
	}
	return synchronous
}

func lagging(name string, mayLag bool) idem.Claim {
	return idem.Claim{
		Fence: idem.Fence{ID: idem.HashWorkID([]byte(name)), Token: idem.Token{1}}, Kind: "order", Version: 1,
		Lease: time.Minute, Budget: 1, Window: idem.For(time.Hour), MayLag: mayLag,
	}
}

func effect(f idem.Fence, state idem.EffectState, mayLag bool) idem.EffectWrite {
	return idem.EffectWrite{
		Fence: f, EffectID: idem.EffectID{Name: "charge"}, Guard: idem.GuardIdempotencyKey, State: state, Key: "key", MayLag: mayLag,
		Live: state == idem.EffectStarted, Restart: state == idem.EffectStarted,
	}
}

func TestOnlyWhatMayLagLeavesTheDiskToTheNextWrite(t *testing.T) {
	s := openForLag(t)
	claim := lagging("one", true)
	for _, step := range []struct {
		name string
		do   func() error
		want int
	}{
		{"a claim that may lag", func() error { _, err := s.Claim(t.Context(), claim); return err }, normal},
		{"the start of an effect", func() error {
			_, err := s.WriteEffect(t.Context(), effect(claim.Fence, idem.EffectStarted, false))
			return err
		}, full},
		{"its result, which may lag", func() error {
			_, err := s.WriteEffect(t.Context(), effect(claim.Fence, idem.EffectDone, true))
			return err
		}, normal},
		{"the application's transaction", func() error {
			return s.InTx(t.Context(), func(context.Context, idem.Session[*sql.Tx]) error { return nil })
		}, full},
		{"another claim that may lag", func() error { _, err := s.Claim(t.Context(), lagging("two", true)); return err }, normal},
		{"the end", func() error {
			_, err := s.End(t.Context(), idem.End{Fence: claim.Fence, State: idem.StateDone, Window: idem.For(time.Hour)})
			return err
		}, full},
		{"a claim that may not", func() error { _, err := s.Claim(t.Context(), lagging("three", false)); return err }, full},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := waits(t, s); got != step.want {
			t.Errorf("%s was committed with synchronous %d, want %d", step.name, got, step.want)
		}
	}
}

// Nobody comes back for work that is over, so that its end must not be undone.
func TestAClaimThatBuriesWorkIsDurable(t *testing.T) {
	now := time.Now()
	s := openForLag(t, WithClock(func() time.Time { return now }))
	claim := lagging("one", true)
	if _, err := s.Claim(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	claim.Token = idem.Token{2}
	claimed, err := s.Claim(t.Context(), claim)
	if err != nil || claimed.Work.State != idem.StateDead {
		t.Fatalf("work whose only attempt was abandoned is %q, %v", claimed.Work.State, err)
	}
	if got := waits(t, s); got != full {
		t.Errorf("the last transaction waited for synchronous %d, want %d", got, full)
	}
}

func TestWhoNeverWaitsForTheDiskIsNotMadeTo(t *testing.T) {
	s := openForLag(t, WithSynchronous(Normal))
	for _, mayLag := range []bool{true, false} {
		if _, err := s.Claim(t.Context(), lagging("one", mayLag)); err != nil {
			t.Fatal(err)
		}
		if got := waits(t, s); got != normal {
			t.Errorf("synchronous is %d, want %d", got, normal)
		}
	}
}

func TestAWriteThatMayLagIsSeenAtOnce(t *testing.T) {
	s := openForLag(t)
	claim := lagging("one", true)
	if _, err := s.Claim(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	work, err := s.Lookup(t.Context(), claim.ID)
	if err != nil || work.State != idem.StateRunning {
		t.Errorf("the work is %q, %v", work.State, err)
	}
}
