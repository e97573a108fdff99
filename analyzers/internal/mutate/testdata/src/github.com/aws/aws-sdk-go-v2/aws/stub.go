// Package aws stands for the library.
package aws

func String(v string) *string   { return &v }
func ToString(p *string) string { return *p }
