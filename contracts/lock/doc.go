// Package lock is idem.lock: what the contracts of one module said when they
// were generated last, so that no change can make done work new, or an effect of
// work in flight another one, without being seen.
//
// For each kind of work and version the file holds the identity (fields, the
// names they have in JSON, and how each is encoded), its digest, the window, one
// golden key, and the effects. It is YAML, sorted, one fact per line, so that
// changes on two branches merge:
//
//	format: 1
//	kinds:
//	  order_paid:
//	    versions:
//	      1:
//	        identity: key
//	        key:
//	          - field: PaymentID
//	            wire: payment_id
//	            type: string
//	        digest: "a6e1…"
//	        golden: "0b5c…"
//	        window: 90d
//	        effects:
//	          send_receipt:
//	            guard: once
//
// [Parse] reads it, [File.Format] writes it, and [File.Update] compares it with
// what the contracts say now: it gives the file as it should be, and diagnostics
// at the places of the contracts for what must not change. The package knows no
// Go types; whoever does describes a contract as a [Version].
//
// # What is a change
//
// The digest covers what decides about the bytes that are hashed, and nothing
// else: the encoded types, their order, and for a hash the wire names. A key's
// own name is no part of its bytes, so that a field may be renamed; but the
// contract may not choose another field. A field counts as renamed if it keeps
// its wire name, if it keeps its Go name and no other field has taken its wire
// name, or if the input has neither of the old ones any more.
//
// Parts of a list that may be empty say how: to allow that, or no longer, is no
// change, but null is another key than a text without letters.
//
// Where to find what:
//
//   - lock.go: what the file says
//   - format.go: the file as text
//   - read.go, parse.go: text to lines and blocks, blocks to what they say
//   - compare.go, messages.go: what may change, and how it is told
//   - succession.go: what a bump means, and which versions are honoured
//
// Nothing in the package is shared between calls.
package lock
