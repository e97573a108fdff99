package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	idem "github.com/idemgen/idem/runtime"
)

// SQLSTATEs, as PostgreSQL's appendix A names them.
const (
	stateSerializationFailure = "40001"
	stateDeadlockDetected     = "40P01"
	stateQueryCanceled        = "57014"
	stateActiveTransaction    = "25001"
	stateReadOnly             = "25006"
)

// wrap gives an error of the database its place among the ledger's errors. The
// cause stays reachable for errors.As, the SQLSTATE with it.
func (s *Store) wrap(ctx context.Context, what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, idem.ErrLeaseLost), errors.Is(err, idem.ErrSuperseded), errors.Is(err, idem.ErrInTransaction), errors.Is(err, errInvalid):
		return fmt.Errorf("postgres: %s: %w", what, err)
	case s.closed.Load():
		return fmt.Errorf("postgres: %s: %w", what, idem.ErrClosed)
	}
	return wrapDB(ctx, what, err)
}

// wrapDB is wrap for the time before there is a store.
func wrapDB(ctx context.Context, what string, err error) error {
	if endedByContext(ctx, err) {
		// Without ErrLedger: the ledger did nothing wrong.
		if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
			return fmt.Errorf("postgres: %s: %w: %w", what, ctx.Err(), cause)
		}
		return fmt.Errorf("postgres: %s: %w", what, ctx.Err())
	}
	return fmt.Errorf("postgres: %s: %w: %w", what, idem.ErrLedger, err)
}

// endedByContext reports whether err is how the end of ctx shows: as itself, as a
// connection that ran into its deadline or was closed, or as a query that the
// server was asked to give up.
func endedByContext(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || pgconn.Timeout(err) || errors.Is(err, pgx.ErrTxClosed) ||
		hasState(err, stateQueryCanceled) || !isServerError(err))
}

func hasState(err error, states ...string) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	for _, state := range states {
		if e.Code == state {
			return true
		}
	}
	return false
}

// isServerError: the server has answered, so that its connection was there.
func isServerError(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e)
}

// errInvalid marks a request that no state of the ledger could satisfy.
var errInvalid = errors.New("invalid request")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errInvalid, fmt.Sprintf(format, args...))
}
