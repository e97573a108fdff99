// Package idem stands for the runtime's types.
package idem

type WorkID struct{ sum [32]byte }

func (WorkID) String() string { return "" }

type Call interface {
	Key() string
	WorkID() WorkID
}
