// Package lsptest is an editor reduced to what tests of a language server need: it
// opens files, changes them, and asks what is wrong with them and what can be done.
package lsptest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Client is one editor with one server of its own.
type Client struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr *strings.Builder // to be read after Close
	texts  map[string]string

	mu        sync.Mutex
	last      int
	version   int
	answers   map[int]chan answer
	published map[string]chan []Diagnostic // by file: those that came without a question
	failure   error                        // why there will be no more answers
}

// Diagnostic is what is wrong at a place.
type Diagnostic struct {
	Range   Range           `json:"range"`
	Source  string          `json:"source"`
	Message string          `json:"message"`
	Related []Related       `json:"relatedInformation,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"` // for the server
}

// Related is another place that belongs to it.
type Related struct {
	Message string `json:"message"`
}

// Range is a part of a text.
type Range struct {
	Start Place `json:"start"`
	End   Place `json:"end"`
}

// Place counts lines and UTF-16 units from 0.
type Place struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Action is something that can be done about a diagnostic.
type Action struct {
	Title string          `json:"title"`
	Kind  string          `json:"kind"`
	Edit  json.RawMessage `json:"edit,omitempty"`
}

type answer struct {
	result json.RawMessage
	err    error
}

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// Start starts a server on a folder, in that folder. settings are the server's own.
func Start(ctx context.Context, tool, dir string, settings map[string]any) (*Client, error) {
	c := &Client{cmd: exec.CommandContext(ctx, tool), stderr: new(strings.Builder), texts: map[string]string{}, answers: map[int]chan answer{}, published: map[string]chan []Diagnostic{}}
	c.cmd.Dir, c.cmd.Stderr = dir, c.stderr
	c.cmd.Env = append(os.Environ(), "PWD="+dir)
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go c.read(bufio.NewReader(out), settings)
	type m = map[string]any
	err = c.Call("initialize", m{
		"processId": os.Getpid(), "rootUri": uri(dir), "initializationOptions": settings,
		"workspaceFolders": []m{{"uri": uri(dir), "name": filepath.Base(dir)}},
		"capabilities": m{
			"workspace": m{"configuration": true, "workspaceEdit": m{"documentChanges": true}},
			"textDocument": m{
				"publishDiagnostics": m{"relatedInformation": true, "dataSupport": true},
				"codeAction":         m{"dataSupport": true, "codeActionLiteralSupport": m{"codeActionKind": m{"valueSet": []string{"quickfix"}}}},
			},
		},
	}, nil)
	if err == nil {
		err = c.notify("initialized", m{})
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func uri(file string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
}

// Close ends the server.
func (c *Client) Close() error {
	err := c.Call("shutdown", nil, nil)
	if err == nil {
		err = c.notify("exit", nil)
	}
	c.in.Close()
	if failed := c.cmd.Wait(); failed != nil {
		err = errors.Join(err, fmt.Errorf("%w: %s", failed, c.stderr))
	}
	return err
}

// Stderr is what the server has said there, once it has been closed.
func (c *Client) Stderr() string { return c.stderr.String() }

// Open opens a file as it is on the disk.
func (c *Client) Open(file string) error {
	src, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	c.texts[file] = string(src)
	return c.notify("textDocument/didOpen", map[string]any{
		"textDocument": map[string]any{"uri": uri(file), "languageId": "go", "version": 0, "text": string(src)},
	})
}

// Change replaces the text of an open file.
func (c *Client) Change(file, text string) error {
	c.version++
	c.texts[file] = text
	return c.notify("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": uri(file), "version": c.version},
		"contentChanges": []map[string]any{{"text": text}},
	})
}

// Diagnostics asks what is wrong with a file.
func (c *Client) Diagnostics(file string) ([]Diagnostic, error) {
	var report struct{ Items []Diagnostic }
	err := c.Call("textDocument/diagnostic", map[string]any{"textDocument": map[string]any{"uri": uri(file)}}, &report)
	return report.Items, err
}

// Published waits for diagnostics of a file that the server sends of itself, until
// enough are among them.
func (c *Client) Published(ctx context.Context, file string, enough func(Diagnostic) bool) ([]Diagnostic, error) {
	var last []Diagnostic
	for {
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case last = <-c.channel(uri(file)):
			for _, d := range last {
				if enough(d) {
					return last, nil
				}
			}
		}
	}
}

func (c *Client) channel(file string) chan []Diagnostic {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.published[file] == nil {
		c.published[file] = make(chan []Diagnostic, 100)
	}
	return c.published[file]
}

// Actions asks what can be done about a diagnostic.
func (c *Client) Actions(file string, d Diagnostic) ([]Action, error) {
	var actions []Action
	err := c.Call("textDocument/codeAction", map[string]any{
		"textDocument": map[string]any{"uri": uri(file)}, "range": d.Range, "context": map[string]any{"diagnostics": []Diagnostic{d}, "only": []string{"quickfix"}},
	}, &actions)
	return actions, err
}

// Position is the place in lines and bytes from 1, as compilers count.
func (c *Client) Position(file string, p Place) (line, column int) {
	lines := strings.Split(c.texts[file], "\n")
	if p.Line >= len(lines) {
		return p.Line + 1, 0
	}
	units := 0
	for i, r := range lines[p.Line] {
		if units >= p.Character {
			return p.Line + 1, i + 1
		}
		units++
		if r > 0xffff {
			units++
		}
	}
	return p.Line + 1, len(lines[p.Line]) + 1
}

// Call asks the server and waits for its answer.
func (c *Client) Call(method string, params, result any) error {
	c.mu.Lock()
	if c.failure != nil {
		defer c.mu.Unlock()
		return c.failure
	}
	c.last++
	id := c.last
	ch := make(chan answer, 1)
	c.answers[id] = ch
	c.mu.Unlock()
	if err := c.send(message{ID: json.RawMessage(strconv.Itoa(id)), Method: method}, params); err != nil {
		return err
	}
	a := <-ch
	if a.err != nil {
		return fmt.Errorf("%s: %w", method, a.err)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(a.result, result)
}

func (c *Client) notify(method string, params any) error {
	return c.send(message{Method: method}, params)
}

func (c *Client) send(m message, params any) error {
	if params != nil {
		var err error
		if m.Params, err = json.Marshal(params); err != nil {
			return err
		}
	}
	body, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		message
	}{"2.0", m})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// read takes what the server sends until it sends no more.
func (c *Client) read(r *bufio.Reader, settings map[string]any) {
	for {
		m, err := receive(r)
		if err == nil {
			err = c.take(m, settings)
		}
		if err != nil {
			c.mu.Lock()
			c.failure = fmt.Errorf("the server has gone: %w", err)
			for _, ch := range c.answers {
				ch <- answer{err: c.failure}
			}
			c.mu.Unlock()
			return
		}
	}
}

func receive(r *bufio.Reader) (message, error) {
	var m message
	header, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		return m, err
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		return m, err
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return m, err
	}
	return m, json.Unmarshal(body, &m)
}

func (c *Client) take(m message, settings map[string]any) error {
	switch {
	case m.Method == "textDocument/publishDiagnostics":
		var p struct {
			URI         string
			Diagnostics []Diagnostic
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return err
		}
		select {
		case c.channel(p.URI) <- p.Diagnostics:
		default: // nobody wants to know
		}
	case m.Method != "" && m.ID != nil: // a question of the server's
		var result any
		if m.Method == "workspace/configuration" {
			var p struct{ Items []json.RawMessage }
			if err := json.Unmarshal(m.Params, &p); err != nil {
				return err
			}
			all := make([]any, len(p.Items))
			for i := range all {
				all[i] = settings
			}
			result = all
		}
		data, err := json.Marshal(result)
		if err != nil {
			return err
		}
		return c.send(message{ID: m.ID, Result: data}, nil)
	case m.Method == "":
		return c.answer(m)
	}
	return nil
}

func (c *Client) answer(m message) error {
	var id int
	if err := json.Unmarshal(m.ID, &id); err != nil {
		return err
	}
	c.mu.Lock()
	ch := c.answers[id]
	delete(c.answers, id)
	c.mu.Unlock()
	a := answer{result: m.Result}
	if m.Error != nil {
		a.err = errors.New(m.Error.Message)
	}
	if ch != nil {
		ch <- a
	}
	return nil
}
