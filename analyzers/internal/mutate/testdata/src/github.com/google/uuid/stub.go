// Package uuid stands for the library.
package uuid

type UUID [16]byte

var NameSpaceURL UUID

func New() UUID                            { return UUID{} }
func NewString() string                    { return "" }
func NewSHA1(space UUID, data []byte) UUID { return UUID{} }
func MustParse(s string) UUID              { return UUID{} }
func NewV7() (UUID, error)                 { return UUID{}, nil }
func Must(u UUID, err error) UUID          { return u }
func (u UUID) String() string              { return "" }
