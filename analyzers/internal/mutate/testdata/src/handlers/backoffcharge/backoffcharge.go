// Package backoffcharge charges through a library that repeats.
package backoffcharge

import (
	"context"

	"github.com/cenkalti/backoff/v4"
	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/paymentintent"
)

func Pay(ctx context.Context, order string, cents int64) (string, error) {
	var id string
	/*keydef[*/key := /*key[*/"pay/" + order/*]*//*]*/
	policy := backoff.WithContext(backoff.WithMaxRetries(backoff.NewExponentialBackOff(), 5), ctx)
	err := backoff.Retry(func() error {
		/*loop[*//*]*/params := &stripe.PaymentIntentParams{Amount: stripe.Int64(cents), Currency: stripe.String("eur")}
		/*setkey:_ = key[*/params.SetIdempotencyKey(key)/*]*/
		pi, err := paymentintent.New(params)
		if err != nil {
			return err
		}
		id = pi.ID
		return nil
	}, policy)
	return id, err
}
