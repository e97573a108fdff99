package idem

// Generated code names the format of what it asks of this package, in a constant
// whose name is the advice: where the two do not fit, the compiler reports that
// it is undefined. Of formats that are not supported any more the constants go.
//
// idemgen and this package are of one module, so that `go tool idemgen` writes
// what the program is built with.

// RuntimeFormat1ElseRunIdemgen says that code generated for format 1 fits.
const RuntimeFormat1ElseRunIdemgen = true

// Generated code calls these with the fields of identities, in functions that are
// never called: a field whose Go type has changed, and whose keys may have, does
// not compile, and the compiler's message says what to do.

// IdentityChangedRunIdemgen takes a field of the type that it had.
func IdentityChangedRunIdemgen[T any](T) {}

// IdentityString takes a field of a type of strings.
func IdentityString[T StringElseRunIdemgen](T) {}

// IdentityInt takes a field of a type of signed integers.
func IdentityInt[T IntElseRunIdemgen](T) {}

// IdentityUint takes a field of a type of unsigned integers.
func IdentityUint[T UintElseRunIdemgen](T) {}

// IdentityFloat64 takes a field of a type of float64.
func IdentityFloat64[T Float64ElseRunIdemgen](T) {}

// IdentityFloat32 takes a field of a type of float32.
func IdentityFloat32[T Float32ElseRunIdemgen](T) {}

// IdentityBool takes a field of a type of truth values.
func IdentityBool[T BoolElseRunIdemgen](T) {}

// What fields of named types are made of: a conversion in a derivation would take
// a number for a text, or cut it off.
type (
	StringElseRunIdemgen interface{ ~string }

	IntElseRunIdemgen interface {
		~int | ~int8 | ~int16 | ~int32 | ~int64
	}
	UintElseRunIdemgen interface {
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
	}

	Float64ElseRunIdemgen interface{ ~float64 }
	Float32ElseRunIdemgen interface{ ~float32 }
	BoolElseRunIdemgen    interface{ ~bool }
)
