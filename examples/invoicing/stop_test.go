package invoicing_test

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/idemgen/idem/examples/invoicing"
	idem "github.com/idemgen/idem/runtime"
)

// TestAProgramThatDiesAtAnyStepInvoicesOnce kills a process at each step of an
// order in turn, and lets another one take over.
func TestAProgramThatDiesAtAnyStepInvoicesOnce(t *testing.T) {
	unknown, sent, stopped := 0, 0, true
	var at int64
	for ; stopped; at++ {
		t.Run(fmt.Sprintf("step %d", at), func(t *testing.T) {
			stopped = false // also if the test ends here
			w := newWorld(t)
			stopped = w.diesAt(at)
			w.clock.advance(time.Minute) // its lease is over
			_, err := redeliver(w, w.OrderPaid, order(1))
			switch {
			case errors.Is(err, idem.ErrOutcomeUnknown):
				unknown++
				messages := w.chat.Applied("1")
				sent += messages
				w.wantCounts(order(1), counts{1, 1, 1, min(messages, 1)})
			case err != nil:
				t.Error(err)
			default:
				w.wantCounts(order(1), counts{1, 1, 1, 1})
			}
		})
	}
	t.Logf("%d steps; unknown after %d of them, and the message was sent in %d of those", at-1, unknown, sent)
	// The message is unknown from its row's commit to the commit of its answer:
	// after the row, before the call, after the call, before the answer's row.
	if unknown != 4 || sent != 2 {
		t.Errorf("unknown after %d steps, want 4, sent in %d, want 2", unknown, sent)
	}
	// Two for the claim, three for the draft, six for each of three calls, two for the end.
	if at-1 < 25 {
		t.Errorf("%d steps, want 25 or more: the program did not die at all of them", at-1)
	}
}

// diesAt handles the first order in a process that is killed at a step. It is
// false if the process came to its end before.
func (w *world) diesAt(step int64) bool {
	w.t.Helper()
	child, _, alive := startChild(w.t, job{Stop: step, Config: invoicing.Config{
		Database: w.path, Payments: w.paymentsURL, CRM: w.crmURL, Chat: w.chatURL,
	}})
	err := child.Wait()
	_ = alive.Close()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.Exited()) {
		w.t.Fatalf("the child failed: %v", err)
	}
	return err != nil
}
