package matrix

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
)

// A Proxy stands between a process and PostgreSQL. It passes on a round trip as a
// whole: all that the process sends up to a Query or Sync, and all that the server
// answers up to ReadyForQuery. Between these it asks the watch.
type Proxy struct {
	watch         *Watch
	network, addr string // of the server
	listener      net.Listener
	conns         sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]bool
}

// NewProxy listens at a socket for connections to a server.
func NewProxy(socket, network, addr string, watch *Watch) (*Proxy, error) {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	p := &Proxy{watch: watch, network: network, addr: addr, listener: l, open: map[net.Conn]bool{}}
	p.conns.Go(p.accept)
	return p, nil
}

// Close cuts all connections.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	for c := range p.open {
		_ = c.Close() // it may be closed
	}
	p.open = nil
	p.mu.Unlock()
	p.conns.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial(p.network, p.addr)
		if err != nil {
			_ = client.Close() // which is how the process hears of it
			continue
		}
		if !p.keep(client, server) {
			return
		}
		t := &trip{watch: p.watch, names: map[string]string{}}
		cut := func() { _, _ = client.Close(), server.Close() } // both ways end, whichever was first
		p.conns.Go(func() { defer cut(); _ = t.requests(bufio.NewReader(client), server) })
		p.conns.Go(func() { defer cut(); _ = t.answers(bufio.NewReader(server), client) })
	}
}

func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.open == nil {
			_ = c.Close()
			continue
		}
		p.open[c] = true
	}
	return p.open != nil
}

var errStopped = errors.New("the process was stopped")

// A trip is one connection.
type trip struct {
	watch *Watch
	names map[string]string // of prepared statements

	mu      sync.Mutex
	waiting []string // what was sent and is not answered
}

// requests passes on what the process sends.
func (t *trip) requests(from *bufio.Reader, to io.Writer) error {
	if err := startup(from, to); err != nil {
		return err
	}
	var held []byte
	var says []string
	for {
		kind, message, err := read(from)
		if err != nil {
			return err
		}
		held = append(held, message...)
		if what := t.text(kind, message[5:]); what != "" {
			says = append(says, what)
		}
		switch kind {
		case 'Q', 'S':
			// To have a statement prepared changes nothing, and is not a point.
			what := strings.Join(says, "; ")
			if what != "" && !t.watch.Point("before "+what) {
				return errStopped
			}
			t.mu.Lock()
			t.waiting = append(t.waiting, what)
			t.mu.Unlock()
			says = nil
		case 'P', 'B', 'D', 'E', 'C': // part of what a Sync ends
			continue
		}
		if _, err := to.Write(held); err != nil {
			return err
		}
		held = held[:0]
	}
}

// answers passes on what the server says.
func (t *trip) answers(from *bufio.Reader, to io.Writer) error {
	var held []byte
	for {
		kind, message, err := read(from)
		if err != nil {
			return err
		}
		held = append(held, message...)
		if kind == 'Z' {
			t.mu.Lock()
			var what string
			if len(t.waiting) > 0 {
				what, t.waiting = t.waiting[0], t.waiting[1:]
			}
			t.mu.Unlock()
			if what != "" && !t.watch.Point("after "+what) {
				return errStopped
			}
		} else if from.Buffered() > 0 {
			continue
		}
		if _, err := to.Write(held); err != nil {
			return err
		}
		held = held[:0]
	}
}

// startup is the one message without a kind.
func startup(from io.Reader, to io.Writer) error {
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return err
	}
	if _, err := to.Write(size[:]); err != nil {
		return err
	}
	_, err := io.CopyN(to, from, int64(binary.BigEndian.Uint32(size[:]))-4)
	return err
}

func read(from *bufio.Reader) (kind byte, message []byte, err error) {
	head, err := from.Peek(5)
	if err != nil {
		return 0, nil, err
	}
	message = make([]byte, 1+binary.BigEndian.Uint32(head[1:]))
	_, err = io.ReadFull(from, message)
	return message[0], message, err
}

var blanks = regexp.MustCompile(`\s+`)

// text is what a message carries out, in a few words.
func (t *trip) text(kind byte, body []byte) string {
	first, rest, _ := strings.Cut(string(body), "\x00")
	switch kind {
	case 'Q':
		return short(first)
	case 'P':
		second, _, _ := strings.Cut(rest, "\x00")
		t.names[first] = short(second)
	case 'B':
		second, _, _ := strings.Cut(rest, "\x00")
		return t.names[second]
	}
	return ""
}

func short(statement string) string {
	s := blanks.ReplaceAllString(strings.TrimSpace(statement), " ")
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return s
}
