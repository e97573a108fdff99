package torture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// request is what a victim asks of the process that outlives it.
type request struct {
	// Op is that of a constant below.
	Op string `json:"op"`
	// Victim says who asks.
	Victim int `json:"victim"`
	// Of a call: the guard is that of the effect.
	Guard   idem.Guard `json:"guard,omitempty"`
	Kind    string     `json:"kind,omitempty"`
	Subject string     `json:"subject,omitempty"`
	Key     string     `json:"key,omitempty"`
	Price   int64      `json:"price,omitempty"`
	Attempt int        `json:"attempt,omitempty"`
	// Of a settlement.
	Outcome outcome  `json:"outcome,omitempty"`
	Result  *receipt `json:"result,omitempty"`
	Error   string   `json:"error,omitempty"`
}

const (
	opEffect = "effect" // make the effect
	opFind   = "find"   // look for it
	opNext   = "next"   // the source's next delivery
	opSettle = "settle" // what became of it
)

// outcome is what became of a delivery.
type outcome string

const (
	outcomeDone    outcome = "done"
	outcomeUnknown outcome = "unknown"
	outcomeDead    outcome = "dead"
	outcomeOld     outcome = "superseded"
	outcomeRunning outcome = "running" // somebody else has it
	outcomeAgain   outcome = "again"   // deliver it again
)

// final: the source need not deliver the work again.
func (o outcome) final() bool {
	return o == outcomeDone || o == outcomeUnknown || o == outcomeDead || o == outcomeOld
}

type response struct {
	Kind    string `json:"kind,omitempty"`
	Subject string `json:"subject,omitempty"`
	Found   bool   `json:"found,omitempty"`
	Answer  answer `json:"answer"`
	// Busy: nothing was done, and it may be tried again.
	Busy bool `json:"busy,omitempty"`
}

// client is a victim's way to the provider and to the source.
type client struct {
	socket string
	victim int
}

// connection is one that stays open.
type connection struct {
	net.Conn
	enc *json.Encoder
	dec *json.Decoder
}

func (c client) connect(ctx context.Context) (connection, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", c.socket)
	if err != nil {
		return connection{}, err
	}
	return connection{conn, json.NewEncoder(conn), json.NewDecoder(conn)}, nil
}

func (c connection) ask(r request) (got response, err error) {
	if err := c.enc.Encode(r); err != nil {
		return response{}, err
	}
	err = c.dec.Decode(&got)
	return got, err
}

// call asks once, over a connection of its own: what ends it in the middle may
// have been applied, and shows as what the net package says.
func (c client) call(ctx context.Context, r request) (response, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return response{}, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	r.Victim = c.victim
	got, err := conn.ask(r)
	switch {
	case err != nil && ctx.Err() != nil:
		return response{}, fmt.Errorf("%w: %w", context.Cause(ctx), err)
	case err != nil:
		return response{}, err
	case got.Busy:
		return response{}, idem.NotApplied(errBusy)
	}
	return got, nil
}

var errBusy = errors.New("the provider is busy")

func (c client) effect(ctx context.Context, guard idem.Guard, call idem.Call, in input) (answer, error) {
	got, err := c.call(ctx, requestOf(opEffect, guard, call, in))
	return got.Answer, err
}

func (c client) find(ctx context.Context, call idem.Call, in input) (answer, bool, error) {
	got, err := c.call(ctx, requestOf(opFind, idem.GuardFindFirst, call, in))
	return got.Answer, got.Found, err
}

func requestOf(op string, guard idem.Guard, call idem.Call, in input) request {
	return request{Op: op, Guard: guard, Kind: call.Kind(), Subject: in.Subject, Key: call.Key(), Price: in.Price, Attempt: call.Attempt()}
}
