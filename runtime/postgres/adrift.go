package postgres

import (
	"context"
	"slices"
	"sync"

	idem "github.com/idemgen/idem/runtime"
)

// adrift are writes in batches under way whose callers have left. What comes next
// from the same owner waits for them: another batch would be faster now and then,
// and the end of a claim, say, would find no claim that it could give back.
type adrift struct {
	mu  sync.Mutex
	all map[idem.Token][]<-chan struct{}
}

// add notes a write that lasts until over is closed.
func (a *adrift) add(owner idem.Token, over <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = make(map[idem.Token][]<-chan struct{})
	}
	a.all[owner] = append(a.all[owner], over)
	go func() {
		<-over
		a.remove(owner, over)
	}()
}

func (a *adrift) remove(owner idem.Token, over <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all[owner] = slices.DeleteFunc(a.all[owner], func(o <-chan struct{}) bool { return o == over })
	if len(a.all[owner]) == 0 {
		delete(a.all, owner)
	}
}

// wait waits until an owner has no such write any more.
func (a *adrift) wait(ctx context.Context, owner idem.Token) error {
	a.mu.Lock()
	writes := slices.Clone(a.all[owner])
	a.mu.Unlock()
	for _, over := range writes {
		select {
		case <-over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
