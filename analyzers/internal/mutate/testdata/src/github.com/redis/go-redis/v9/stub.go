// Package redis stands for the library.
package redis

import (
	"context"
	"errors"
	"time"
)

var Nil = errors.New("redis: nil")

type StringCmd struct{ err error }

func (c *StringCmd) Result() (string, error) { return "", c.err }
func (c *StringCmd) Err() error              { return c.err }
func (c *StringCmd) Val() string             { return "" }

type StatusCmd struct{ err error }

func (c *StatusCmd) Result() (string, error) { return "", c.err }
func (c *StatusCmd) Err() error              { return c.err }

type BoolCmd struct{ err error }

func (c *BoolCmd) Result() (bool, error) { return false, c.err }
func (c *BoolCmd) Err() error            { return c.err }
func (c *BoolCmd) Val() bool             { return false }

type IntCmd struct{ err error }

func (c *IntCmd) Result() (int64, error) { return 0, c.err }
func (c *IntCmd) Err() error             { return c.err }
func (c *IntCmd) Val() int64             { return 0 }

type XAddArgs struct {
	Stream string
	Values any
}

type cmdable func() error

func (c cmdable) Get(ctx context.Context, key string) *StringCmd { return nil }
func (c cmdable) Set(ctx context.Context, key string, value any, ttl time.Duration) *StatusCmd {
	return nil
}
func (c cmdable) SetNX(ctx context.Context, key string, value any, ttl time.Duration) *BoolCmd {
	return nil
}
func (c cmdable) Exists(ctx context.Context, keys ...string) *IntCmd                { return nil }
func (c cmdable) Del(ctx context.Context, keys ...string) *IntCmd                   { return nil }
func (c cmdable) SAdd(ctx context.Context, key string, members ...any) *IntCmd      { return nil }
func (c cmdable) SIsMember(ctx context.Context, key string, member any) *BoolCmd    { return nil }
func (c cmdable) HGet(ctx context.Context, key, field string) *StringCmd            { return nil }
func (c cmdable) HSet(ctx context.Context, key string, values ...any) *IntCmd       { return nil }
func (c cmdable) HExists(ctx context.Context, key, field string) *BoolCmd           { return nil }
func (c cmdable) HSetNX(ctx context.Context, key, field string, value any) *BoolCmd { return nil }
func (c cmdable) XAdd(ctx context.Context, a *XAddArgs) *StringCmd                  { return nil }
func (c cmdable) XAck(ctx context.Context, stream, group string, ids ...string) *IntCmd {
	return nil
}
func (c cmdable) Publish(ctx context.Context, channel string, message any) *IntCmd { return nil }

type Client struct{ cmdable }
