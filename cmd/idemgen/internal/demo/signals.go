package demo

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Interruptible gives the context for [Run] in a program of its own: it ends with
// whatever a terminal or a supervisor sends to end a program, so that Run can
// clean up.
func Interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	// A reader who goes away (| head) would end the program at its next line. With
	// the signal taken the write fails instead, and Run sees that. The signal
	// itself says nothing: a write to the process that was killed raises it too.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return ctx, func() {
		stop()
		signal.Stop(pipe)
	}
}

// listener is a reader of the story. The demo ends when it goes.
type listener struct {
	io.Writer
	gone context.CancelCauseFunc
}

func (l listener) Write(b []byte) (int, error) {
	n, err := l.Writer.Write(b)
	if err != nil {
		l.gone(err)
	}
	return n, err
}
