package coalesce_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idem/runtime/internal/coalesce"
)

// bench is a queue whose batches run when the test says so.
type bench struct {
	*testing.T
	queue  *coalesce.Queue[int]
	turn   chan struct{} // one batch at a time
	begin  chan []int    // the operations of a batch that begins
	finish chan struct{} // one for each batch
	ctx    chan context.Context
}

var errOdd = errors.New("odd")

func newBench(t *testing.T, maxBatch, maxWaiting int) *bench {
	b := &bench{T: t, turn: make(chan struct{}, 1), begin: make(chan []int), finish: make(chan struct{}), ctx: make(chan context.Context, 100)}
	b.queue = coalesce.New(coalesce.Config[int]{
		Turn: func(urgent <-chan struct{}) func() {
			b.turn <- struct{}{}
			return func() { <-b.turn }
		},
		Run: func(ctx context.Context, requests []*coalesce.Request[int]) {
			var ops []int
			for _, r := range requests {
				ops = append(ops, r.Op)
				if r.Op%2 == 1 {
					r.Err = errOdd
				}
			}
			b.ctx <- ctx
			b.begin <- ops
			<-b.finish
		},
		MaxBatch: maxBatch, MaxWaiting: maxWaiting,
	})
	return b
}

// send has an operation done, and returns what becomes of it. By then it waits.
func (b *bench) send(ctx context.Context, op int) <-chan error {
	answer := make(chan error, 1)
	go func() { answer <- b.queue.Do(ctx, op, false) }()
	b.settle()
	return answer
}

// settle waits until whoever was sent stands in line.
func (b *bench) settle() { time.Sleep(10 * time.Millisecond) }

func (b *bench) wantBatch(want ...int) {
	b.Helper()
	select {
	case got := <-b.begin:
		if !slices.Equal(got, want) {
			b.Fatalf("batch %v, want %v", got, want)
		}
	case <-time.After(10 * time.Second):
		b.Fatalf("no batch, want %v", want)
	}
}

func (b *bench) wantError(answer <-chan error, want error) {
	b.Helper()
	select {
	case err := <-answer:
		if !errors.Is(err, want) {
			b.Errorf("got %v, want %v", err, want)
		}
	case <-time.After(10 * time.Second):
		b.Fatal("no answer")
	}
}

func (b *bench) wantNone(answer <-chan error) {
	b.Helper()
	b.settle()
	select {
	case err := <-answer:
		b.Fatalf("answered with %v before its batch was over", err)
	default:
	}
}

func TestALoneRequestGoesAtOnceAndWhatComesMeanwhileGoesTogether(t *testing.T) {
	b := newBench(t, 10, 10)
	first := b.send(t.Context(), 2)
	b.wantBatch(2)
	second, third := b.send(t.Context(), 4), b.send(t.Context(), 5)
	b.wantNone(first)
	b.finish <- struct{}{}
	b.wantError(first, nil)
	b.wantBatch(4, 5)
	b.wantNone(second)
	b.finish <- struct{}{}
	b.wantError(second, nil)
	b.wantError(third, errOdd)
}

func TestABatchIsBoundedAndTheNextOneGoesOn(t *testing.T) {
	b := newBench(t, 2, 10)
	b.send(t.Context(), 2)
	b.wantBatch(2)
	for op := 4; op <= 12; op += 2 {
		b.send(t.Context(), op)
	}
	for _, want := range [][]int{{4, 6}, {8, 10}, {12}} {
		b.finish <- struct{}{}
		b.wantBatch(want...)
	}
	b.finish <- struct{}{}
}

func TestWhoLeavesBeforeItsBatchBeginsIsDropped(t *testing.T) {
	b := newBench(t, 10, 10)
	b.send(t.Context(), 2)
	b.wantBatch(2)
	ctx, leave := context.WithCancel(t.Context())
	gone, stays := b.send(ctx, 4), b.send(t.Context(), 6)
	leave()
	b.wantError(gone, context.Canceled)
	b.finish <- struct{}{}
	b.wantBatch(6)
	b.finish <- struct{}{}
	b.wantError(stays, nil)
}

func TestWhoLeavesWhileItsBatchRunsIsAnsweredAtOnce(t *testing.T) {
	b := newBench(t, 10, 10)
	ctx, leave := context.WithCancel(t.Context())
	gone := b.send(ctx, 2)
	b.wantBatch(2)
	batch := <-b.ctx
	if err := batch.Err(); err != nil {
		t.Fatalf("the batch's context has ended: %v", err)
	}
	leave()
	b.wantError(gone, context.Canceled)
	select {
	case <-batch.Done():
	case <-time.After(10 * time.Second):
		t.Error("nobody waits any more, and the batch does not know")
	}
	b.finish <- struct{}{}
}

func TestWhoeverLeavesWhatHasBegunIsNotedBeforeHeIsAnswered(t *testing.T) {
	type left struct {
		op   int
		over <-chan struct{}
	}
	var noted []left
	begun, finish := make(chan struct{}), make(chan struct{})
	queue := coalesce.New(coalesce.Config[int]{
		Turn:     func(<-chan struct{}) func() { return func() {} },
		Run:      func(context.Context, []*coalesce.Request[int]) { close(begun); <-finish },
		Left:     func(op int, over <-chan struct{}) { noted = append(noted, left{op, over}) },
		MaxBatch: 1, MaxWaiting: 1,
	})
	ctx, leave := context.WithCancel(t.Context())
	go func() { <-begun; leave() }()
	if err := queue.Do(ctx, 2, false); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if len(noted) != 1 || noted[0].op != 2 {
		t.Fatalf("noted %v, want operation 2", noted)
	}
	select {
	case <-noted[0].over:
		t.Error("its batch is over while it runs")
	default:
	}
	close(finish)
	select {
	case <-noted[0].over:
	case <-time.After(10 * time.Second):
		t.Error("its batch is over, and nobody is told")
	}
}

func TestABatchGoesOnForThoseWhoStay(t *testing.T) {
	b := newBench(t, 10, 10)
	b.send(t.Context(), 2)
	b.wantBatch(2)
	<-b.ctx
	ctx, leave := context.WithCancel(t.Context())
	gone, stays := b.send(ctx, 4), b.send(t.Context(), 6)
	b.finish <- struct{}{}
	b.wantBatch(4, 6)
	leave()
	b.wantError(gone, context.Canceled)
	if err := (<-b.ctx).Err(); err != nil {
		t.Errorf("one has left, and the batch's context ended: %v", err)
	}
	b.finish <- struct{}{}
	b.wantError(stays, nil)
}

func TestABatchThatEverybodyHasLeftIsNotRun(t *testing.T) {
	b := newBench(t, 10, 10)
	b.send(t.Context(), 2)
	b.wantBatch(2)
	ctx, leave := context.WithCancel(t.Context())
	gone := b.send(ctx, 4)
	leave()
	b.wantError(gone, context.Canceled)
	b.finish <- struct{}{}
	if err := b.queue.Close(t.Context()); err != nil {
		t.Error(err)
	}
	select {
	case ops := <-b.begin:
		t.Errorf("batch %v ran for nobody", ops)
	default:
	}
}

func TestCallersBeyondTheBoundWaitForAPlaceAsLongAsTheyLike(t *testing.T) {
	b := newBench(t, 1, 2)
	b.send(t.Context(), 2)
	b.wantBatch(2)
	b.send(t.Context(), 4) // the second place
	ctx, leave := context.WithCancel(t.Context())
	impatient, patient := b.send(ctx, 6), b.send(t.Context(), 8)
	leave()
	b.wantError(impatient, context.Canceled)
	b.finish <- struct{}{}
	b.wantBatch(4)
	b.finish <- struct{}{}
	b.wantBatch(8)
	b.finish <- struct{}{}
	b.wantError(patient, nil)
}

func TestAQueueHoldsNoMoreThanItsBound(t *testing.T) {
	const bound = 2
	b := newBench(t, 10, bound)
	b.send(t.Context(), 2)
	b.wantBatch(2)
	var answers []<-chan error
	for _, op := range []int{4, 6, 8, 10} {
		answers = append(answers, b.send(t.Context(), op))
	}
	b.finish <- struct{}{}
	for left := len(answers); left > 0; {
		got := <-b.begin
		if len(got) > bound {
			t.Errorf("a batch of %v, where the queue holds %d", got, bound)
		}
		left -= len(got)
		b.finish <- struct{}{}
	}
	for _, answer := range answers {
		b.wantError(answer, nil)
	}
}

func TestAnUrgentRequestNeedsNoPlaceAndHurriesItsBatch(t *testing.T) {
	hurried := make(chan bool, 2)
	block := make(chan struct{})
	queue := coalesce.New(coalesce.Config[int]{
		Turn: func(urgent <-chan struct{}) func() {
			select {
			case <-urgent:
				hurried <- true
			case <-block:
				hurried <- false
			}
			return func() {}
		},
		Run:      func(context.Context, []*coalesce.Request[int]) {},
		MaxBatch: 1, MaxWaiting: 1,
	})
	var all sync.WaitGroup
	defer all.Wait()
	do := func(op int, urgent bool) {
		all.Go(func() {
			if err := queue.Do(t.Context(), op, urgent); err != nil {
				t.Error(err)
			}
		})
	}
	do(2, false)
	time.Sleep(10 * time.Millisecond)
	do(4, true)
	do(6, true)
	select {
	case h := <-hurried:
		if !h {
			t.Error("the batch was not hurried")
		}
	case <-time.After(10 * time.Second):
		t.Error("the urgent request waits")
	}
	close(block)
}

func TestAClosedQueueTakesNothingAndFinishesWhatItHas(t *testing.T) {
	b := newBench(t, 10, 10)
	running := b.send(t.Context(), 2)
	b.wantBatch(2)
	waiting := b.send(t.Context(), 4)
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := b.queue.Close(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("closed with %v while writes were under way", err)
	}
	if err := b.queue.Do(t.Context(), 6, false); !errors.Is(err, coalesce.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	b.finish <- struct{}{}
	b.wantError(running, nil)
	b.wantBatch(4)
	b.finish <- struct{}{}
	b.wantError(waiting, nil)
	if err := b.queue.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAContextThatHasEndedAsksForNothing(t *testing.T) {
	b := newBench(t, 10, 10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.queue.Do(ctx, 2, true); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestALoneCallersBatchesAreRunByOneGoroutine(t *testing.T) {
	ran := map[string]int{}
	q := coalesce.New(coalesce.Config[int]{
		Turn: func(<-chan struct{}) func() { return func() {} },
		Run: func(context.Context, []*coalesce.Request[int]) {
			stack := make([]byte, 64)
			goroutine, _, _ := strings.Cut(string(stack[:runtime.Stack(stack, false)]), " [")
			ran[goroutine]++
		},
		MaxBatch: 1, MaxWaiting: 8,
	})
	const n = 100
	for i := range n {
		if err := q.Do(t.Context(), i, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(ran) != 1 {
		t.Errorf("%d batches that came one after the other were run by %d goroutines, want one", n, len(ran))
	}
}
