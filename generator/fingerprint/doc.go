// Package fingerprint describes resolved contracts as idem.lock has them: how
// each value of an identity is encoded, and the work ID of a sample.
//
// What it says of an identity is what decides about its bytes. Go names of types
// and fields are not in it, nor is which types are shared: two types that are
// written alike are described alike. Of a type that writes itself (MarshalText,
// AppendCanonical) nothing is known but its name, which counts if the type comes
// from another module; one of the own module may be renamed and moved.
//
// # Samples
//
// A golden key is that of an input with one fixed value for each encoding, which
// package canon writes as it does for generated code:
//
//	string          " Sample  Café " with a combining accent; with the normalisers
//	                digits, email or url: a number, address or page
//	int, number     42 (decimals and minor units too), float64 and float32 0.1
//	bool            true
//	base64          the bytes of "sample"
//	time            2026-03-01T12:34:56.987654321Z
//	json            {"b":[1,"two"],"a":null}
//	text            what a few well-known types write; else there is no golden key
//	null or a value the value, but null where the type would contain itself
//	list, map       one element, under the name 42; none where the type would
//	                contain itself
//
// A sample of more than 1 MiB is given up: types that hold each other in many
// ways have no golden key.
//
// Where to find what:
//
//   - fingerprint.go: contracts to entries of idem.lock
//   - members.go: an object as a list of paths and encodings
//   - classes.go: which types are written alike
//   - sample.go: golden keys
package fingerprint
