package torture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
)

// proxy passes connections on to a PostgreSQL server and cuts some of them: when the
// server says that it has committed, before the client hears it, or in the middle
// of what the client says.
type proxy struct {
	listener net.Listener
	url      string
	network  string
	address  string
	round    *round

	mu      sync.Mutex
	open    map[net.Conn]bool
	serving sync.WaitGroup
	unheard atomic.Int64 // commits whose acknowledgement was cut off
	cut     atomic.Int64 // connections cut elsewhere
}

func startProxy(at string, r *round) (*proxy, error) {
	config, err := pgconn.ParseConfig(at)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, round: r, open: make(map[net.Conn]bool)}
	p.network, p.address = pgconn.NetworkAddress(config.Host, config.Port)
	port := listener.Addr().(*net.TCPAddr).Port
	p.url = (&url.URL{
		Scheme: "postgres", User: url.UserPassword(config.User, config.Password), Host: "127.0.0.1:" + strconv.Itoa(port),
		Path: "/" + config.Database, RawQuery: "sslmode=disable", // it reads what is said
	}).String()
	p.serving.Go(p.accept)
	return p, nil
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	for conn := range p.open {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.serving.Wait()
	p.round.log.printf("proxy: %d acknowledgements of commits and %d other connections were cut", p.unheard.Load(), p.cut.Load())
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(p.network, p.address)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.open[client], p.open[server] = true, true
		p.mu.Unlock()
		var both sync.WaitGroup
		end := func() {
			_ = client.Close()
			_ = server.Close()
		}
		both.Go(func() {
			defer end()
			p.requests(server, client)
		})
		both.Go(func() {
			defer end()
			_ = p.answers(client, server) // whoever ended it, it is over
		})
		p.serving.Go(func() {
			both.Wait()
			p.mu.Lock()
			delete(p.open, client)
			delete(p.open, server)
			p.mu.Unlock()
		})
	}
}

// requests passes on what the client says. Once in a while it is only a part.
func (p *proxy) requests(server io.Writer, client io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		if p.round.draw(300) == 0 {
			p.cut.Add(1)
			_, _ = server.Write(buffer[:p.round.draw(n+1)])
			return
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

var errCut = errors.New("cut off")

// answers passes on what the server says, message by message: a byte for its type,
// and its length with itself but without the type (PostgreSQL, chapter "Message
// Formats").
func (p *proxy) answers(client io.Writer, server io.Reader) error {
	from, to := bufio.NewReader(server), bufio.NewWriter(client)
	var message []byte
	var commits commits
	for {
		var err error
		if message, err = readMessage(from, message); err != nil {
			return err
		}
		if commits.saw(message) && p.round.draw(40) == 0 {
			p.unheard.Add(1)
			p.round.troubles.Add(1)
			return errors.Join(errCut, to.Flush())
		}
		if _, err := to.Write(message); err != nil {
			return err
		}
		if from.Buffered() > 0 {
			continue
		}
		if err := to.Flush(); err != nil {
			return err
		}
	}
}

// commits finds out when something was committed.
type commits struct {
	wrote bool // what is not committed yet
}

// saw tells whether a message of the server acknowledges a commit: by name, or as the
// end of statements that were sent together without one.
func (c *commits) saw(message []byte) bool {
	switch tag := message[5:]; message[0] {
	case 'C':
		if bytes.HasPrefix(tag, []byte("COMMIT\x00")) {
			c.wrote = false
			return true
		}
		for _, write := range []string{"INSERT ", "UPDATE ", "DELETE "} {
			c.wrote = c.wrote || bytes.HasPrefix(tag, []byte(write))
		}
	case 'Z':
		const idle = 'I' // outside a transaction
		if len(tag) == 1 && tag[0] == idle {
			wrote := c.wrote
			c.wrote = false
			return wrote
		}
	}
	return false
}

// readMessage reads a whole message into a buffer that it may have to grow.
func readMessage(from io.Reader, buffer []byte) ([]byte, error) {
	const head = 5
	buffer = slices.Grow(buffer[:0], head)[:head]
	if _, err := io.ReadFull(from, buffer); err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint32(buffer[1:])) - 4
	if size < 0 || size > 1<<26 {
		return nil, errors.New("this is no message")
	}
	buffer = slices.Grow(buffer, size)[:head+size]
	_, err := io.ReadFull(from, buffer[head:])
	return buffer, err
}
