package stripe

type Params struct {
	IdempotencyKey *string
}

func (p *Params) SetIdempotencyKey(key string) { p.IdempotencyKey = &key }

type ChargeParams struct {
	Params
	Amount *int64
}

func NewIdempotencyKey() string { return "" }
func String(v string) *string   { return &v }
func Int64(v int64) *int64      { return &v }
