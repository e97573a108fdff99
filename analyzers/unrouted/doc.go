// Package unrouted finds effects of a contract's work that go around its ledger.
package unrouted

import (
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/internal/directive"
)

// beside is the header of what is generated for the page's examples.
var beside = string(directive.Seal([]byte(directive.Header("page.idem.yaml") + `

//idem:source file=page.idem.yaml sha256=00
//idem:contract kind=order_paid version=1 handler=MarkPaid effects=Effects

package page

import idem "github.com/idemgen/idem/runtime"

const _ = idem.RuntimeFormat1ElseRunIdemgen
`)))

// Doc is the rule's page.
var Doc = rule.Doc{
	Name:  "unrouted",
	Title: "find effects of work under a contract that go around the ledger",
	What: `
The handler of a contract, or what it calls, does something to the world outside or
adds to a database other than through its interface of effects: directly, in a
function of another package, in a closure, through a field of function type that is
set in one place, through an interface whose implementation can be seen, or through
one that has none and whose method is named like an act (Send, Charge, Publish). Or
code that is neither generated nor a test calls the handler of a contract or one of
its effect functions itself, or implements the handler's interface.`,
	Why: `
A handler runs again from the top after every failure. What goes through its
effects happens once, as the guard says; what goes around them happens once for each
attempt, and the ledger knows nothing of it. A handler that is called around its
contract is not kept from running twice at all.`,
	Silent: `
Requests that only ask, logs, metrics and traces; what stays in memory; what is said
to be //idem:pure; handlers and helpers that are called with the effects which the
caller was given itself; types that hold the interface and hand on to it; another
contract's Do.`,
	Fails: `
import (
	"context"
	"net/http"
)

// Generated code says of it: //idem:contract kind=order_paid handler=MarkPaid effects=Effects
func MarkPaid(ctx context.Context, effects Effects, order Order) (Paid, error) {
	if _, err := http.Post("https://shop.example/receipts", "text/plain", nil); err != nil {
		return Paid{}, err
	}
	return effects.Book(ctx, order)
}

type Effects interface {
	Book(ctx context.Context, order Order) (Paid, error)
}

type Order struct{ ID string }

type Paid struct{ Total int }
`,
	Passes: `
import "context"

func MarkPaid(ctx context.Context, effects Effects, order Order) (Paid, error) {
	if _, err := effects.Receipt(ctx, order); err != nil {
		return Paid{}, err
	}
	return effects.Book(ctx, order)
}

type Effects interface {
	Book(ctx context.Context, order Order) (Paid, error)
	Receipt(ctx context.Context, order Order) (Sent, error)
}

type Order struct{ ID string }

type Paid struct{ Total int }

type Sent struct{ ID string }
`,
	Beside: beside,
	Fix: `
Add an effect to the contract and to the handler's interface, and let its function do
what the handler did. Call a contract by its Do. Where a second time is harmless,
say //idem:pure above the function that does it, or write an ignore with the reason.`,
}
