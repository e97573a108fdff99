// Package coalesce lets concurrent callers share a commit: requests that come while
// a batch is under way gather in the next one.
//
// A request that comes when nothing is under way goes at once and alone. Nobody
// waits for a batch to fill.
package coalesce

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// ErrClosed is what a closed queue answers.
var ErrClosed = errors.New("the queue is closed")

// Config says how a queue's batches are run.
type Config[Op any] struct {
	// Turn waits until a batch may run, and returns what ends its turn. Batches ask
	// in the order in which their first requests came. One whose channel is closed
	// goes before those that still wait.
	Turn func(urgent <-chan struct{}) (done func())
	// Run does what the requests ask for, and sets the Err of each. ctx ends when
	// nobody waits for any of them any more.
	Run func(ctx context.Context, requests []*Request[Op])
	// Left, if there is one, is told of an operation that has begun and whose caller
	// has left, before Do returns. over is closed when its batch is over.
	Left func(op Op, over <-chan struct{})
	// MaxBatch bounds the requests of a batch, those apart that are urgent.
	MaxBatch int
	// MaxWaiting bounds the requests that the queue holds. Callers beyond it wait
	// for a place, first come first served.
	MaxWaiting int
}

// A Queue gathers requests into batches. It is safe for concurrent use.
type Queue[Op any] struct {
	config Config[Op]
	places chan struct{}
	work   chan *batch[Op] // for those who are idle

	mu        sync.Mutex
	gathering *batch[Op] // waits for its turn and takes more requests, or nil
	idle      int        // goroutines that wait for another batch, or are about to
	closed    bool
	under     sync.WaitGroup // batches that wait or run
}

// A Request is one operation that somebody waits for.
type Request[Op any] struct {
	Op Op
	// Err is what came of it.
	Err error

	batch *batch[Op]
	place bool
	taken atomic.Bool // by its batch, or by a caller who has left before
	done  chan struct{}
}

type batch[Op any] struct {
	requests []*Request[Op] // guarded by Queue.mu while it gathers
	urgent   chan struct{}
	hurried  bool
	waiting  atomic.Int64 // callers; over zero until the batch is closed
	ctx      context.Context
	left     context.CancelFunc
}

// maxIdle is how many goroutines wait for another batch. What runs a batch may need a
// deep stack, as databases in Go do, and for a new goroutine that grows step by step,
// which takes as long as a small batch.
const maxIdle = 2

// New makes a queue.
func New[Op any](config Config[Op]) *Queue[Op] {
	return &Queue[Op]{config: config, places: make(chan struct{}, config.MaxWaiting), work: make(chan *batch[Op], maxIdle)}
}

// Do has an operation run in a batch, and returns its error once the batch is over.
// If ctx ends first Do returns its error at once. An operation that has not begun by
// then is dropped; what becomes of one that has is not known.
//
// An urgent operation does not wait for a place, and hurries its batch.
func (q *Queue[Op]) Do(ctx context.Context, op Op, urgent bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !urgent {
		select {
		case q.places <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	r := &Request[Op]{Op: op, place: !urgent, done: make(chan struct{})}
	if err := q.join(r, urgent); err != nil {
		q.leave(r)
		return err
	}
	select {
	case <-r.done:
		return r.Err
	case <-ctx.Done():
	}
	select {
	case <-r.done: // both at once: then it is better to know
		return r.Err
	default:
	}
	if begun := r.taken.Swap(true); begun && q.config.Left != nil {
		q.config.Left(r.Op, r.done)
	}
	r.batch.gone()
	return ctx.Err()
}

// join puts a request into the batch that gathers, or begins one.
func (q *Queue[Op]) join(r *Request[Op], urgent bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	b := q.gathering
	if b == nil || !urgent && len(b.requests) >= q.config.MaxBatch {
		ctx, cancel := context.WithCancel(context.Background())
		b = &batch[Op]{urgent: make(chan struct{}), ctx: ctx, left: cancel}
		b.waiting.Store(1) // for the queue, until nobody can join any more
		q.gathering = b
		q.under.Add(1)
		if q.idle > 0 {
			q.idle--
			q.work <- b
		} else {
			go q.serveAll(b)
		}
	}
	r.batch = b
	b.waiting.Add(1)
	b.requests = append(b.requests, r)
	if urgent && !b.hurried {
		b.hurried = true
		close(b.urgent)
	}
	return nil
}

// gone is for a caller who waits no more.
func (b *batch[Op]) gone() {
	if b.waiting.Add(-1) == 0 {
		b.left()
	}
}

// leave gives back the place of a request that is over.
func (q *Queue[Op]) leave(r *Request[Op]) {
	if r.place {
		<-q.places
	}
}

// serveAll runs a batch, and then others for as long as it is needed.
func (q *Queue[Op]) serveAll(b *batch[Op]) {
	for ok := true; ok; {
		if stays := q.serve(b); !stays {
			return
		}
		b, ok = <-q.work
	}
}

// serve runs a batch when it is its turn, and tells whether to wait for another one.
func (q *Queue[Op]) serve(b *batch[Op]) (stays bool) {
	defer q.under.Done()
	defer b.left()
	done := q.config.Turn(b.urgent)
	requests := q.take(b)
	if len(requests) > 0 {
		q.config.Run(b.ctx, requests)
	}
	done() // first, so that the next batch runs while these callers wake up
	stays = q.rest()
	for _, r := range b.requests {
		close(r.done)
		q.leave(r)
	}
	return stays
}

// rest offers the calling goroutine for another batch. It does so before its callers
// wake up, who may be the next to make one.
func (q *Queue[Op]) rest() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.idle == maxIdle {
		return false
	}
	q.idle++
	return true
}

// take closes a batch and returns the requests that somebody waits for.
func (q *Queue[Op]) take(b *batch[Op]) []*Request[Op] {
	q.mu.Lock()
	if q.gathering == b {
		q.gathering = nil
	}
	q.mu.Unlock()
	b.gone()
	wanted := make([]*Request[Op], 0, len(b.requests))
	for _, r := range b.requests {
		if !r.taken.Swap(true) {
			wanted = append(wanted, r)
		}
	}
	return wanted
}

// Close refuses further requests, and waits until those that were accepted are done
// or ctx ends.
func (q *Queue[Op]) Close(ctx context.Context) error {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.work)
	}
	q.mu.Unlock()
	drained := make(chan struct{})
	go func() {
		q.under.Wait()
		close(drained)
	}()
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
