// Package lru stands for the library.
package lru

type Cache[K comparable, V any] struct{}

func New[K comparable, V any](size int) (*Cache[K, V], error)          { return nil, nil }
func (c *Cache[K, V]) Get(key K) (v V, ok bool)                        { return v, false }
func (c *Cache[K, V]) Contains(key K) bool                             { return false }
func (c *Cache[K, V]) Add(key K, value V) bool                         { return false }
func (c *Cache[K, V]) ContainsOrAdd(key K, value V) (ok, evicted bool) { return false, false }
func (c *Cache[K, V]) Remove(key K) bool                               { return false }
