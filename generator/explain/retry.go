package explain

import (
	"fmt"
	"time"

	"github.com/idemgen/idem/contracts"
)

func retries(w *writer, c *contracts.Contract) {
	n := c.Retry.MaxAttempts.V
	if n == 1 {
		w.para("Once. If that attempt fails, the work is dead.")
	} else {
		w.para("Up to %d times. Failed work is run again when its message is delivered again, never by itself; a delivery that comes too early gets ErrRetryLater. If attempt %d fails too, the work is dead.", n, n)
		pauses(w, c)
	}
	if oneTransaction(c) {
		w.para("An attempt may take up to %s, and its transaction a third of the lease of %s. If its process dies, nothing is left of the attempt and it is not counted: the next delivery begins anew.", span(c.Timeout.V), span(c.Lease.V))
	} else {
		dies(w, c)
	}
	if len(c.Retry.Permanent) > 0 {
		w.para("Given up at once after %s.", or(paths(c.Retry.Permanent)))
	}
	if len(c.Retry.Transient) > 0 {
		w.para("Known to have done nothing, and tried again: %s.", and(paths(c.Retry.Transient)))
	}
}

// dies says what becomes of the work of a process that dies.
func dies(w *writer, c *contracts.Contract) {
	n := c.Retry.MaxAttempts.V
	then := "the next delivery after that takes it over, which counts as an attempt"
	if n == 1 {
		then = "the next delivery after that finds no attempt left, and the work is dead"
	}
	w.para("An attempt may take up to %s. If its process dies, the work stays “running” until its lease of %s is over, counted from its last renewal; %s.", span(c.Timeout.V), span(c.Lease.V), then)
	if n > 1 {
		w.para("From the moment at which the first attempt can act to the last one pass at most %s, if every delivery comes as soon as it may: %d attempts of up to %s, %s of %s and the pauses. A source that delivers later makes it longer.",
			about(c.RetrySchedule()), n, span(c.Timeout.V), plural(n-1, "lease"), span(c.Lease.V))
	}
}

// maxPauses is how many pauses are listed one by one.
const maxPauses = 10

// pauses lists the longest pause before each attempt.
func pauses(w *writer, c *contracts.Contract) {
	w.para("The pause before an attempt is a random time, so that failed work does not come back all at once. At the longest it is:")
	rows := [][]string{{"before attempt", "at most"}}
	last := c.Retry.MaxAttempts.V
	for n := 2; n <= last; n++ {
		longest := pause(c, n)
		if n-1 == maxPauses && n < last || longest == c.Retry.Backoff.Max.V && n < last && pause(c, n+1) == longest {
			rows = append(rows, []string{fmt.Sprintf("%d to %d", n, last), untilMax(c, longest)})
			break
		}
		rows = append(rows, []string{fmt.Sprint(n), about(longest)})
	}
	w.table(rows)
}

func untilMax(c *contracts.Contract, from time.Duration) string {
	if from == pause(c, c.Retry.MaxAttempts.V) {
		return about(from) + " each"
	}
	return fmt.Sprintf("%s, %g times as much each time, up to %s", about(from), c.Retry.Backoff.Multiplier.V, span(c.Retry.Backoff.Max.V))
}

// pause is the longest pause before attempt n, which is 2 or more.
func pause(c *contracts.Contract, n int) time.Duration {
	limit := float64(c.Retry.Backoff.Max.V)
	d := min(float64(c.Retry.Backoff.Initial.V), limit)
	for range n - 2 {
		d = min(d*c.Retry.Backoff.Multiplier.V, limit)
	}
	return time.Duration(d)
}
