// Package gone has generated code with another effect.
package gone

import "context"

type Effects interface {
	Charge(ctx context.Context, total int) (string, error)
	CRMID(ctx context.Context, customer string) (string, error)
}

type Desk struct{}

func NewDesk() *Desk { return nil }

func (d *Desk) Pay(ctx context.Context, effects Effects, total int) (string, error) { // want `Effects has no method any more for what generated code calls mail \(run idemgen\)`
	return effects.Charge(ctx, total)
}
