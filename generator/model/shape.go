package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/idemgen/idem/contracts"
)

// Shape is a digest of the names and types of a form, in hexadecimal digits.
// Two payloads are compared only if their shapes are the same. Go names do not
// count: renaming a field that keeps its wire name changes nothing.
func Shape(f *Form) string {
	sum := sha256.Sum256([]byte(Describe(f)))
	return hex.EncodeToString(sum[:])
}

// Describe is the text whose digest is the shape.
func Describe(f *Form) string {
	d := describer{seen: map[*Form]int{}}
	d.describe(f)
	return d.b.String()
}

type describer struct {
	b    strings.Builder
	seen map[*Form]int
}

func (d *describer) describe(f *Form) {
	if f.Func {
		// The number is the place of the first mention, so that equal circles
		// have equal texts.
		if n, ok := d.seen[f]; ok {
			d.b.WriteString("#" + strconv.Itoa(n))
			return
		}
		d.seen[f] = len(d.seen)
	}
	switch f.Op {
	case OpPointer:
		d.b.WriteString("?")
		d.describe(f.Elem)
	case OpSlice:
		d.b.WriteString("[]")
		d.describe(f.Elem)
	case OpArray:
		d.b.WriteString(f.Brackets())
		d.describe(f.Elem)
	case OpMap, OpIntMap:
		d.b.WriteString("{}")
		d.describe(f.Elem)
	case OpStruct:
		d.b.WriteString("{")
		for i, m := range f.Members {
			if i > 0 {
				d.b.WriteString(",")
			}
			d.b.WriteString(strconv.Quote(m.Wire) + ":")
			d.describe(m.Form)
		}
		d.b.WriteString("}")
	default:
		d.b.WriteString(f.word())
	}
}

// StepWord names a step with what it drops: url -ref -session. The names stand in
// escapes, so that none can be taken for a step.
func StepWord(s contracts.Normalizer) string {
	word := string(s.Name)
	for _, name := range s.ParamNames() {
		word += " -" + url.PathEscape(name)
	}
	return word
}

// word names a form without parts.
func (f *Form) word() string {
	switch f.Op {
	case OpString, OpText:
		word := "string"
		if f.Exact {
			word += " exact"
		}
		for _, s := range f.Steps {
			word += " " + StepWord(s)
		}
		return word
	case OpInt, OpUint:
		return "int"
	case OpFloat64:
		return "float64"
	case OpFloat32:
		return "float32"
	case OpBool:
		return "bool"
	case OpBytes:
		return "base64"
	case OpTime:
		return "time " + f.Precision.String()
	case OpBigInt, OpDecimal:
		return "decimal"
	case OpNumber:
		return "number"
	case OpRawJSON, OpAny:
		if f.Exact {
			return "json exact"
		}
		return "json"
	case OpAppender:
		return "canonical " + f.Type.String()
	case OpMinor:
		return "minor " + strconv.Itoa(f.Digits)
	}
	panic(fmt.Sprintf("model: form with operation %d has no word", f.Op))
}
