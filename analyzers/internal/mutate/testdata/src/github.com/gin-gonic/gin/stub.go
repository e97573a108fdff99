// Package gin stands for the library.
package gin

import "net/http"

type H map[string]any

type HandlerFunc func(*Context)

type Context struct{ Request *http.Request }

func (c *Context) GetHeader(key string) string  { return "" }
func (c *Context) Param(key string) string      { return "" }
func (c *Context) ShouldBindJSON(obj any) error { return nil }
func (c *Context) JSON(code int, obj any)       {}
func (c *Context) Status(code int)              {}
func (c *Context) AbortWithStatus(code int)     {}
func (c *Context) Next()                        {}
