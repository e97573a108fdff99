// Package xid stands for the library.
package xid

type ID [12]byte

func New() ID               { return ID{} }
func (u ID) String() string { return "" }
