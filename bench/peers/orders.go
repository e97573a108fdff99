// Package peers measures how much work a process gets done whose work is one call,
// with idem and with DBOS Transact.
package peers

import (
	"context"

	idem "github.com/idemgen/idem/runtime"
)

// Order is the input.
type Order struct {
	ID     string
	Amount int64
}

// Receipt is the result.
type Receipt struct{ Ref string }

// Effects is what Pay does to the world.
type Effects interface {
	Charge(ctx context.Context, in Order) (Receipt, error)
}

// Pay handles an order.
func Pay(ctx context.Context, effects Effects, in Order) (Receipt, error) {
	return effects.Charge(ctx, in)
}

// charge costs nothing, so that what is measured is the record of it.
func charge(context.Context, idem.Call, Order) (Receipt, error) { return Receipt{Ref: "pi_1"}, nil }
