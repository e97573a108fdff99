// Package ulid stands for the library.
package ulid

type ULID [16]byte

func Make() ULID              { return ULID{} }
func (u ULID) String() string { return "" }
