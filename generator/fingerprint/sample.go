package fingerprint

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/contracts/lock"
	"github.com/idemgen/idem/generator/model"
	"github.com/idemgen/idem/runtime/canon"
)

// errNoSample says that no value of a type is known, or that none has a key.
var errNoSample = errors.New("no sample")

var sampleTime = time.Date(2026, 3, 1, 12, 34, 56, 987654321, time.UTC)

// knownTexts are what well-known types write.
var knownTexts = map[string]string{
	"github.com/google/uuid.UUID": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
	"github.com/gofrs/uuid.UUID":  "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
	"github.com/oklog/ulid.ULID":  "01ARZ3NDEKTSV4RRFFQ69G5FAV",
	"net.IP":                      "192.0.2.1",
	"net/netip.Addr":              "192.0.2.1",
	"net/netip.AddrPort":          "192.0.2.1:443",
	"net/netip.Prefix":            "192.0.2.0/24",
}

// golden is the work ID of the contract's sample; "" if it has none.
func (d *describer) golden(c *model.Contract) string {
	s := &sampler{describer: d, open: map[int]bool{}}
	b := fmt.Appendf(nil, "%s:v%d:", c.Spec.Kind.V, c.Spec.Version.V)
	var err error
	switch id := c.Identity; {
	case id.Single != nil:
		b, err = s.text(b, id.Single.Form)
	case id.Hash != nil && c.Scope != nil:
		b, err = s.list(b, c.Scope.Form, id.Hash)
	case id.Hash != nil:
		b, err = s.root(b, id.Hash)
	default:
		var forms []*model.Form
		for _, v := range id.List {
			forms = append(forms, v.Form)
		}
		b, err = s.list(b, forms...)
	}
	if err != nil {
		return ""
	}
	h := sha256.New()
	if c.Spec.Identity.Keyed.V {
		h = hmac.New(sha256.New, []byte(lock.GoldenKey))
	}
	_, _ = h.Write(b) // never fails
	return hex.EncodeToString(h.Sum(nil))
}

type sampler struct {
	*describer
	class map[*model.Form]int
	open  map[int]bool
}

// text appends the one value that is the whole body.
func (s *sampler) text(b []byte, f *model.Form) ([]byte, error) {
	if f.Op != model.OpString {
		n := len(b)
		b, err := s.root(b, f)
		if err != nil {
			return nil, err
		}
		return canon.Unquote(b, n), nil
	}
	text, err := normalized(f)
	if err != nil {
		return nil, err
	}
	if f.Exact {
		return canon.AppendTextExact(b, text)
	}
	return canon.AppendText(b, text)
}

func (s *sampler) list(b []byte, forms ...*model.Form) ([]byte, error) {
	b = append(b, '[')
	for i, f := range forms {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = s.root(b, f); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// root appends a value that is described by itself.
func (s *sampler) root(b []byte, f *model.Form) ([]byte, error) {
	s.class = s.classes(f)
	return s.value(b, f)
}

// maxSample is how long a sample may get: written out, types that share others
// at every level, or know each other in circles, grow without measure.
const maxSample = 1 << 20

func (s *sampler) value(b []byte, f *model.Form) ([]byte, error) {
	if len(b) > maxSample {
		return nil, errNoSample
	}
	class := s.class[f]
	s.open[class] = true
	defer delete(s.open, class)
	switch f.Op {
	case model.OpPointer:
		if s.open[s.class[f.Elem]] {
			return append(b, "null"...), nil
		}
		return s.value(b, f.Elem)
	case model.OpSlice, model.OpArray:
		return s.element(append(b, '['), f.Elem, ']')
	case model.OpMap, model.OpIntMap:
		return s.element(append(b, '{'), f.Elem, '}')
	case model.OpStruct:
		return s.object(b, f)
	}
	return s.leaf(b, f)
}

// element appends the one element of a list or map, and the bracket.
func (s *sampler) element(b []byte, elem *model.Form, end byte) ([]byte, error) {
	if s.open[s.class[elem]] {
		return append(b, end), nil
	}
	if end == '}' {
		b = canon.AppendKey(b, "42")
	}
	b, err := s.value(b, elem)
	return append(b, end), err
}

func (s *sampler) object(b []byte, f *model.Form) ([]byte, error) {
	b = append(b, '{')
	for i, m := range f.Members {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = s.value(canon.AppendKey(b, m.Wire), m.Form); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func (s *sampler) leaf(b []byte, f *model.Form) ([]byte, error) {
	switch f.Op {
	case model.OpString:
		text, err := normalized(f)
		if err != nil {
			return nil, err
		}
		if f.Exact {
			return canon.AppendStringExact(b, text)
		}
		return canon.AppendString(b, text)
	case model.OpText:
		text, ok := knownTexts[typeName(f.Type)]
		if !ok {
			return nil, errNoSample
		}
		return canon.AppendString(b, text)
	case model.OpInt, model.OpUint:
		return canon.AppendInt(b, 42), nil
	case model.OpFloat64:
		return canon.AppendFloat64(b, 0.1)
	case model.OpFloat32:
		return canon.AppendFloat32(b, 0.1)
	case model.OpBool:
		return canon.AppendBool(b, true), nil
	case model.OpBytes:
		return canon.AppendBytes(b, []byte("sample")), nil
	case model.OpTime:
		return canon.AppendTime(b, sampleTime, f.Precision)
	case model.OpBigInt, model.OpDecimal:
		return canon.AppendDecimal(b, "42")
	case model.OpNumber:
		return canon.AppendNumber(b, json.Number("42"))
	case model.OpRawJSON, model.OpAny:
		return canon.AppendJSON(b, []byte(`{"b":[1,"two"],"a":null}`))
	case model.OpMinor:
		return minorUnits(b, f)
	case model.OpAppender:
		return nil, errNoSample
	}
	panic("fingerprint: form without a sample: " + strconv.Itoa(int(f.Op)))
}

func minorUnits(b []byte, f *model.Form) ([]byte, error) {
	text, err := "42", error(nil)
	if f.From == model.OpString {
		if text, err = normalized(f); err != nil {
			return nil, err
		}
	}
	return canon.AppendMinorUnits(b, text, f.Digits)
}

// sampleText is the text that the field of a form holds.
func sampleText(f *model.Form) string {
	text := " Sample  Cafe\u0301 "
	if f.Op == model.OpMinor {
		text = "42"
	}
	for _, s := range f.Steps {
		switch {
		case s.Name == contracts.URL:
			return "HTTPS://Sample.Example:443/a/../Page?b=2&a=1&utm_source=x" + sampleParams(s) + "#top"
		case s.Name == contracts.Email:
			return "Sample@Mail.Example"
		case s.Name == contracts.Digits && f.Op == model.OpString:
			text = "+47 22 33 44 55"
		}
	}
	return text
}

// sampleParams are parameters that the step drops.
func sampleParams(s contracts.Normalizer) string {
	text := ""
	for _, name := range s.ParamNames() {
		text += "&" + url.QueryEscape(name) + "=1"
	}
	return text
}

// normalized is the sample after the normalisers of its field, applied as
// generated code does.
func normalized(f *model.Form) (string, error) {
	text := sampleText(f)
	var err error
	if !f.Exact {
		if text, err = canon.Clean(text); err != nil {
			return "", err
		}
	}
	for _, s := range f.Steps {
		switch s.Name {
		case contracts.Trim:
			text = canon.Trim(text)
		case contracts.Lower:
			text = canon.Lower(text)
		case contracts.CollapseSpace:
			text = canon.CollapseSpace(text)
		case contracts.Digits:
			text = canon.Digits(text)
		case contracts.Email:
			text, err = canon.Email(text)
		case contracts.URL:
			text, err = canon.URL(text, s.ParamNames()...)
		default:
			return "", fmt.Errorf("normaliser %s: %w", s.Name, errNoSample)
		}
		if err != nil {
			return "", err
		}
	}
	return text, nil
}
