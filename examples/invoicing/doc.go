// Package invoicing is a small billing program that does not bill twice.
//
// A shop's webhook says that an order was paid. The program then makes four
// things happen: a draft in its own tables, a payment intent at a provider, a
// note in a CRM and a message to the customer. Webhooks are delivered at least
// once, calls time out after they have worked, and programs are killed. The
// contracts in billing.idem.yaml say what is the same work and what makes each
// effect safe to repeat; the generated billing_idem.go keeps them.
//
// Read orders.go first (the handlers, plain Go), then effects.go (what each
// effect does, once), then webhook.go (the one call, and when to acknowledge).
// Package fakes has the three services as servers that misbehave when told to.
package invoicing

//go:generate go run github.com/idemgen/idem/cmd/idemgen
