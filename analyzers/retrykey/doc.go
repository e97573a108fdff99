// Package retrykey finds effects that are repeated until they succeed, without a key
// that stays the same.
package retrykey

import "github.com/idemgen/idem/analyzers/internal/rule"

// Doc is the rule's page.
var Doc = rule.Doc{
	Name:  "retrykey",
	Title: "find effects that are retried without a key that stays the same",
	What: `
A loop that ends on success and goes round on error, a function that a retry helper
calls, or an HTTP transport that sends requests again, with an effect on the world
outside in it (money, a message, a queue, a third party) for which no idempotency
key is given; or the key is made in the loop, so that each attempt has another one.`,
	Why: `
An attempt that fails may have succeeded: the answer was lost, or came too late. The
next attempt then charges, sends or creates a second time. With a key that is the
same for all attempts, the other side recognises the second as the first.`,
	Silent: `
Loops in which success goes on to the next item, loops that change the account or
server with each round, attempts that are repeated only if the other side has
refused (too many requests, not authorised, no connection), requests of which the
other side says that they have been done already (409, "already exists") where the
code looks at that answer, PUT and DELETE, and requests whose names say that they
only ask.`,
	Fails: `
import (
	"net/http"
	"strings"
	"time"
)

func charge(body string) (err error) {
	for range 3 {
		var resp *http.Response
		resp, err = http.Post("https://pay.example/charges", "application/json", strings.NewReader(body))
		if err == nil {
			return resp.Body.Close()
		}
		time.Sleep(time.Second)
	}
	return err
}`,
	Passes: `
import (
	"net/http"
	"strings"
	"time"
)

func charge(invoiceID, body string) (err error) {
	for range 3 {
		req, err := http.NewRequest("POST", "https://pay.example/charges", strings.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Idempotency-Key", "charge:"+invoiceID)
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			return resp.Body.Close()
		}
		time.Sleep(time.Second)
	}
	return err
}`,
	Fix: `
Make one key before the first attempt, from what identifies the work, and send it
with each. Where the other side takes no key, look before each further attempt
whether the one before has succeeded, or do not retry what may have.`,
}
