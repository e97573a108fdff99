package sqlite

import (
	"context"
	"sync"
)

// turns lets one transaction at a time go to the writer connection, in the order
// in which they came. database/sql serves those who wait for a connection in no
// order, and under load some would wait until their lease is over. Whoever renews
// leases for all goes before everybody who is not under way yet.
//
// A channel serves blocked senders in order; each of these holds one token.
type turns struct {
	line chan struct{} // whoever is at the head of the line
	turn chan struct{} // whoever has the turn
}

func newTurns() turns {
	return turns{line: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
}

// take waits for a turn. done gives it back; the end of ctx does so too, since
// database/sql then ends the transaction, even if its owner waits for something
// that only the next transaction could bring about.
func (t turns) take(ctx context.Context) (done func(), err error) {
	select {
	case t.line <- struct{}{}:
		defer func() { <-t.line }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	giveBack := sync.OnceFunc(func() { <-t.turn })
	stop := context.AfterFunc(ctx, giveBack)
	return func() {
		stop()
		giveBack()
	}, nil
}

// hurry waits for a turn, and leaves the line for its head once urgent is closed.
func (t turns) hurry(urgent <-chan struct{}) (done func()) {
	select {
	case t.line <- struct{}{}:
	case <-urgent:
		t.turn <- struct{}{}
		return func() { <-t.turn }
	}
	defer func() { <-t.line }()
	t.turn <- struct{}{}
	return func() { <-t.turn }
}
