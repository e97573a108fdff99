// Package backoff stands for the library.
package backoff

import "context"

type BackOff interface{ Reset() }

type ExponentialBackOff struct{ MaxElapsedTime int64 }

func (b *ExponentialBackOff) Reset() {}

type Operation func() error

func NewExponentialBackOff() *ExponentialBackOff         { return nil }
func WithMaxRetries(b BackOff, n uint64) BackOff         { return b }
func WithContext(b BackOff, ctx context.Context) BackOff { return b }
func Retry(o Operation, b BackOff) error                 { return o() }
func Permanent(err error) error                          { return err }
