package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/internal/ledgersql"
)

// What the ledger remembers of work beyond its row: the newest of the works about
// one thing, when a kind last succeeded that others wait for, and what was sent.

// notNewer is a NewerWork if one is remembered as done. In a transaction with the
// application's writes that has to hold until the commit, and the series is
// locked, whether or not anybody has raised it yet.
func (w *writer) notNewer(ctx context.Context, mark idem.Mark) error {
	var before []call
	if w.lasting {
		before = []call{
			{w.store.stmts.nameShared, []any{seriesLock(mark.Series)}},
			{w.store.stmts.enterSeries, []any{mark.Series[:], int64(math.MinInt64), ""}},
			{w.store.stmts.lockSeries, []any{mark.Series[:]}},
		}
	}
	var id string
	err := w.queryRowAfter(ctx, before, call{w.store.stmts.newer, []any{mark.Series[:], mark.By}}, func(row scanner) error { return row.Scan(&id) })
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	newer, err := idem.ParseWorkID(id)
	if err != nil {
		return fmt.Errorf("latest_log: %w", err)
	}
	return idem.NewerWork{ID: newer}
}

// remember keeps what others have to know of work that has ended. watched says
// that some work waits for a success of its kind.
func (w *writer) remember(ctx context.Context, e idem.End, watched bool) error {
	var calls []call
	ended := e.State == idem.StateDone || e.State == idem.StateDead
	if ended && e.Window.UntilSuccessOf() != "" {
		calls = append(calls, w.watch(e.ID, e.Window)...)
	}
	if e.State == idem.StateDone && e.SupersededBy.IsZero() {
		if watched {
			calls = append(calls, call{w.store.stmts.succeed, []any{e.ID.String()}})
		}
		if !e.Mark.IsZero() {
			place := []any{e.Mark.Series[:], e.Mark.By, e.ID.String()}
			calls = append(calls,
				call{w.store.stmts.nameShared, []any{seriesLock(e.Mark.Series)}},
				call{w.store.stmts.enterSeries, place},
				call{w.store.stmts.lockSeries, place[:1]},
				call{w.store.stmts.raise, place})
		}
	}
	return w.execAll(ctx, calls...)
}

// messageKey are the first parameters of each statement about a message.
func messageKey(m idem.MessageID) []any {
	return []any{ledgersql.CleanText(m.Channel), ledgersql.CleanText(m.To), m.Content[:]}
}

// claimMessage claims it, or returns the message if another effect has it.
func (w *writer) claimMessage(ctx context.Context, e idem.EffectWrite) (*idem.SentMessage, error) {
	args := append(messageKey(e.Message.MessageID), e.Key, toMicros(e.Message.TTL), e.ID.String(), e.Name, e.Per)
	var claimed bool
	err := w.tx.QueryRow(ctx, w.store.stmts.claimMessage, args...).Scan(&claimed)
	if !errors.Is(err, pgx.ErrNoRows) {
		return nil, err
	}
	// A row that was not claimed is locked all the same, and cannot go.
	return scanMessage(w.tx.QueryRow(ctx, w.store.stmts.message, args[:3]...))
}

// settleMessage makes the message go with its effect, which has moved to e.State.
func (w *writer) settleMessage(ctx context.Context, e idem.EffectWrite) error {
	args := append(messageKey(e.Message.MessageID), e.Key)
	switch e.State {
	case idem.EffectDone:
		return w.execAll(ctx, call{w.store.stmts.moveMessage, append(args, string(idem.MessageSent),
			e.Result.Codec, storeBody(e.Result), ledgersql.CleanText(e.ExternalRef), ledgersql.CleanError(e.Error), toMicros(e.Message.TTL))})
	case idem.EffectGivenUp:
		return w.execAll(ctx, call{w.store.stmts.moveMessage, append(args, string(idem.MessageGivenUp),
			idem.CodecNone, nil, "", ledgersql.CleanError(e.Error), int64(0))})
	case idem.EffectNotApplied, idem.EffectRefused:
		return w.execAll(ctx, call{w.store.stmts.dropMessage, args})
	}
	return nil
}
