// Package edited has generated code that was changed.
package edited

import "context"

type Effects interface {
	Charge(ctx context.Context, total int) (string, error)
	CRMID(ctx context.Context, customer string) (string, error)
}

type Desk struct{}

func NewDesk() *Desk { return nil }

func (d *Desk) Pay(ctx context.Context, effects Effects, total int) (string, error) { // want `pay_idem.go was changed after it was generated \(change the contract instead, and run idemgen\)`
	return effects.Charge(ctx, total)
}
