// Package paymentintent stands for the library.
package paymentintent

import "github.com/stripe/stripe-go/v76"

func New(params *stripe.PaymentIntentParams) (*stripe.PaymentIntent, error) { return nil, nil }
