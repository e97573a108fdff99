package torture

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// Once nobody is killed any more, work comes to its end. On a busy machine that takes
// as long as it takes, as long as there is less and less of it.
const (
	patience = time.Minute
	most     = 15 * time.Minute
)

// finish brings all work to its end: by what the ledger's rows say, by delivering
// everything again, and at last as a person would who knows what has happened. What
// was promised is looked at before that person comes and after.
func (r *round) finish() sums {
	ctx, cancel := context.WithTimeout(r.t.Context(), most)
	defer cancel()
	// In this process, which was no victim's.
	quiet := r.host.quiet(r).of(r)
	if err := quiet.migrate(ctx); err != nil {
		r.t.Fatalf("the ledger cannot be made after the kills: %v", err)
	}
	ledger, err := quiet.open(ctx, client{socket: filepath.Join(r.dir, "s")})
	if err != nil {
		r.t.Fatalf("the ledger cannot be opened after the kills: %v", err)
	}
	defer func() {
		if err := ledger.close(); err != nil {
			r.t.Error(err)
		}
	}()
	db, prefix, err := r.host.database(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	if err := r.sweep(ctx, ledger, db, prefix); err != nil {
		r.t.Fatal(err)
	}
	r.deliverAll(ctx, ledger)
	before := r.provider.calls()
	r.deliverAll(ctx, ledger)
	if after := r.provider.calls(); after != before {
		r.t.Errorf("duplicates of work that is over have made %d calls", after-before)
	}
	sums := r.audit(ctx, ledger, db, prefix, false)
	if r.t.Failed() {
		return sums
	}
	for decided := -1; decided != 0; {
		// More than once, since the provider goes wrong now and then.
		if decided, err = r.decideAll(ctx, ledger, db, prefix); err == nil {
			err = r.sweep(ctx, ledger, db, prefix)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	r.audit(ctx, ledger, db, prefix, true)
	return sums
}

// decideAll does what a person has to do: says of each unknown effect what the
// provider knows of it, and has dead work tried again.
func (r *round) decideAll(ctx context.Context, ledger *opened, db *sql.DB, prefix string) (decided int, err error) {
	r.log.printf("decide")
	rows, err := rowsOf(ctx, ledger, db, `SELECT work_id, kind, payload_codec, payload FROM `+prefix+`work_log WHERE state IN ('unknown', 'dead')`)
	if err != nil {
		return 0, err
	}
	return len(rows), r.each(rows, func(row due) error {
		for {
			err := r.decide(ctx, ledger, row)
			if !errors.Is(err, idem.ErrTooEarly) {
				return err
			}
			sleep(ctx, visibleAfter/3)
		}
	})
}

func (r *round) decide(ctx context.Context, ledger *opened, row due) error {
	seen, err := ledger.inspect(ctx, row.id)
	if err != nil {
		return err
	}
	d := idem.Decision{ID: row.id, Seen: seen.Revision(), Who: "torture", Why: "the provider knows"}
	if seen.Work.State == idem.StateDead {
		return ledger.replay(ctx, d, idem.Again{})
	}
	var outcomes []idem.Outcome
	for _, e := range seen.Open() {
		o := idem.Outcome{Effect: e.Name, Verdict: idem.VerdictNotApplied}
		if ref, applied := r.provider.ref(place{row.kind, row.in.Subject, e.Guard}); applied {
			result, err := json.Marshal(answer{Ref: ref})
			if err != nil {
				return err
			}
			o.Verdict, o.Result, o.ExternalRef = idem.VerdictApplied, result, ref
		}
		outcomes = append(outcomes, o)
	}
	resolved, err := ledger.resolve(ctx, d, outcomes...)
	if err == nil && resolved.State != idem.StateFailed {
		err = fmt.Errorf("%s %s is %s after all is decided", row.kind, row.in.Subject, resolved.State)
	}
	return err
}

// due is a row that is not at its end.
type due struct {
	id   idem.WorkID
	kind string
	in   order
}

// sweep runs whatever is due or abandoned, as the rows say, until nothing is. A
// row that it does not find, or that cannot be claimed, is stuck. Children are
// run by their parents.
func (r *round) sweep(ctx context.Context, ledger *opened, db *sql.DB, prefix string) error {
	r.log.printf("sweep")
	least, since := math.MaxInt, time.Now()
	for {
		rows, err := unfinished(ctx, ledger, db, prefix)
		if err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		if len(rows) == 0 {
			return nil
		}
		if err := r.each(rows, func(row due) error { return r.runDue(ctx, ledger, row) }); err != nil {
			return fmt.Errorf("%d rows are stuck, such as %s %s: %w", len(rows), rows[0].kind, rows[0].in.Subject, err)
		}
		if len(rows) < least {
			least, since = len(rows), time.Now()
		}
		if time.Since(since) > patience {
			return fmt.Errorf("%d rows are stuck, such as %s %s", len(rows), rows[0].kind, rows[0].in.Subject)
		}
		sleep(ctx, 20*time.Millisecond)
	}
}

func (r *round) runDue(ctx context.Context, ledger *opened, row due) error {
	work, err := ledger.standing(ctx, row.id)
	if err != nil {
		return err
	}
	isDue := work.State == idem.StateFailed && !work.NextAttemptAt.After(work.Now) ||
		work.State == idem.StateRunning && !work.LockedUntil.After(work.Now)
	if !isDue || row.kind == "child" {
		return nil
	}
	result, err := ledger.works[row.kind].do(ctx, row.in.Subject)
	settled := settlementOf(result, err)
	r.log.printf("sweep: %s %s attempt %d is %s %s", row.kind, row.in.Subject, work.Attempt, settled.Outcome, settled.Error)
	return nil
}

// each does something for all rows, several at once.
func (r *round) each(rows []due, do func(due) error) error {
	const atOnce = 8
	var mu sync.Mutex
	var failure error
	var all sync.WaitGroup
	for part := range slices.Chunk(rows, 1+len(rows)/atOnce) {
		all.Go(func() {
			for _, row := range part {
				if err := do(row); err != nil {
					mu.Lock()
					failure = errors.Join(failure, err)
					mu.Unlock()
					return
				}
			}
		})
	}
	all.Wait()
	return failure
}

// unfinished are the rows that are not at their end. A parent is, when a person has
// to decide about its child.
func unfinished(ctx context.Context, ledger *opened, db *sql.DB, prefix string) ([]due, error) {
	return rowsOf(ctx, ledger, db, strings.ReplaceAll(`SELECT work_id, kind, payload_codec, payload FROM $work_log w
		WHERE state = 'running' OR state = 'failed' AND NOT EXISTS (
			SELECT 1 FROM $effect_log e JOIN $work_log c ON c.work_id = e.effect_key
			WHERE e.work_id = w.work_id AND e.guard = 'work' AND c.state = 'unknown')`, "$", prefix))
}

func rowsOf(ctx context.Context, ledger *opened, db *sql.DB, query string) (found []due, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, kind string
		var payload idem.Body
		if err := rows.Scan(&id, &kind, &payload.Codec, &payload.Data); err != nil {
			return nil, err
		}
		row := due{kind: kind}
		if row.id, err = idem.ParseWorkID(id); err != nil {
			return nil, err
		}
		if err := ledger.decode(payload, row.id, idem.PartPayload, &row.in); err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

// deliverAll delivers everything once more, until all of it is at its end.
func (r *round) deliverAll(ctx context.Context, ledger *opened) {
	r.log.printf("deliver all again")
	var rows []due
	for p := range r.source.all() {
		rows = append(rows, due{kind: p.kind, in: order{p.subject}})
	}
	err := r.each(rows, func(row due) error {
		for {
			result, err := ledger.works[row.kind].do(ctx, row.in.Subject)
			settled := settlementOf(result, err)
			if settled.Outcome.final() {
				r.source.conclude(parcel{row.kind, row.in.Subject}, settlement{settled.Outcome, settled.Result})
				return nil
			}
			r.log.printf("%s %s again: %v", row.kind, row.in.Subject, err)
			sleep(ctx, 20*time.Millisecond)
			if ctx.Err() != nil {
				return fmt.Errorf("%s %s does not end: %w", row.kind, row.in.Subject, err)
			}
		}
	})
	if err != nil {
		r.t.Error(err)
	}
}
