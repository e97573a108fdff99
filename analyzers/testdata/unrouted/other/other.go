// Package other uses the contracts of another one.
package other

import (
	"context"
	"net/http"

	"example.com/shop/unrouted"
)

func Deliver(ctx context.Context, c *unrouted.Contracts, o *unrouted.Orders, in unrouted.Order) error {
	if _, err := c.OrderPaid.Do(ctx, in); err != nil {
		return err
	}
	_, err := unrouted.Sync(ctx, in) // want `the handler of sync is called around its contract`
	return err
}

func Again(ctx context.Context, o *unrouted.Orders, effects unrouted.PaidEffects, in unrouted.Order) error {
	_, err := o.MarkPaid(ctx, effects, in)
	return err
}

func Around(ctx context.Context, o *unrouted.Orders, in unrouted.Order) error {
	_, err := o.MarkPaid(ctx, nil, in) // want `the handler of order_paid is called around its contract`
	return err
}

// Post has nothing to do with a contract.
func Post() error {
	_, err := http.Post("https://shop.example/receipts", "text/plain", nil)
	return err
}
