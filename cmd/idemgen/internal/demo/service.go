package demo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// service is the program as a process that dies and comes back. Its methods are
// safe for concurrent use; start, kill and stop take turns.
type service struct {
	binary  string
	args    []string
	logPath string // of its standard error

	mu      sync.Mutex
	running *process
	up      chan struct{} // closed while the process listens
}

// process is one life of the service.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	addr  string
	log   *os.File
}

func newService(binary, logPath string, args ...string) *service {
	return &service{binary: binary, args: args, logPath: logPath, up: make(chan struct{})}
}

// start starts the process and waits until it listens. It ends with ctx at the
// latest, and with this process in any case: then its standard input ends.
func (s *service) start(ctx context.Context) (pid int, err error) {
	p := &process{cmd: exec.CommandContext(ctx, s.binary, s.args...)}
	if p.log, err = os.OpenFile(s.logPath, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return 0, fmt.Errorf("start the program: %w", err)
	}
	p.cmd.Stderr = p.log
	p.cmd.WaitDelay = time.Second
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return 0, errors.Join(fmt.Errorf("start the program: %w", err), p.log.Close())
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return 0, errors.Join(fmt.Errorf("start the program: %w", err), p.log.Close())
	}
	if err := p.cmd.Start(); err != nil {
		return 0, errors.Join(fmt.Errorf("start the program: %w", err), p.log.Close())
	}
	hung := time.AfterFunc(30*time.Second, func() { _ = p.cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	hung.Stop()
	p.addr = strings.TrimSpace(line)
	if _, _, splitErr := net.SplitHostPort(p.addr); err != nil || splitErr != nil {
		// What it died of is in its log, which says more than its exit code.
		_ = p.end(p.cmd.Process.Kill)
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return 0, fmt.Errorf("start the program: it did not say where it listens%s", s.lastWords())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = p
	close(s.up)
	return p.cmd.Process.Pid, nil
}

// address is where the process listens. It waits while there is none.
func (s *service) address(ctx context.Context) (string, error) {
	for {
		s.mu.Lock()
		running, up := s.running, s.up
		s.mu.Unlock()
		if running != nil {
			return running.addr, nil
		}
		select {
		case <-up:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// kill ends the process with SIGKILL, which it can neither see nor delay, and
// waits until it is gone.
func (s *service) kill() (pid int) {
	p := s.take()
	if p == nil {
		return 0
	}
	// It was killed: that it did not exit well is no news.
	_ = p.end(p.cmd.Process.Kill)
	return p.cmd.Process.Pid
}

// stop lets the process finish what it does.
func (s *service) stop() error {
	p := s.take()
	if p == nil {
		return nil
	}
	patience := time.AfterFunc(10*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer patience.Stop()
	if err := p.end(p.stdin.Close); err != nil {
		return fmt.Errorf("stop the program: %w%s", err, s.lastWords())
	}
	return nil
}

// take leaves the service without a process.
func (s *service) take() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.running
	if p != nil {
		s.running, s.up = nil, make(chan struct{})
	}
	return p
}

// end makes the process end and waits for it.
func (p *process) end(how func() error) error {
	err := how()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	return errors.Join(err, p.cmd.Wait(), p.log.Close())
}

// lastWords is the end of the service's log, for messages.
func (s *service) lastWords() string {
	text, err := os.ReadFile(s.logPath)
	if err != nil {
		return fmt.Sprintf(" (and its log cannot be read: %v)", err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	const most = 5
	if len(lines) > most {
		lines = lines[len(lines)-most:]
	}
	if len(lines[0]) == 0 {
		return " (and logged nothing)"
	}
	return "; it logged:\n  " + string(bytes.Join(lines, []byte("\n  ")))
}
