// Package retry stands for the library.
package retry

import "context"

type Option any

func Do(f func() error, opts ...Option) error { return f() }
func Attempts(n uint) Option                  { return n }
func Context(ctx context.Context) Option      { return ctx }
func RetryIf(f func(error) bool) Option       { return f }
