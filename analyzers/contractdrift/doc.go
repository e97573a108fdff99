// Package contractdrift finds generated code that does not fit its contract.
package contractdrift

import (
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/internal/directive"
)

// beside is what is generated for the page's examples.
var beside = string(directive.Seal([]byte(directive.Header("page.idem.yaml") + `

//idem:source file=page.idem.yaml sha256=00
//idem:contract kind=order_paid version=1 handler=MarkPaid effects=Effects
//idem:effectfunc kind=order_paid effect=receipt guard=once func=sendReceipt

package page

import idem "github.com/idemgen/idem/runtime"

const _ = idem.RuntimeFormat1ElseRunIdemgen
`)))

// Doc is the rule's page.
var Doc = rule.Doc{
	Name:  "contractdrift",
	Title: "find generated code that does not fit its contract",
	What: `
A file that idemgen has written was changed by hand; it does not say which runtime it
was made for; or it knows an effect that the handler's interface has no longer. It is
reported at the handler. Run as idemlint (and not by go vet, an editor or
golangci-lint, whose caches see Go files alone) it looks at contract files as well:
one that has changed since its code was generated, or has none; code whose contract
file is gone; and a version of a contract that idem.lock does not know, or knows
with another identity. That is reported at the file that is newer.`,
	Why: `
What runs is what was generated. A contract that says more than that, or a guard
that was changed in its Go code, is a promise that nobody keeps, and the next run of
idemgen undoes what was changed by hand.`,
	Silent: `
What the compiler says already: a method that is new in the interface, a field of the
identity whose type has changed, code for another runtime. Whether fields were
added to inputs takes idemgen check to see, which makes everything again and
compares.`,
	Beside: beside,
	Fails: `
import "context"

// Generated code knows the effect receipt of this handler.
func MarkPaid(ctx context.Context, effects Effects, order Order) (Paid, error) {
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
	return effects.Receipt(ctx, order)
}

type Effects interface {
	Receipt(ctx context.Context, order Order) (Paid, error)
}

type Order struct{ ID string }

type Paid struct{ Total int }
`,
	Fix: `
Run idemgen, and commit what it writes together with the contract and idem.lock.
Change contracts, never what was generated. idemgen check in the build holds all
of it.`,
}
