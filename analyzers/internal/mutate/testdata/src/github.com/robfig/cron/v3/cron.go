// Package cron stands for the library.
package cron

type Cron struct{}

func New() *Cron                                           { return nil }
func (c *Cron) AddFunc(spec string, f func()) (int, error) { return 0, nil }
