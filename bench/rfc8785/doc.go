// Package rfc8785 compares the canonicaliser of untyped JSON with an independent
// implementation of RFC 8785 on random documents, and explains where they differ:
// idem is stricter (what two readers may read differently is an error), keeps
// integers that a float64 cannot hold, and brings texts to one Unicode form.
package rfc8785
