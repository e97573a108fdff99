package idem

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// defaultResultCap is the size of a stored result above which its body is
// dropped: a row of the ledger is no blob store.
const defaultResultCap = 1 << 20

// encode turns a value into what the ledger stores.
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
func (c *core) encodeResult(v any) (body Body, why string) {
	body, err := encode(v)
	switch {
	case err != nil:
		return Body{Codec: CodecDropped}, "the result cannot be encoded: " + err.Error()
	case len(body.Data) > c.resultCap:
		return Body{Codec: CodecDropped}, fmt.Sprintf("the result of %d bytes is over the limit of %d", len(body.Data), c.resultCap)
	}
	return body, ""
}

func decode[T any](body Body) (v T, err error) {
	switch body.Codec {
	case CodecJSON:
		err = json.Unmarshal(body.Data, &v)
		return v, err
	case CodecDropped:
		return v, ErrResultDropped
	case CodecRedacted:
		return v, errors.New("it was stored with gaps, which its contract redacts")
	}
	return v, fmt.Errorf("the result has the unknown codec %q", body.Codec)
}

// refusal is what the row of a refused effect keeps, so that the handler takes
// the same branch in every attempt.
type refusal struct {
	Message string   `json:"error"`
	Is      []string `json:"is,omitempty"` // the contract's names of the errors that it matched
}

// longestRefusal is how many bytes of a refusal's message are kept: an error can
// carry the whole page that a proxy answered with.
const longestRefusal = 4 << 10

// shorten cuts s to at most n bytes and the rune that is cut in two.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// refusalOf records err with those of the contract's named errors that it is.
func (r reading) refusalOf(err error) (Body, error) {
	kept := refusal{Message: shorten(err.Error(), longestRefusal)}
	for _, m := range r.named() {
		if m.is(err) {
			kept.Is = append(kept.Is, m.Name)
		}
	}
	return encode(kept)
}

// storedError is an error as a row kept it. It matches the named error values
// that the original matched; the types of errors do not survive.
type storedError struct {
	message string
	values  []error
}

func (e *storedError) Error() string   { return e.message }
func (e *storedError) Unwrap() []error { return e.values }

func (r reading) storedRefusal(row EffectRow) error {
	kept, err := decode[refusal](row.Result)
	if err != nil {
		kept = refusal{Message: row.LastError}
	}
	stored := &storedError{message: kept.Message}
	for _, m := range r.named() {
		for _, name := range kept.Is {
			if m.Name == name && m.value != nil {
				stored.values = append(stored.values, m.value)
			}
		}
	}
	return stored
}
