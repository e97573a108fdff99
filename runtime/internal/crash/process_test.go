package crash

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// notebook is a store that writes down what it is asked for.
type notebook struct {
	idem.Store[string]
	lines   []string
	ended   []error // of transactions
	claimed chan struct{}
}

func (n *notebook) Claim(context.Context, idem.Claim) (idem.Claimed, error) {
	n.lines = append(n.lines, "claim")
	if n.claimed != nil {
		n.claimed <- struct{}{}
		<-n.claimed
	}
	return idem.Claimed{Won: true}, nil
}

func (n *notebook) WriteEffect(_ context.Context, e idem.EffectWrite) (idem.EffectWritten, error) {
	n.lines = append(n.lines, string(e.State))
	return idem.EffectWritten{}, nil
}

func (n *notebook) InTx(ctx context.Context, fn func(ctx context.Context, s idem.Session[string]) error) error {
	err := fn(ctx, page{n})
	n.ended = append(n.ended, err)
	return err
}

type page struct{ *notebook }

func (page) Tx() string { return "tx" }
func (page) Savepoint(ctx context.Context, fn func(ctx context.Context) error) error {
	return fn(ctx)
}

// start runs fn and tells when its goroutine is over.
func start(fn func()) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		fn()
	}()
	return over
}

func isOver(over <-chan struct{}) bool {
	select {
	case <-over:
		return true
	case <-time.After(20 * time.Millisecond):
		return false
	}
}

func TestADeadProcessStaysWhereItIsUntilItIsBuried(t *testing.T) {
	for at, lines := range map[int]int{1: 0, 2: 1} { // before the claim, and after it
		n, p := new(notebook), New(at, Die, Watch{})
		wentOn := false
		over := start(func() {
			_, _ = Wrap[string](n, p).Claim(t.Context(), idem.Claim{})
			wentOn = true
		})
		<-p.Stopped()
		if isOver(over) {
			t.Errorf("%d: the goroutine is over", at)
		}
		p.Bury()
		<-over
		if wentOn || len(n.lines) != lines {
			t.Errorf("%d: went on: %t, written: %v", at, wentOn, n.lines)
		}
		if _, err := Wrap[string](n, p).Claim(t.Context(), idem.Claim{}); !errors.Is(err, idem.ErrClosed) || len(n.lines) != lines {
			t.Errorf("%d: who comes later hears %v, written: %v", at, err, n.lines)
		}
	}
}

func TestAPausedProcessGoesOnWhereItWas(t *testing.T) {
	n, p := new(notebook), New(2, Pause, Watch{})
	var claimed idem.Claimed
	over := start(func() { claimed, _ = Wrap[string](n, p).Claim(t.Context(), idem.Claim{}) })
	<-p.Stopped()
	if isOver(over) {
		t.Error("it does not pause")
	}
	p.Resume()
	<-over
	if !claimed.Won {
		t.Error("it has not got its answer")
	}
}

func TestAProcessThatIsCutOffHearsSo(t *testing.T) {
	n, p := new(notebook), New(2, CutOff, Watch{})
	store := Wrap[string](n, p)
	for range 2 {
		if _, err := store.Claim(t.Context(), idem.Claim{}); !errors.Is(err, ErrCutOff) {
			t.Errorf("got %v", err)
		}
	}
	if len(n.lines) != 1 {
		t.Errorf("written: %v, want the first claim", n.lines)
	}
}

// inTx makes a transaction with one write, at points 1 to 5.
func inTx(ctx context.Context, store idem.Store[string], then func()) error {
	return store.InTx(ctx, func(ctx context.Context, s idem.Session[string]) error {
		_, err := s.WriteEffect(ctx, idem.EffectWrite{State: idem.EffectDone})
		then()
		return err
	})
}

func TestATransactionOfADeadProcessIsRolledBackAtOnce(t *testing.T) {
	for at := 2; at <= 4; at++ {
		var told int
		n, p := new(notebook), New(at, Die, Watch{Wrote: func(idem.EffectWrite, idem.EffectWritten) { told++ }})
		over := start(func() { _ = inTx(t.Context(), Wrap[string](n, p), func() {}) })
		<-p.Stopped()
		if !p.Settle(5 * time.Second) {
			t.Fatalf("%d: the transaction stays open", at)
		}
		if len(n.ended) != 1 || !errors.Is(n.ended[0], errDied) || told != 0 {
			t.Errorf("%d: ended %v, told of %d writes", at, n.ended, told)
		}
		if isOver(over) {
			t.Errorf("%d: the process goes on", at)
		}
		p.Bury()
		<-over
	}
}

func TestNobodyPausesInATransaction(t *testing.T) {
	n, p := new(notebook), New(3, Pause, Watch{})
	if err := inTx(t.Context(), Wrap[string](n, p), func() {}); err != nil || len(p.Points()) != 5 || !p.Points()[2].InTx || p.Points()[4].InTx {
		t.Errorf("%v, %v", err, p.Points())
	}
}

func TestWhatHappensInATransactionGoesOnOutsideIt(t *testing.T) {
	store := Wrap[string](new(notebook), New(0, Die, Watch{}))
	func() {
		defer func() {
			if v := recover(); v != "no" {
				t.Errorf("panicked with %v", v)
			}
		}()
		_ = inTx(t.Context(), store, func() { panic("no") })
		t.Error("the panic is lost")
	}()
	wentOn := false
	<-start(func() {
		_ = inTx(t.Context(), store, runtime.Goexit)
		wentOn = true
	})
	if wentOn {
		t.Error("the end of the goroutine is lost")
	}
}

// TestAProcessSettlesWhenNothingOfItIsOnItsWay: neither a write nor a call.
func TestAProcessSettlesWhenNothingOfItIsOnItsWay(t *testing.T) {
	n, p := &notebook{claimed: make(chan struct{})}, New(0, Die, Watch{})
	store := Wrap[string](n, p)
	settled := func() bool { return p.Settle(5 * time.Millisecond) }
	over := start(func() { _, _ = store.Claim(t.Context(), idem.Claim{}) })
	<-n.claimed
	if settled() {
		t.Error("a claim is under way")
	}
	n.claimed <- struct{}{}
	<-over
	write := func(state idem.EffectState) {
		if _, err := store.WriteEffect(t.Context(), idem.EffectWrite{State: state, Guard: idem.GuardOnce}); err != nil {
			t.Error(err)
		}
	}
	write(idem.EffectStarted)
	if settled() {
		t.Error("a call is under way")
	}
	write(idem.EffectDone)
	if !settled() {
		t.Error("nothing is under way")
	}
}
