// Package echo stands for the library.
package echo

import "net/http"

type Context interface {
	Request() *http.Request
	Bind(i any) error
	Param(name string) string
	JSON(code int, i any) error
	NoContent(code int) error
}

type HandlerFunc func(c Context) error

func NewHTTPError(code int, message ...any) error { return nil }
