package idem

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Declared is an effect as a contract has it: a [Guarded].
type Declared interface{ declaration() declaration }

// declaration is what people's decisions need to know of an effect.
type declaration struct {
	name string
	// check says why a text is no result of the effect.
	check func(result []byte) error
}

func (g *Guarded[In, Out]) declaration() declaration {
	return declaration{name: g.effect.Name, check: checkResult[Out]}
}

// knownContracts are the contracts that this program has over a ledger.
type knownContracts struct {
	mu     sync.Mutex
	byKind map[string]map[int]knownContract
}

type knownContract struct {
	attempts int
	effects  map[string]declaration
}

func (k *knownContracts) add(kind string, version, attempts int, effects []Declared) {
	c := knownContract{attempts: attempts, effects: make(map[string]declaration, len(effects))}
	for _, e := range effects {
		d := e.declaration()
		c.effects[d.name] = d
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byKind == nil {
		k.byKind = make(map[string]map[int]knownContract)
	}
	if k.byKind[kind] == nil {
		k.byKind[kind] = make(map[int]knownContract)
	}
	k.byKind[kind][version] = c
}

// of is the contract that is going to do the work: that of its version, or the
// newest, which goes on with work of the versions that it honours.
func (k *knownContracts) of(work Work) (c knownContract, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c, ok = k.byKind[work.Kind][work.Version]; ok {
		return c, true
	}
	newest := 0
	for version, known := range k.byKind[work.Kind] {
		if version > newest {
			newest, c, ok = version, known, true
		}
	}
	return c, ok
}

// attempts is how many attempts the work's contract has, or zero.
func (k *knownContracts) attempts(work Work) int {
	c, _ := k.of(work)
	return c.attempts
}

// check is that of an effect's result, or nil if the program does not have it.
func (k *knownContracts) check(work Work, effect string) func([]byte) error {
	c, _ := k.of(work)
	return c.effects[effect].check
}

// checkResult says where and why a text cannot be read as an Out. A field that Out
// does not have is a slip of the pen: what it was meant for would be left empty.
func checkResult[Out any](text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var out Out
	if err := dec.Decode(&out); err != nil {
		return resultError[Out](text, dec.InputOffset(), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("the result goes on after its end: %s", place(text, dec.InputOffset()))
	}
	return nil
}

func resultError[Out any](text []byte, offset int64, err error) error {
	var out Out
	what := fmt.Sprintf("%T", out)
	if what == "<nil>" {
		what = "JSON"
	}
	message := strings.TrimPrefix(err.Error(), "json: ")
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("the result is not JSON: %s: %s", place(text, syntax.Offset), message)
	}
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		message = fmt.Sprintf("want %s, got a JSON %s", kind.Type, kind.Value)
		if kind.Field != "" {
			message = kind.Field + ": " + message
		}
		offset = kind.Offset
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		offset, message = int64(len(text)), "it ends too early"
	}
	return fmt.Errorf("the result is no %s: %s: %s", what, place(text, offset), message)
}

// place is the line and column of what has been read up to an offset.
func place(text []byte, offset int64) string {
	before := text[:min(max(offset-1, 0), int64(len(text)))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("line %d, column %d", line, column)
}
