// Package unnamed has generated code without its contracts.
package unnamed

import "context"

type Effects interface {
	Charge(ctx context.Context, total int) (string, error)
	CRMID(ctx context.Context, customer string) (string, error)
}

type Desk struct{}

func NewDesk() *Desk { return nil } // want `pay_idem.go was changed after it was generated`

func (d *Desk) Pay(ctx context.Context, effects Effects, total int) (string, error) {
	return effects.Charge(ctx, total)
}
