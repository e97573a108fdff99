//go:build !linux

package pgtest

import "syscall"

func endWithParent(*syscall.SysProcAttr) {}
