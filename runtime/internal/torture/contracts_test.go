package torture

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/canon"
)

const (
	// lease is as short as a busy machine bears, since what was killed waits for it.
	lease = time.Second
	// visibleAfter is declared; the provider's search lags by less.
	visibleAfter = 150 * time.Millisecond
	// briefAttempts is how many attempts the kind brief has.
	briefAttempts = 3
)

// order is the input of all kinds.
type order struct {
	Subject string `json:"subject"`
}

// input is that of all effects. The price is the answer of the read: another one
// in a later attempt would be another payload.
type input struct {
	Subject string `json:"subject"`
	Price   int64  `json:"price"`
}

type receipt struct {
	Price int64             `json:"price"`
	Refs  map[string]string `json:"refs"`
}

type answer struct {
	Ref   string `json:"ref"`
	Price int64  `json:"price"`
}

// work is one kind, without the type of its ledger.
type work struct {
	do func(ctx context.Context, subject string) (receipt, error)
	id func(subject string) (idem.WorkID, error)
}

// draft is the row that an effect with the guard transaction writes.
type draft struct {
	kind, subject, effect, key string
	price                      int64
}

// kinds are all kinds, and how often each is delivered.
var kinds = []struct {
	name   string
	weight int
}{
	{"ask", 5},     // all guards, and the message is never repeated: a person decides
	{"give_up", 3}, // the same, and the message is given up
	{"repeat", 2},  // the same, and the message is repeated
	{"one", 3},     // all in one transaction
	{"parent", 2},  // with a child, which is like ask
	{"greet", 2},   // two of them send one message
	{"brief", 2},   // few attempts, so that some work is buried
	{"newest", 2},  // three revisions of one thing, of which older ones may be left out
}

// define makes the contracts of all kinds over a ledger. insert writes a draft in
// the ledger's transaction.
func define[Tx any](ledger *idem.Ledger[Tx], provider client, remembersFor time.Duration, insert func(ctx context.Context, tx Tx, d draft) error) map[string]work {
	d := definer[Tx]{ledger, provider, remembersFor, insert}
	child := d.contract("child", 500, d.allGuards(idem.Ask))
	one := d.spec("one", 500, d.drafts())
	one.OneTransaction = true
	newest := d.spec("newest", 500, d.charge())
	newest.Latest = func(in order) (idem.Mark, error) {
		thing, by, err := revisionOf(in.Subject)
		return idem.NewMark([]byte("newest:"+thing), by), err
	}
	return map[string]work{
		"ask":     asWork(d.contract("ask", 500, d.allGuards(idem.Ask))),
		"give_up": asWork(d.contract("give_up", 500, d.allGuards(idem.GiveUp))),
		"repeat":  asWork(d.contract("repeat", 500, d.allGuards(idem.Repeat))),
		"one":     asWork(idem.Define(ledger, one)),
		"parent":  asWork(d.contract("parent", 500, d.withChild(child))),
		"greet":   asWork(d.contract("greet", 500, d.greeting())),
		"brief":   asWork(d.contract("brief", briefAttempts, d.charge())),
		"newest":  asWork(idem.Define(ledger, newest)),
	}
}

func asWork(c idem.Contract[order, receipt]) work {
	return work{
		do: func(ctx context.Context, subject string) (receipt, error) {
			result, err := c.Do(ctx, order{subject})
			return result.Value, err
		},
		id: func(subject string) (idem.WorkID, error) { return c.ID(order{subject}) },
	}
}

type definer[Tx any] struct {
	ledger       *idem.Ledger[Tx]
	provider     client
	remembersFor time.Duration
	insert       func(ctx context.Context, tx Tx, d draft) error
}

type handler = func(ctx context.Context, run *idem.Run, in order) (receipt, error)

func (d definer[Tx]) contract(kind string, attempts int, handle handler) idem.Contract[order, receipt] {
	return idem.Define(d.ledger, d.spec(kind, attempts, handle))
}

func (d definer[Tx]) spec(kind string, attempts int, handle handler) idem.Spec[order, receipt] {
	return idem.Spec[order, receipt]{
		Kind: kind, Version: 1, Module: "example.com/torture", Digest: "torture",
		ID: func(in order) (idem.WorkID, error) {
			text, err := canon.AppendString([]byte(kind+":v1:"), in.Subject)
			return idem.HashWorkID(text), err
		},
		Payload: idem.Payload[order]{Shape: "order", Append: func(dst []byte, in order) ([]byte, error) { return canon.AppendString(dst, in.Subject) }},
		Window:  idem.Forever(),
		Response: idem.Response{
			WhenDone: idem.DoneReturnOriginal, WhileRunning: idem.RunningWait, Wait: 300 * time.Millisecond, OtherPayload: idem.OtherPayloadError,
		},
		Retry: idem.Retry{MaxAttempts: attempts, Initial: 10 * time.Millisecond, Max: 200 * time.Millisecond, Multiplier: 2},
		Lease: lease, Timeout: 30 * time.Second,
		Handle: handle,
	}
}

// effect is one whose call is made at the provider.
func (d definer[Tx]) effect(guard idem.Guard) idem.Effect[input, answer] {
	return idem.Effect[input, answer]{
		Name: string(guard), Payload: inputPayload, ExternalRef: func(out answer) string { return out.Ref },
		Call: func(ctx context.Context, call idem.Call, in input) (answer, error) {
			return d.provider.effect(ctx, guard, call, in)
		},
	}
}

var inputPayload = idem.Payload[input]{Shape: "input", Append: func(dst []byte, in input) ([]byte, error) {
	dst, err := canon.AppendString(append(dst, `{"price":`...), in.Subject)
	return append(canon.AppendInt(append(dst, ':'), in.Price), '}'), err
}}

func (d definer[Tx]) draft(name string) *idem.Guarded[input, answer] {
	e := d.effect(idem.GuardTransaction)
	e.Name, e.Call = name, nil
	return idem.Transaction(d.ledger, e, func(ctx context.Context, call idem.TxCall[Tx], in input) (answer, error) {
		err := d.insert(ctx, call.Tx(), draft{call.Kind(), in.Subject, name, call.Key(), in.Price})
		return answer{Ref: call.Key()}, err
	})
}

func (d definer[Tx]) find(ctx context.Context, call idem.Call, in input) (answer, bool, error) {
	return d.provider.find(ctx, call, in)
}

// allGuards is a handler with an effect of each guard.
func (d definer[Tx]) allGuards(ifUnknown idem.IfUnknown) handler {
	price := idem.Read(d.effect(idem.GuardRead))
	once := d.effect(idem.GuardOnce)
	once.VisibleAfter = visibleAfter
	effects := map[string]*idem.Guarded[input, answer]{
		"transaction":     d.draft("transaction"),
		"idempotency_key": idem.IdempotencyKey(d.effect(idem.GuardIdempotencyKey), d.remembersFor),
		"upsert":          idem.Upsert(d.effect(idem.GuardUpsert)),
		"find_first":      idem.FindFirst(d.effect(idem.GuardFindFirst), d.find, visibleAfter),
		"once":            idem.Once(once, ifUnknown),
		"repeatable":      idem.Repeatable(d.effect(idem.GuardRepeatable)),
	}
	return func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		read, err := price.Do(ctx, run, input{Subject: in.Subject})
		if err != nil {
			return receipt{}, err
		}
		return inAnyOrder(ctx, run, effects, input{in.Subject, read.Price})
	}
}

// inAnyOrder asks for effects in another order in each attempt, one after the
// other or all at once: the ledger enforces no order.
func inAnyOrder(ctx context.Context, run *idem.Run, effects map[string]*idem.Guarded[input, answer], in input) (receipt, error) {
	out := receipt{Price: in.Price, Refs: make(map[string]string, len(effects))}
	var mu sync.Mutex
	var failure error
	ask := func(name string, effect *idem.Guarded[input, answer]) error {
		got, err := effect.Do(ctx, run, in)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case errors.Is(err, idem.ErrGivenUp):
			out.Refs[name] = "given up"
		case err != nil:
			failure = errors.Join(failure, err)
			return err
		default:
			out.Refs[name] = got.Ref
		}
		return nil
	}
	if rand.IntN(2) == 0 {
		for name, effect := range effects { // Go's order of a map differs each time
			if ask(name, effect) != nil {
				break
			}
		}
		return out, failure
	}
	var all sync.WaitGroup
	for name, effect := range effects {
		all.Go(func() { _ = ask(name, effect) })
	}
	all.Wait()
	return out, failure
}

func (d definer[Tx]) drafts() handler {
	effects := map[string]*idem.Guarded[input, answer]{"transaction": d.draft("transaction"), "second": d.draft("second")}
	return func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		return inAnyOrder(ctx, run, effects, input{Subject: in.Subject})
	}
}

func (d definer[Tx]) charge() handler {
	effects := map[string]*idem.Guarded[input, answer]{"upsert": idem.Upsert(d.effect(idem.GuardUpsert))}
	return func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		return inAnyOrder(ctx, run, effects, input{Subject: in.Subject})
	}
}

// withChild is a handler that has another contract's work done, and then an effect
// of its own.
func (d definer[Tx]) withChild(contract idem.Contract[order, receipt]) handler {
	child, charge := idem.Child("child", contract), d.charge()
	return func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		if _, err := child.Do(ctx, run, in); err != nil {
			return receipt{}, err
		}
		return charge(ctx, run, in)
	}
}

// greeting is a handler that sends a message which other work sends as well: that
// of the twin.
func (d definer[Tx]) greeting() handler {
	e := d.effect(idem.GuardUpsert)
	e.Message = &idem.Message[input]{
		Channel: "chat", TTL: 24 * time.Hour,
		To:   func(dst []byte, in input) ([]byte, error) { return append(dst, in.Subject...), nil },
		Body: func(dst []byte, in input) ([]byte, error) { return append(dst, `"hello"`...), nil },
	}
	effects := map[string]*idem.Guarded[input, answer]{"upsert": idem.Upsert(e)}
	return func(ctx context.Context, run *idem.Run, in order) (receipt, error) {
		return inAnyOrder(ctx, run, effects, input{Subject: recipient(in.Subject)})
	}
}

// revisions are how many each thing of the kind newest has.
const revisions = 3

// revisionOf is the thing, and which of its revisions, that a subject of the kind
// newest is.
func revisionOf(subject string) (thing string, by int64, err error) {
	thing, number, _ := strings.Cut(subject, "/")
	by, err = strconv.ParseInt(number, 10, 64)
	return thing, by, err
}

// recipient is to whom the work of a subject sends its message.
func recipient(subject string) string { return strings.TrimSuffix(subject, twin) }

// twin ends the subject of work that has the same message to send as the work
// without it.
const twin = "/twin"
