// Package sound is as it was generated.
package sound

import "context"

type Effects interface {
	Charge(ctx context.Context, total int) (string, error)
	CRMID(ctx context.Context, customer string) (string, error)
}

type Desk struct{}

func NewDesk() *Desk { return nil }

func (d *Desk) Pay(ctx context.Context, effects Effects, total int) (string, error) {
	return effects.Charge(ctx, total)
}
