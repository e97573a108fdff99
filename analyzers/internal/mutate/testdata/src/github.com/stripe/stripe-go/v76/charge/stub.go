// Package charge stands for the library.
package charge

import "github.com/stripe/stripe-go/v76"

func New(params *stripe.ChargeParams) (*stripe.Charge, error) { return nil, nil }
