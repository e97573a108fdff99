// Package ledger asks models under a contract.
package ledger

import (
	"context"

	"github.com/sashabaranov/go-openai"

	idem "github.com/idemgen/idem/runtime"
)

type Effects interface {
	Classify(ctx context.Context, in Mail) (Mail, error)
	Mail(ctx context.Context, in Mail) (Mail, error)
}

type Mail struct{ ID, Text string }

type Desk struct{ client *openai.Client }

func (d *Desk) Answer(ctx context.Context, effects Effects, in Mail) (Mail, error) {
	recorded, err := effects.Classify(ctx, in)
	if err != nil {
		return Mail{}, err
	}
	if _, err := effects.Mail(ctx, recorded); err != nil {
		return Mail{}, err
	}
	resp, err := d.client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{})
	if err != nil {
		return Mail{}, err
	}
	return effects.Mail(ctx, Mail{Text: resp.Choices[0].Message.Content}) // want `goes into an effect and is not recorded before: .*: Client.CreateChatCompletion → Effects.Mail \(ask the model in an effect with the guard read, which records its answer\)`
}

func (d *Desk) classify(ctx context.Context, call idem.Call, in Mail) (Mail, error) {
	resp, err := d.client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{})
	if err != nil {
		return Mail{}, err
	}
	return Mail{Text: resp.Choices[0].Message.Content}, nil
}

func (d *Desk) mail(ctx context.Context, call idem.Call, in Mail) (Mail, error) { return in, nil }
