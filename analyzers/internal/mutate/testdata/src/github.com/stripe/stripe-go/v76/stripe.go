// Package stripe stands for the library.
package stripe

type Params struct{ IdempotencyKey *string }

func (p *Params) SetIdempotencyKey(key string) { p.IdempotencyKey = &key }

type Charge struct{ ID string }

type ChargeParams struct {
	Params
	Amount   *int64
	Currency *string
	Customer *string
}

type Refund struct{ ID string }

type RefundParams struct {
	Params
	Charge *string
	Amount *int64
}

type PaymentIntent struct{ ID string }

type PaymentIntentParams struct {
	Params
	Amount   *int64
	Currency *string
}

func String(v string) *string { return &v }
func Int64(v int64) *int64    { return &v }
