package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	idem "github.com/idemgen/idem/runtime"
)

// session is the transaction of InTx as its function sees it.
type session struct {
	w  *writer
	tx *sql.Tx // nil within a batch
	// broken is why the transaction must not be committed, whatever fn returns.
	broken error
}

func (s *session) Tx() *sql.Tx { return s.tx }

func (s *session) Claim(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	claimed, err := s.w.claimLatest(ctx, c)
	return claimed, s.w.store.wrap(ctx, "claim", err)
}

func (s *session) WriteEffect(ctx context.Context, e idem.EffectWrite) (idem.EffectWritten, error) {
	written, err := s.w.writeEffect(ctx, e)
	return written, s.w.store.wrap(ctx, "effect", err)
}

func (s *session) End(ctx context.Context, e idem.End) (idem.Ended, error) {
	ended, err := s.w.end(ctx, e)
	return ended, s.w.store.wrap(ctx, "end", err)
}

func (s *session) Renew(ctx context.Context, leases []idem.Lease) ([]idem.Renewal, error) {
	renewals, err := s.w.renew(ctx, leases)
	return renewals, s.w.store.wrap(ctx, "renew", err)
}

// Savepoint undoes what fn wrote if it fails: see [idem.Session].
func (s *session) Savepoint(ctx context.Context, fn func(ctx context.Context) error) error {
	// A name can be used again inside itself: SQLite takes the innermost.
	if _, err := s.w.execText(ctx, `SAVEPOINT idem`); err != nil {
		return s.w.store.wrap(ctx, "savepoint", err)
	}
	returned := false
	defer func() {
		if !returned { // a panic, which goes on
			s.undo(ctx)
		}
	}()
	err := fn(ctx)
	returned = true
	if err != nil {
		s.undo(ctx)
		return err
	}
	if _, err := s.w.execText(ctx, `RELEASE idem`); err != nil {
		s.broken = fmt.Errorf("savepoint: %w", err)
		return s.w.store.wrap(ctx, "savepoint", err)
	}
	return nil
}

// undo must happen even if ctx has ended. What cannot be undone must not be
// committed: InTx then fails, whatever its function returns.
func (s *session) undo(ctx context.Context) {
	if _, err := s.w.execText(context.WithoutCancel(ctx), `ROLLBACK TO idem; RELEASE idem`); err != nil {
		s.broken = fmt.Errorf("undoing a savepoint: %w", err)
	}
}
