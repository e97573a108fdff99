// Package knowledge holds what is publicly known of the systems around a
// handler, as tables in which every figure names its source:
//
//   - [Delivery] (`delivered_by: stripe`): for how long a system may deliver
//     the same message again, and how soon it wants an answer.
//   - [Provider] (`provider: stripe`): how a system recognises a repeated
//     call, for how long, and what a repeat would move: money, somebody's
//     inbox, or state.
//
// Look a row up with [DeliveryNamed] and [ProviderNamed]; all rows, in the
// order of their names, come from [Deliveries] and [Providers]; for "did you
// mean" there are [DeliveryNames] and [ProviderNames].
//
// # Which way a figure errs
//
// A wrong figure costs somebody's money, so both tables err on one side. A
// horizon is an upper bound: where sources differ, or round, the longer one
// stands. A memory is a lower bound: of a provider whose endpoints remember
// for different times, the shortest stands. What no source says is "not
// stated" ([Span.Get] answers false), and the contract has to say it.
//
// The tables describe defaults. Whoever has set a queue's retention or a
// webhook's timeout says so in the contract (`redelivers_for`, `ack_within`,
// `remembers_for`), and the contract wins.
//
// # Changing a row
//
// Edit the table, give the source and the day on which it was read, and run
// `go test ./contracts/knowledge -update` (or `go generate`), which writes
// docs/delivery.md and docs/providers.md. A test holds them equal.
//
// The package imports nothing but the standard library. Everything it returns
// is a copy; all of it may be used from several goroutines.
package knowledge

//go:generate go test -run ^TestDocsEqualTheTables$ -count=1 . -update
