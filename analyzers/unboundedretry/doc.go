// Package unboundedretry finds effects that are repeated for ever.
package unboundedretry

import "github.com/idemgen/idem/analyzers/internal/rule"

// Doc is the rule's page.
var Doc = rule.Doc{
	Name:  "unboundedretry",
	Title: "find effects that are retried without end",
	What: `
A loop that ends only on success, or a retry helper that has no limit of its own and
is given none, with an effect on the world outside in it: money, a message, a queue,
a third party.`,
	Why: `
An error that does not go away (a card that is declined, an address that does not
exist) is tried for ever: nobody hears of it, nothing behind it is done, and the
other side gets the same request day and night. If an attempt succeeds and its
answer is always lost, each round has the effect again.`,
	Silent: `
Loops with a condition, a counter, a deadline, a context that can end, or any way out
after an error; consumer loops that fetch what they work on; loops that accept or
restore connections; helpers that are limited by an option, a context or a maximum
anywhere in the function.`,
	Fails: `
import "time"

type mailer interface {
	SendMail(to, idempotencyKey string) error
}

func remind(m mailer, to, invoiceID string) error {
	for {
		err := m.SendMail(to, "remind:"+invoiceID)
		if err == nil {
			return nil
		}
		time.Sleep(time.Second)
	}
}`,
	Passes: `
import "time"

type mailer interface {
	SendMail(to, idempotencyKey string) error
}

func remind(m mailer, to, invoiceID string) error {
	for attempt := 1; ; attempt++ {
		err := m.SendMail(to, "remind:"+invoiceID)
		if err == nil {
			return nil
		}
		if attempt == 5 {
			return err
		}
		time.Sleep(time.Second)
	}
}`,
	Fix: `
Give up after a number of attempts or at a deadline, and at once on an error that
another attempt cannot cure; then put the work where somebody sees it.`,
}
