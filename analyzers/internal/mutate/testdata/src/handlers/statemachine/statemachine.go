// Package statemachine ships what has been paid for.
package statemachine

import (
	"context"
	"fmt"
)

type Parcel struct {
	ID     string
	Status string
}

const (
	StatusPaid     = "paid"
	StatusShipping = "shipping"
	StatusShipped  = "shipped"
)

type Parcels interface {
	Get(ctx context.Context, id string) (*Parcel, error)
	ClaimForShipping(ctx context.Context, id string) (bool, error)
	UpdateStatus(ctx context.Context, id, status string) error
}

type Carrier interface {
	Ship(ctx context.Context, id string) error
}

type Dispatch struct {
	parcels Parcels
	carrier Carrier
}

func (d *Dispatch) Ship(ctx context.Context, id string) error {
	p, err := d.parcels.Get(ctx, id)
	if err != nil {
		return fmt.Errorf("parcel %s: %w", id, err)
	}
	if p.Status == StatusShipped {
		return nil
	}
	/*unclaimed[*/mine, err := d.parcels.ClaimForShipping(ctx, id)
	if err != nil || !mine {
		return err
	}/*]*/
	/*effect[*/if err := d.carrier.Ship(ctx, p.ID); err != nil {
		return fmt.Errorf("ship %s: %w", id, err)
	}/*]*/
	/*mark[*/if err := /*call[*/d.parcels.UpdateStatus(ctx, id, StatusShipped)/*]*/; err != nil {
		return err
	}/*]*/
	return nil
}
