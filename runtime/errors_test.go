package idem_test

import (
	"errors"
	"fmt"
	"testing"

	idem "github.com/idemgen/idem/runtime"
)

func TestAnErrorNamesItsWorkAndItsReasonOnce(t *testing.T) {
	id, other := idem.HashWorkID([]byte("order_paid:v1:1")), idem.HashWorkID([]byte("order_paid:v1:2"))
	failed := func(id idem.WorkID) error {
		return &idem.Error{Reason: idem.ErrEffectFailed, Kind: "order_paid", ID: id, Effect: "charge", Cause: errors.New("status 500")}
	}
	short, shortOther := id.String()[:12], other.String()[:12]
	cases := []struct {
		cause error
		want  string
	}{
		{failed(id), "order_paid " + short + ": the work is dead: charge: the effect failed: status 500"},
		{fmt.Errorf("charge %d: %w", 1, failed(id)), "order_paid " + short + ": the work is dead: charge 1: charge: the effect failed: status 500"},
		{failed(other), "order_paid " + short + ": the work is dead: order_paid " + shortOther + ": charge: the effect failed: status 500"},
		{nil, "order_paid " + short + ": the work is dead"},
		{&idem.Error{Reason: idem.ErrDead, Kind: "order_paid", ID: id, Effect: "ship", Cause: errors.New("status 410")},
			"order_paid " + short + ": ship: the work is dead: status 410"},
	}
	for _, c := range cases {
		err := &idem.Error{Reason: idem.ErrDead, Kind: "order_paid", ID: id, Cause: c.cause}
		if err.Error() != c.want {
			t.Errorf("got  %s\nwant %s", err, c.want)
		}
	}
}
