package idem

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Codec is one step of the way of values into the ledger and back, such as
// compression or encryption: see [Gzip] and [NewEncryption], and [WithCodecs] for
// their order. What it is given is JSON, or what the step before has made of it.
//
// Its methods are safe for concurrent use.
type Codec interface {
	// Name is what rows call the step: lower-case letters and digits.
	Name() string

	// Encode returns what is stored in the value's place and, if the step has
	// variants, which of them this is, such as the ID of a key: letters, digits and
	// any of ._-, at most 64. Nil leaves the value without the step.
	Encode(value []byte, at Slot) (stored []byte, variant string, err error)

	// Decode undoes it. An error that matches [ErrTampered] says that Encode has made
	// no such bytes for that place, so that they will never be read; any other that
	// they may be read later, when a key is there again, say.
	Decode(stored []byte, variant string, at Slot) (value []byte, err error)
}

// PayloadHasher is a Codec that makes the hashes by which payloads are compared as
// well. Otherwise they are SHA-256, and whoever reads the ledger can find out by
// trying which of the payloads that he can think of a hash is of.
type PayloadHasher interface {
	Codec
	// HashPayload hashes the canonical form of a payload. Hashes are compared with
	// those of the same variant alone.
	HashPayload(canonical []byte) (sum Hash, variant string)
}

// Slot is where a value belongs. What a codec has encrypted for one place it
// refuses to decrypt for another, so that values cannot be exchanged.
type Slot struct {
	// Work is the ID of the work's row or, of a payload, the ID that the work had
	// when it was claimed: its row has another one if that is of an earlier version.
	Work WorkID
	// Effect is the effect whose value it is, or zero for the work's own.
	Effect EffectID
	Part   Part
}

// Part says which of its values.
type Part string

// The values that a ledger stores.
const (
	PartPayload Part = "payload" // the input of work
	PartInput   Part = "input"   // of an effect
	PartResult  Part = "result"  // of either; of a refused effect the refusal
)

// Append appends a text that no other place has.
func (p Slot) Append(dst []byte) []byte {
	for _, part := range []string{p.Work.String(), string(p.Part), p.Effect.Name} {
		dst = append(append(dst, part...), '\n') // which is in none of them
	}
	return append(dst, p.Effect.Per...)
}

// WithCodecs has values encoded by these steps, in this order, before they are
// stored: compress before you encrypt. Each value says which steps it has been
// through, so that those which are there already, stored with other steps or none,
// are read as they are. Only what is written from now on is written in another way.
func WithCodecs(codecs ...Codec) Option {
	return func(c *core) { c.codecs.write = codecs }
}

// WithFormerCodecs names steps that values may have been through, and are not any
// more. Those of [WithCodecs] and [Gzip] need not be named.
func WithFormerCodecs(codecs ...Codec) Option {
	return func(c *core) { c.codecs.former = codecs }
}

// codecs are a ledger's steps.
type codecs struct {
	write, former []Codec
	read          map[string]Codec
	hasher        PayloadHasher // nil: SHA-256
	broken        error
}

var (
	codecName    = regexp.MustCompile(`^[a-z0-9]{1,64}$`)
	codecVariant = regexp.MustCompile(`^[A-Za-z0-9._-]{0,64}$`)
)

// ready is called once all options are.
func (c *codecs) ready() {
	gzip := Gzip()
	c.read = map[string]Codec{gzip.Name(): gzip}
	given := map[string]bool{}
	for _, codec := range append(append([]Codec(nil), c.write...), c.former...) {
		name := codec.Name()
		switch {
		case !codecName.MatchString(name) || name == CodecJSON || name == CodecRedacted || name == CodecDropped:
			c.broken = fmt.Errorf("a codec cannot be called %q: want lower-case letters and digits, and none of the ledger's own names", name)
		case given[name]:
			c.broken = fmt.Errorf("there are two codecs called %s, and a value could not say which of them it is of", name)
		}
		given[name] = true
		c.read[name] = codec
	}
	for _, codec := range c.write {
		if hasher, ok := codec.(PayloadHasher); ok {
			c.hasher = hasher
			break
		}
	}
}

// hash is the hash of a payload, and the shape of what it is a hash of: hashes of
// different shapes are not compared.
func (c *codecs) hash(canonical []byte, shape string) (Hash, string) {
	if c.hasher == nil {
		return sha256.Sum256(canonical), shape
	}
	sum, variant := c.hasher.HashPayload(canonical)
	return sum, shape + "+" + stepName(c.hasher.Name(), variant)
}

// stepName is how a value's codec names one of its steps.
func stepName(name, variant string) string {
	if variant == "" {
		return name
	}
	return name + ":" + variant
}

// seal puts a value through the ledger's steps.
func (c *codecs) seal(body Body, at Slot) (Body, error) {
	for _, codec := range c.write {
		stored, variant, err := codec.Encode(body.Data, at)
		if err == nil && !codecVariant.MatchString(variant) {
			err = fmt.Errorf("it calls its variant %q, which no row can", variant)
		}
		if err != nil {
			return Body{}, &stepError{codec.Name(), err}
		}
		if stored != nil {
			body = Body{Codec: body.Codec + "+" + stepName(codec.Name(), variant), Data: stored}
		}
	}
	return body, nil
}

// open takes the steps of a value back, the last one first. No value has been through
// one step twice: whoever can write the database could make a few bytes expand for ever.
func (c *codecs) open(body Body, at Slot) (Body, error) {
	taken := make([]string, 0, 4)
	for {
		i := strings.LastIndexByte(body.Codec, '+')
		if i < 0 {
			return body, nil
		}
		name, variant, _ := strings.Cut(body.Codec[i+1:], ":")
		codec, known := c.read[name]
		if !known {
			return Body{}, &stepError{name, fmt.Errorf("the value was stored as %s, and the ledger was made without a codec of that name: see WithFormerCodecs", body.Codec)}
		}
		if slices.Contains(taken, name) {
			return Body{}, &stepError{name, fmt.Errorf("%w: it is said to have been through the step twice", ErrTampered)}
		}
		taken = append(taken, name)
		data, err := codec.Decode(body.Data, variant, at)
		if err != nil {
			return Body{}, &stepError{name, err}
		}
		body = Body{Codec: body.Codec[:i], Data: data}
	}
}

// OpenBody reads a value of a row as JSON, for programs that show people what the
// ledger holds. [ErrResultDropped] if there was one and it was not kept; nothing
// without an error if there was none.
func (l *Ledger[Tx]) OpenBody(body Body, at Slot) ([]byte, error) {
	body, err := l.codecs.open(body, at)
	switch {
	case errors.Is(err, ErrTampered):
		return nil, fmt.Errorf("%s of %s: %w", at.Part, at.Work, err)
	case err != nil:
		return nil, fmt.Errorf("%s of %s: %w: %w", at.Part, at.Work, ErrUnreadable, err)
	case body.Codec == CodecDropped:
		return nil, fmt.Errorf("%s of %s: %w", at.Part, at.Work, ErrResultDropped)
	}
	return body.Data, nil
}

// move takes a value from one place to another.
func (c *codecs) move(body Body, from, to Slot) (Body, error) {
	if body.Codec == CodecNone || body.Codec == CodecDropped {
		return body, nil
	}
	plain, err := c.open(body, from)
	if err != nil {
		return Body{}, err
	}
	return c.seal(plain, to)
}

// stepError is why a step was not made, or not taken back.
type stepError struct {
	codec string
	cause error
}

func (e *stepError) Error() string { return e.codec + ": " + e.cause.Error() }
func (e *stepError) Unwrap() error { return e.cause }

// passing tells whether a value may be read, or stored, another time.
func passing(err error) bool {
	_, isStep := errors.AsType[*stepError](err)
	return isStep && !errors.Is(err, ErrTampered)
}

// defaultResultCap is the size of a result above which its body is dropped: a row
// of the ledger is no blob store.
const defaultResultCap = 1 << 20

// encode turns a value into JSON.
func encode(v any) (Body, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return Body{}, err
	}
	return Body{Codec: CodecJSON, Data: data}, nil
}

// encodeInput is encode for an input. redact, if there is one, takes away what the
// ledger must not store.
func encodeInput[T any](in T, redact func(T) T) (Body, error) {
	if redact == nil {
		return encode(in)
	}
	body, err := encode(redact(in))
	if err == nil {
		body.Codec = CodecRedacted
	}
	return body, err
}

// encodeResult never fails: what has happened has happened, whether or not its
// result can be kept. why says what was wrong with a result that was dropped.
func (c *core) encodeResult(v any, at Slot) (body Body, why string) {
	body, err := encode(v)
	switch {
	case err != nil:
		return Body{Codec: CodecDropped}, "the result cannot be encoded: " + err.Error()
	case len(body.Data) > c.resultCap:
		return Body{Codec: CodecDropped}, fmt.Sprintf("the result of %d bytes is over the limit of %d", len(body.Data), c.resultCap)
	}
	if body, err = c.codecs.seal(body, at); err != nil {
		return Body{Codec: CodecDropped}, "the result cannot be encoded: " + err.Error()
	}
	return body, ""
}

// decode reads a value that was stored at a place.
func decode[T any](c *codecs, body Body, at Slot) (v T, err error) {
	body, err = c.open(body, at)
	if err != nil {
		return v, err
	}
	switch body.Codec {
	case CodecJSON:
		err = json.Unmarshal(body.Data, &v)
		return v, err
	case CodecDropped:
		return v, ErrResultDropped
	case CodecRedacted:
		return v, errors.New("it was stored with gaps, which its contract redacts")
	}
	return v, fmt.Errorf("it was stored with the unknown codec %q", body.Codec)
}

// shown is a stored value for a message. What is not stored for everybody to read
// is not shown: messages are stored as well.
func shown(body Body) string {
	if body.Codec != CodecJSON && body.Codec != CodecRedacted {
		return "(not shown)"
	}
	return shorten(string(body.Data), 80)
}

// shorten cuts s to at most n bytes and the rune that is cut in two.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
