package coalesce

import (
	"context"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/canon"
)

// A way does the work with that name, once.
type way interface {
	do(ctx context.Context, name string) error
	close() error
}

type job struct {
	Name string `json:"name"`
}

type outcome struct {
	Ref string `json:"ref"`
}

// handle is what all of them do between claim and completion.
func handle(string) outcome { return outcome{Ref: "done"} }

var payload = idem.Payload[job]{Shape: "job/1", Append: func(dst []byte, j job) ([]byte, error) {
	dst, err := canon.AppendString(append(dst, `{"name":`...), j.Name)
	return append(dst, '}'), err
}}

// ledger is the work by a contract over any store.
type ledger[Tx any] struct {
	ledger   *idem.Ledger[Tx]
	contract idem.Contract[job, outcome]
}

type handler func(ctx context.Context, run *idem.Run, in job) (outcome, error)

// bare has no effects: it makes as many writes as people make by hand.
func bare(_ context.Context, _ *idem.Run, in job) (outcome, error) { return handle(in.Name), nil }

// withEffect makes what all of them do an effect.
func withEffect() handler {
	effect := idem.IdempotencyKey(idem.Effect[job, outcome]{
		Name: "act", Payload: payload,
		Call: func(_ context.Context, _ idem.Call, in job) (outcome, error) { return handle(in.Name), nil },
	}, 24*time.Hour)
	return func(ctx context.Context, run *idem.Run, in job) (outcome, error) { return effect.Do(ctx, run, in) }
}

func newLedger[Tx any](store idem.Store[Tx], run handler) *ledger[Tx] {
	l := idem.NewLedger(store)
	return &ledger[Tx]{l, idem.Define(l, idem.Spec[job, outcome]{
		Kind: "job", Version: 1, Module: "example.com/jobs", Digest: "1", Payload: payload,
		ID: func(j job) (idem.WorkID, error) {
			b, err := canon.AppendText([]byte("job:v1:"), j.Name)
			return idem.HashWorkID(b), err
		},
		Window:   idem.For(90 * 24 * time.Hour),
		Response: idem.Response{WhenDone: idem.DoneReturnOriginal, WhileRunning: idem.RunningError, OtherPayload: idem.OtherPayloadError},
		Retry:    idem.Retry{MaxAttempts: 5, Initial: time.Second, Max: time.Minute, Multiplier: 2},
		Lease:    2 * time.Minute, Timeout: 10 * time.Minute,
		Handle: run,
	})}
}

func (l *ledger[Tx]) do(ctx context.Context, name string) error {
	_, err := l.contract.Do(ctx, job{name})
	return err
}

func (l *ledger[Tx]) close() error { return l.ledger.Close(context.Background()) }
