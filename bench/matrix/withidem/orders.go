// Package withidem is the work of the matrix, written with idem.
package withidem

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idem/bench/matrix"
	idem "github.com/idemgen/idem/runtime"
)

// Order is what the work is about.
type Order struct{ ID string }

// None is an answer without content.
type None struct{}

// ChargeEffects is what Charge does to the world.
type ChargeEffects interface {
	Charge(ctx context.Context, in Order) (matrix.Answer, error)
	Mail(ctx context.Context, in Order) (matrix.Answer, error)
}

// LabelEffects is what Label and Search do to the world.
type LabelEffects interface {
	Label(ctx context.Context, in Order) (matrix.Answer, error)
}

// BookEffects is what Book does to the world.
type BookEffects interface {
	Row(ctx context.Context, in Order) (None, error)
	Publish(ctx context.Context, in Order) (matrix.Answer, error)
}

// Orders is the program.
type Orders struct{ client *matrix.Client }

// Charge handles an order.
func (o *Orders) Charge(ctx context.Context, effects ChargeEffects, in Order) (matrix.Answer, error) {
	charged, err := effects.Charge(ctx, in)
	if err != nil {
		return charged, err
	}
	_, err = effects.Mail(ctx, in)
	if errors.Is(err, idem.ErrGivenUp) {
		err = nil // nobody knows whether it went out, so it is not sent again
	}
	return charged, err
}

// Label handles an order.
func (o *Orders) Label(ctx context.Context, effects LabelEffects, in Order) (matrix.Answer, error) {
	return effects.Label(ctx, in)
}

// Search handles an order.
func (o *Orders) Search(ctx context.Context, effects LabelEffects, in Order) (matrix.Answer, error) {
	return effects.Label(ctx, in)
}

// Book handles an order.
func (o *Orders) Book(ctx context.Context, effects BookEffects, in Order) (None, error) {
	if _, err := effects.Row(ctx, in); err != nil {
		return None{}, err
	}
	_, err := effects.Publish(ctx, in)
	return None{}, err
}

func (o *Orders) charge(ctx context.Context, call idem.Call, in Order) (matrix.Answer, error) {
	return o.client.Charge(ctx, call.Key(), in.ID)
}

func (o *Orders) mail(ctx context.Context, _ idem.Call, in Order) (matrix.Answer, error) {
	return o.client.Mail(ctx, in.ID)
}

func (o *Orders) label(ctx context.Context, _ idem.Call, in Order) (matrix.Answer, error) {
	return o.client.Label(ctx, in.ID)
}

func (o *Orders) findLabel(ctx context.Context, _ idem.Call, in Order) (matrix.Answer, bool, error) {
	found, err := o.client.FindLabel(ctx, in.ID)
	return found, found.Found, err
}

func (o *Orders) row(ctx context.Context, call idem.TxCall[pgx.Tx], in Order) (None, error) {
	_, err := call.Tx().Exec(ctx, matrix.AddAmount, in.ID)
	return None{}, err
}

func (o *Orders) publish(ctx context.Context, call idem.Call, in Order) (matrix.Answer, error) {
	return o.client.Publish(ctx, call.Key(), in.ID)
}
