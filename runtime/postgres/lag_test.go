package postgres_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
)

func TestOnlyWhatMayLagLeavesTheDiskToTheNextWrite(t *testing.T) {
	pool := newPool(t)
	s := openStore(t, pool)
	_, err := pool.Exec(t.Context(), `create table noted (n serial, synchronous text);
		create function note() returns trigger language plpgsql as $$
			begin insert into noted (synchronous) values (current_setting('synchronous_commit')); return null; end $$;
		create trigger note after insert or update on idem.work_log for each row execute function note();
		create trigger note after insert or update on idem.effect_log for each row execute function note()`)
	if err != nil {
		t.Fatal(err)
	}
	claim := idem.Claim{
		Fence: idem.Fence{ID: idem.HashWorkID([]byte("one")), Token: idem.Token{1}}, Kind: "order", Version: 1,
		Lease: time.Minute, Budget: 2, Window: idem.For(time.Hour), MayLag: true,
	}
	effect := idem.EffectWrite{
		Fence: claim.Fence, EffectID: idem.EffectID{Name: "charge"}, Guard: idem.GuardIdempotencyKey,
		State: idem.EffectStarted, Key: "key", Live: true, Restart: true,
	}
	finished := effect
	finished.State, finished.Live, finished.Restart, finished.MayLag = idem.EffectDone, false, false, true
	read := finished
	read.Name, read.Guard, read.MayLag = "price", idem.GuardRead, false
	strict := claim
	strict.ID, strict.Token, strict.MayLag = idem.HashWorkID([]byte("two")), idem.Token{2}, false
	for _, step := range []func() error{
		func() error { _, err := s.Claim(t.Context(), claim); return err },
		func() error { _, err := s.WriteEffect(t.Context(), effect); return err },
		func() error { _, err := s.WriteEffect(t.Context(), finished); return err },
		func() error { _, err := s.WriteEffect(t.Context(), read); return err },
		func() error {
			_, err := s.End(t.Context(), idem.End{Fence: claim.Fence, State: idem.StateDone, Window: idem.For(time.Hour)})
			return err
		},
		func() error { _, err := s.Claim(t.Context(), strict); return err },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := pool.Query(t.Context(), `select synchronous from noted order by n`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"off", "on", "off", "on", "on", "on"}; !slices.Equal(got, want) {
		t.Errorf("claim, start, result, a read's answer, end and a claim that may not lag were committed with synchronous_commit %q, want %q", got, want)
	}
}
