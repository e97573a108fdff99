// Package idem stands for the runtime's types.
package idem

import (
	"context"
	"errors"
)

type WorkID struct{ sum [32]byte }

func (WorkID) String() string { return "" }

type Call interface {
	Key() string
	WorkID() WorkID
}

type TxCall[Tx any] interface {
	Call
	Tx() Tx
}

type Ledger struct{}

type Run struct{}

type Result[Out any] struct{ Value Out }

type Contract[In, Out any] interface {
	Do(ctx context.Context, in In) (Result[Out], error)
}

type Guarded[In, Out any] struct {
	call func(context.Context, Call, In) (Out, error)
}

func (g *Guarded[In, Out]) Do(ctx context.Context, run *Run, in In) (out Out, err error) { return }

func Once[In, Out any](call func(context.Context, Call, In) (Out, error)) *Guarded[In, Out] {
	return &Guarded[In, Out]{call}
}

func Define[In, Out any](l *Ledger, handle func(ctx context.Context, run *Run, in In) (Out, error)) Contract[In, Out] {
	return nil
}

var (
	ErrEffectRefused  = errors.New("refused")
	ErrEffectFailed   = errors.New("failed")
	ErrGivenUp        = errors.New("given up")
	ErrOutcomeUnknown = errors.New("unknown")
	ErrEffectDiverged = errors.New("diverged")
	ErrLeaseLost      = errors.New("lease lost")
	ErrRunOver        = errors.New("run over")
	ErrLedger         = errors.New("ledger")
	ErrRetryLater     = errors.New("later")
	ErrDead           = errors.New("dead")
	ErrUnreadable     = errors.New("unreadable")
	ErrSuperseded     = errors.New("superseded")
)

func ShouldAck(err error) bool { return err == nil }

const RuntimeFormat1ElseRunIdemgen = true
