// Package namedkey uses a UUID that is made from a name.
package namedkey

import (
	"context"

	"github.com/google/uuid"
)

type Invoice struct{ Number string }

type SendRequest struct {
	IdempotencyKey string
	Number         string
}

type Gateway interface {
	SendInvoice(ctx context.Context, r SendRequest) error
}

var space = uuid.MustParse("7b0f6f4e-9d7c-4f0b-8f59-2f2a5e1a0c11")

type builder struct{ r SendRequest }

func (b *builder) key(k string) *builder    { b.r.IdempotencyKey = k; return b }
func (b *builder) number(n string) *builder { b.r.Number = n; return b }

func Send(ctx context.Context, g Gateway, inv Invoice) error {
	key := uuid.NewSHA1(space, []byte(inv.Number)).String()
	r := SendRequest{IdempotencyKey: /*key[*/key/*]*/, Number: inv.Number}
	return g.SendInvoice(ctx, r)
}

func SendBuilt(ctx context.Context, g Gateway, inv Invoice) error {
	b := new(builder)
	b.key(/*key[*/"invoice-" + inv.Number/*]*/).number(inv.Number)
	return g.SendInvoice(ctx, b.r)
}
