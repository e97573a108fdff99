// Package older has generated code that names no runtime.
package older

import "context"

type Effects interface {
	Charge(ctx context.Context, total int) (string, error)
	CRMID(ctx context.Context, customer string) (string, error)
}

type Desk struct{}

func NewDesk() *Desk { return nil }

func (d *Desk) Pay(ctx context.Context, effects Effects, total int) (string, error) { // want `the generated code of this package does not say which runtime it was made for: it is older than this one \(run idemgen\)`
	return effects.Charge(ctx, total)
}
