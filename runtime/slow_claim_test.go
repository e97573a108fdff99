package idem_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// slowClaims answers claims late, as a database does in which somebody else has the
// work locked.
type slowClaims struct {
	idem.Store[*sql.Tx]
	by time.Duration
}

func (s slowClaims) Claim(ctx context.Context, c idem.Claim) (idem.Claimed, error) {
	time.Sleep(s.by)
	claimed, err := s.Store.Claim(ctx, c)
	return claimed, err
}

// The lease in the database begins when the claim has its lock. Counted from when it
// was sent it would be over here, and the work would lie there until it is.
func TestAClaimThatHasWaitedLongerThanItsLeaseGetsAWholeOne(t *testing.T) {
	w := newWorld(t)
	s := spec(one(idem.Once(w.effect("charge"), idem.Ask)))
	s.Lease = 300 * time.Millisecond
	ledger := idem.NewLedger[*sql.Tx](slowClaims{w.store, s.Lease + s.Lease/2})
	result, err := idem.Define(ledger, s).Do(t.Context(), order{ID: "1"})
	if err != nil || result.Attempt != 1 {
		t.Errorf("%+v, %v", result, err)
	}
	w.wantCalls(1)
}
