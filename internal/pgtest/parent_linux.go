package pgtest

import "syscall"

// endWithParent makes the server end at once with a test that was killed.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }
