// Package contracts is the contract language: it reads NAME.idem.yaml files.
//
// [Parse] turns the bytes of one file into a [File] of [Contract] values, in
// which every answer carries the place where it was written, and into
// [Diagnostics] that hold everything that is wrong with the file, all in one
// run. A later stage that knows more (the Go types, say) reports at the same
// places with [File.Errorf] and [Diagnostic.At], so that all messages of the
// tool look alike:
//
//	billing/invoice.idem.yaml:9:21: identity.key: type OrderPaid has no field ShopifyOrderId (did you mean ShopifyOrderID?)
//	  9 |     identity: {key: ShopifyOrderId}
//	    |                     ^^^^^^^^^^^^^^
//	  billing/orders.go:21:6: OrderPaid is declared here
//
// The package knows no Go types and nothing of the generator or the runtime.
// It decides what can be decided by reading the file alone: that the required
// questions are answered, that words, names, durations and ranges are
// possible, and that the parameters of an effect fit its guard.
//
// Where to find what:
//
//   - model.go: what a contract says, the defaults and the derived figures
//   - names.go: effect names and the Go methods that stand for them
//   - diagnostic.go, snippet.go, suggest.go: messages, their text form, "did you mean"
//   - source.go: bytes to lines, and what is refused before YAML is read
//   - syntax.go: places and words for YAML's own syntax errors
//   - reader.go, scalar.go: mappings and scalars with their surprises
//   - contract.go, identity.go, supersedes.go, effect.go: the words of the language
//   - delivery.go, provider.go: what brings the work and what it acts on, by the tables of package knowledge
//   - checks.go: rules between several answers
//   - schema.go, schema_words.go: the language for editors
//
// Nothing in the package is shared between calls; everything may be used from
// several goroutines as long as no one changes a value that another reads.
package contracts
