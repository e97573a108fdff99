package idem

// Generated code names the format of what it asks of this package, in a constant
// whose name is the advice: where the two do not fit, the compiler reports that
// it is undefined. Of formats that are not supported any more the constants go.
//
// idemgen and this package are of one module, so that `go tool idemgen` writes
// what the program is built with.

// RuntimeFormat1ElseRunIdemgen says that code generated for format 1 fits.
const RuntimeFormat1ElseRunIdemgen = true
