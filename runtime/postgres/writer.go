package postgres

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/internal/ledgersql"
)

// A writer makes the ledger's writes in a transaction that somebody else opened
// and will commit. Locks are taken in one order: names, work, children, the kinds
// that others wait for, series, messages.
type writer struct {
	store *Store
	tx    pgx.Tx
	// lasting: the application's own writes come between these and the commit.
	lasting bool
}

// call is one statement of several that are sent together.
type call struct {
	text string
	args []any
}

// execAll sends statements in one round trip.
func (w *writer) execAll(ctx context.Context, calls ...call) error {
	if len(calls) == 0 {
		return nil
	}
	if len(calls) == 1 {
		_, err := w.tx.Exec(ctx, calls[0].text, calls[0].args...)
		return err
	}
	b := &pgx.Batch{}
	for _, c := range calls {
		b.Queue(c.text, c.args...)
	}
	return w.tx.SendBatch(ctx, b).Close()
}

// queryRowAfter sends statements, and one with a row behind them, in one round trip.
func (w *writer) queryRowAfter(ctx context.Context, before []call, last call, scan func(row scanner) error) (err error) {
	b := &pgx.Batch{}
	for _, c := range append(before, last) {
		b.Queue(c.text, c.args...)
	}
	results := w.tx.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, results.Close()) }()
	for range before {
		if _, err := results.Exec(); err != nil {
			return err
		}
	}
	return scan(results.QueryRow())
}

// writeEffect moves an effect, and its message with it. The fence comes first, so
// that nobody takes the work over meanwhile.
func (w *writer) writeEffect(ctx context.Context, e idem.EffectWrite) (idem.EffectWritten, error) {
	if e.Message != nil && e.Message.TTL <= 0 {
		return idem.EffectWritten{}, invalid("a message is remembered for %v, it must be over zero", e.Message.TTL)
	}
	fence := call{w.store.stmts.lockFence, []any{e.ID.String(), e.Token[:], e.Live}}
	starts := e.Message != nil && e.State == idem.EffectStarted
	marked := e.Live && !e.Mark.IsZero()
	if !starts && !marked {
		startedAt, err := w.moveEffect(ctx, []call{fence}, e)
		if err == nil && e.Message != nil {
			err = w.settleMessage(ctx, e)
		}
		return written(startedAt, err)
	}
	var held bool
	err := w.tx.QueryRow(ctx, fence.text, fence.args...).Scan(&held)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return idem.EffectWritten{}, err
	}
	if marked {
		if err := w.notNewer(ctx, e.Mark); err != nil {
			return idem.EffectWritten{}, err
		}
	}
	if !held {
		return idem.EffectWritten{}, idem.ErrLeaseLost
	}
	if starts {
		taken, err := w.claimMessage(ctx, e)
		if err != nil || taken != nil {
			return idem.EffectWritten{Taken: taken}, err
		}
	}
	startedAt, err := w.moveEffect(ctx, nil, e)
	if err == nil && e.Message != nil {
		err = w.settleMessage(ctx, e)
	}
	return written(startedAt, err)
}

func written(startedAt time.Time, err error) (idem.EffectWritten, error) {
	if err != nil {
		return idem.EffectWritten{}, err
	}
	return idem.EffectWritten{StartedAt: startedAt}, nil
}

// moveEffect writes an effect's row, after the statements that come before it.
func (w *writer) moveEffect(ctx context.Context, before []call, e idem.EffectWrite) (startedAt time.Time, err error) {
	write := call{w.store.stmts.writeEffect, append(moveArgs(&e), e.Restart)}
	err = w.queryRowAfter(ctx, before, write, func(row scanner) error { return row.Scan(&startedAt) })
	if errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, idem.ErrLeaseLost
	}
	return startedAt.UTC(), err
}

// moveArgs are what the statements read that move one effect.
func moveArgs(e *idem.EffectWrite) []any {
	return []any{
		e.ID.String(), e.Token[:], e.Name, e.Per, string(e.Guard), string(e.State), e.Key, e.Epoch, storeHash(e.PayloadHash),
		e.Input.Codec, storeBody(e.Input), e.Result.Codec, storeBody(e.Result), ledgersql.CleanText(e.ExternalRef),
		e.Live, toMicros(e.VisibleAfter), ledgersql.CleanError(e.Error), e.PayloadShape, e.Calls,
	}
}

// expiry is how long a window lasts, in microseconds; nil stands for ever.
func expiry(w idem.Window) (any, error) {
	window, forever := w.Duration()
	switch {
	case forever:
		return nil, nil
	case window <= 0:
		return nil, invalid("the window is %v, it must be over zero or for ever", window)
	}
	return toMicros(window), nil
}

func (w *writer) end(ctx context.Context, e idem.End) (ended idem.Ended, err error) {
	var retryIn, expires any
	var until, newer string
	outcome := string(e.State)
	switch e.State {
	case idem.StateFailed:
		retryIn = toMicros(e.RetryIn)
	case idem.StateDone, idem.StateDead:
		if expires, err = expiry(e.Window); err != nil {
			return idem.Ended{}, err
		}
		until = e.Window.UntilSuccessOf()
	case idem.StateUnknown:
	default:
		return idem.Ended{}, invalid("work cannot end as %q", e.State)
	}
	if !e.SupersededBy.IsZero() {
		if e.State != idem.StateDone {
			return idem.Ended{}, invalid("work that is superseded is done, and cannot end as %q", e.State)
		}
		newer, outcome = e.SupersededBy.String(), "superseded"
	}
	refund := 0
	if e.Refund {
		refund, outcome = 1, "released"
	}
	var watched bool
	var next *time.Time
	err = w.tx.QueryRow(ctx, w.store.stmts.end,
		e.ID.String(), e.Token[:], string(e.State), e.Result.Codec, storeBody(e.Result), ledgersql.CleanText(e.ExternalRef),
		string(e.Class), ledgersql.CleanError(e.Error), retryIn, expires, refund, until, newer, outcome,
	).Scan(&next, &watched)
	if errors.Is(err, pgx.ErrNoRows) {
		return idem.Ended{}, idem.ErrLeaseLost
	}
	if err != nil {
		return idem.Ended{}, err
	}
	ended.NextAttemptAt = loadTime(next)
	return ended, w.remember(ctx, e, watched)
}

func (w *writer) keyCheck(ctx context.Context, mine idem.Hash) (known idem.Hash, err error) {
	if _, err := w.tx.Exec(ctx, w.store.stmts.setKeyCheck, mine[:]); err != nil {
		return idem.Hash{}, err
	}
	var check []byte
	if err := w.tx.QueryRow(ctx, w.store.stmts.keyCheck).Scan(&check); err != nil {
		return idem.Hash{}, err
	}
	copy(known[:], check)
	return known, nil
}

func (w *writer) renew(ctx context.Context, leases []idem.Lease) ([]idem.Renewal, error) {
	ids, tokens, micros := leaseLists(leases)
	rows, err := w.tx.Query(ctx, w.store.stmts.renew, ids, tokens, micros)
	if err != nil {
		return nil, err
	}
	renewed := make(map[[2]string]bool, len(ids)) // of the fences that hold
	var id, token string
	var done bool
	_, err = pgx.ForEachRow(rows, []any{&id, &token, &done}, func() error {
		renewed[[2]string{id, token}] = done
		return nil
	})
	if err != nil {
		return nil, err
	}
	renewals := make([]idem.Renewal, len(leases))
	for i, lease := range leases {
		switch done, held := renewed[[2]string{lease.ID.String(), hex.EncodeToString(lease.Token[:])}]; {
		case done:
			renewals[i] = idem.Renewed
		case held:
			renewals[i] = idem.RenewalUnknown
		default:
			renewals[i] = idem.LeaseLost
		}
	}
	return renewals, nil
}

// leaseLists are what renewSQL reads. A fence that is there twice gets the longer
// of its terms: the statement would take either.
func leaseLists(leases []idem.Lease) (ids, tokens []string, micros []int64) {
	longest := make(map[idem.Fence]int64, len(leases))
	for _, l := range leases {
		longest[l.Fence] = max(longest[l.Fence], toMicros(l.For))
	}
	for f, m := range longest {
		ids, tokens, micros = append(ids, f.ID.String()), append(tokens, hex.EncodeToString(f.Token[:])), append(micros, m)
	}
	return ids, tokens, micros
}

func (w *writer) register(ctx context.Context, contracts []idem.Registration) ([]idem.Registration, error) {
	rows := make([]idem.Registration, len(contracts))
	order := make([]int, 0, len(contracts))
	for i, c := range contracts {
		if c.Kind == "" || c.Version < 1 {
			return nil, invalid("a contract is registered by its kind and version, not as %q, %d", c.Kind, c.Version)
		}
		order = append(order, i)
	}
	// In one order whatever the program's is, or two would wait for each other.
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(contracts[a].Kind, contracts[b].Kind), cmp.Compare(contracts[a].Version, contracts[b].Version))
	})
	for _, i := range order {
		c := contracts[i]
		if _, err := w.tx.Exec(ctx, w.store.stmts.register, c.Kind, c.Version, c.Digest, c.Module); err != nil {
			return nil, err
		}
		row := idem.Registration{Kind: c.Kind, Version: c.Version}
		if err := w.tx.QueryRow(ctx, w.store.stmts.registered, c.Kind, c.Version).Scan(&row.Digest, &row.Module, &row.FirstSeen); err != nil {
			return nil, fmt.Errorf("contract_log: %w", err)
		}
		row.FirstSeen = row.FirstSeen.UTC()
		rows[i] = row
	}
	return rows, nil
}
