package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	idem "github.com/idemgen/idem/runtime"
	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// wrap gives an error of the database its place among the ledger's errors. The
// cause stays reachable for errors.As, the SQLite code with it.
func (s *Store) wrap(ctx context.Context, what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, idem.ErrLeaseLost), errors.Is(err, idem.ErrSuperseded), errors.Is(err, idem.ErrInTransaction), errors.Is(err, errInvalid):
		return fmt.Errorf("sqlite: %s: %w", what, err)
	case s.closed.Load():
		return fmt.Errorf("sqlite: %s: %w", what, idem.ErrClosed)
	}
	return wrapDB(ctx, what, err)
}

// wrapDB is wrap for the time before there is a store.
func wrapDB(ctx context.Context, what string, err error) error {
	if endedByContext(ctx, err) {
		// Without ErrLedger: the ledger did nothing wrong.
		if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
			return fmt.Errorf("sqlite: %s: %w: %w", what, ctx.Err(), cause)
		}
		return fmt.Errorf("sqlite: %s: %w", what, ctx.Err())
	}
	return fmt.Errorf("sqlite: %s: %w: %w", what, idem.ErrLedger, err)
}

// endedByContext reports whether err is how the end of ctx shows in database/sql
// (which ends the transaction) and in SQLite (which is interrupted).
func endedByContext(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, sql.ErrTxDone) || hasCode(err, codes.SQLITE_INTERRUPT))
}

// hasCode looks at the primary code: the extended ones have it in their low byte.
func hasCode(err error, code int) bool {
	var e *driver.Error
	return errors.As(err, &e) && e.Code()&0xff == code
}

// errInvalid marks a request that no state of the ledger could satisfy.
var errInvalid = errors.New("invalid request")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errInvalid, fmt.Sprintf(format, args...))
}
