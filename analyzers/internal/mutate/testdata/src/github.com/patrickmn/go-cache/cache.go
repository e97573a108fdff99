// Package cache stands for the library.
package cache

import "time"

type Cache struct{ *cache }

type cache struct{}

func New(ttl, cleanup time.Duration) *Cache                 { return nil }
func (c *cache) Get(k string) (any, bool)                   { return nil, false }
func (c *cache) Set(k string, x any, d time.Duration)       {}
func (c *cache) SetDefault(k string, x any)                 {}
func (c *cache) Add(k string, x any, d time.Duration) error { return nil }
func (c *cache) Delete(k string)                            {}
