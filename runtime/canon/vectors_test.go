package canon_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idem/runtime/canon"
)

// vectors is key-vectors.json, which a program in another language made.
type vectors struct {
	WorkIDs []struct {
		Name, Kind, Preimage string
		Version              int
		WorkID               string `json:"work_id"`
	} `json:"work_ids"`
	Effects []struct {
		Name, Effect, Preimage string
		WorkID                 string `json:"work_id"`
		Per                    []string
		EffectKey              string `json:"effect_key"`
	}
	Decisions []struct {
		Name, Preimage string
		Object         json.RawMessage
		DecisionKey    string `json:"decision_key"`
	}
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	data, err := os.ReadFile("testdata/key-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func hash(preimage string) string {
	sum := sha256.Sum256([]byte(preimage))
	return hex.EncodeToString(sum[:])
}

// body is how a derivation composes the part after KIND:vVERSION:. It holds the
// first error, so that the table below reads as the inputs do.
type body struct {
	dst []byte
	err error
}

func (b *body) set(dst []byte, err error) *body {
	b.dst = dst
	if b.err == nil {
		b.err = err
	}
	return b
}

func (b *body) raw(s string) *body { return b.set(append(b.dst, s...), nil) }
func (b *body) text(s string) *body {
	return b.set(canon.AppendText(b.dst, s))
}
func (b *body) str(s string) *body {
	return b.set(canon.AppendString(b.dst, s))
}
func (b *body) int(n int64) *body {
	return b.set(canon.AppendInt(b.dst, n), nil)
}
func (b *body) float(f float64) *body {
	return b.set(canon.AppendFloat64(b.dst, f))
}
func (b *body) key(name string) *body {
	return b.set(canon.AppendKey(b.dst, name), nil)
}
func (b *body) json(raw string) *body {
	return b.set(canon.AppendJSON(b.dst, []byte(raw)))
}
func (b *body) time(s string, precision time.Duration) *body {
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return b.set(b.dst, err)
	}
	return b.set(canon.AppendTime(b.dst, at, precision))
}

type textID string

func (id textID) MarshalText() ([]byte, error) { return []byte(strings.ToLower(string(id))), nil }

var typedBodies = map[string]func(b *body){
	"single string key":            func(b *body) { b.text("  450789469 ") },
	"single string key, version 2": func(b *body) { b.text("450789469") },
	"single int key":               func(b *body) { b.dst = canon.Unquote(canon.AppendInt(b.dst, 1001), len(b.dst)) },
	"list key": func(b *body) {
		b.raw("[").str("p-17").raw(",").str("r-2209").raw(",").str("lab_results_ready").raw("]")
	},
	"list key keeps boundaries apart 1": func(b *body) { b.raw("[").str("ab").raw(",").str("c").raw("]") },
	"list key keeps boundaries apart 2": func(b *body) { b.raw("[").str("a").raw(",").str("bc").raw("]") },
	"scope and single key":              func(b *body) { b.raw("[").str("acme").raw(",").str("450789469").raw("]") },
	"hash, members sorted":              func(b *body) { b.raw("{").key("a").int(1).raw(",").key("b").int(2).raw("}") },
	"hash, nested, unicode, NFC": func(b *body) {
		b.raw("{").key("addr").raw("{").key("city").str("Oslo").raw(",").key("zip").str("0150").raw("},")
		b.key("name").str("Cafe\u0301").raw(",").key("tags")
		b.set(canon.AppendSlice(b.dst, []string{"x", "y"}, canon.AppendString[string])).raw("}")
	},
	"hash, int beyond 2^53-1 is a string": func(b *body) { b.raw("{").key("id").int(9007199254740993).raw("}") },
	"hash, int at 2^53-1 is a number":     func(b *body) { b.raw("{").key("id").int(9007199254740991).raw("}") },
	"hash, floats": func(b *body) {
		pointOne, minusZero := 0.1, 0.0
		minusZero = -minusZero
		b.raw("{").key("a").float(1).raw(",").key("b").float(1e21).raw(",").key("c").float(1e-7).raw(",")
		b.key("d").float(pointOne + 0.2).raw(",").key("e").float(minusZero).raw("}")
	},
	"hash, decimal types are plain strings": func(b *body) {
		b.raw("{").key("amount").set(canon.AppendDecimal(b.dst, "10.50")).raw("}")
	},
	"hash, time in UTC": func(b *body) {
		b.raw("{").key("at").time("2026-01-02T03:04:05.120+02:00", time.Nanosecond).raw("}")
	},
	"hash, time at second precision": func(b *body) {
		b.raw("{").key("at").time("2026-01-02T03:04:05.120+02:00", time.Second).raw("}")
	},
	"hash, nil pointer and missing are null; nil and empty slice are []": func(b *body) {
		b.raw("{").key("lines").set(canon.AppendSlice(b.dst, nil, canon.AppendString[string])).raw(",").key("note").raw("null}")
	},
	"hash, utf-16 member order": func(b *body) {
		b.set(canon.AppendMap(b.dst, map[string]int{"\ufb33": 1, "\U0001F600": 2},
			func(dst []byte, n int) ([]byte, error) { return canon.AppendInt(dst, int64(n)), nil }))
	},
	"hash, escapes":         func(b *body) { b.raw("{").key("s").str("a\x01\"\\\b\f\n\r\t/\u2028<>&").raw("}") },
	"hash, untyped numbers": func(b *body) { b.json(`{"a":1,"b":1.0,"c":1e2,"d":9007199254740993,"e":1.50}`) },
	"trim list":             func(b *body) { b.text("\ufeff\u0085 450789469\u3000") },
	"lower without context": func(b *body) { b.text(canon.Lower("ΟΔΟΣ")) },
	"uuid as key": func(b *body) {
		start := len(b.dst)
		b.set(canon.AppendTextMarshaler(b.dst, textID("018F3D2A-0000-7000-8000-0242AC120002")))
		b.dst = canon.Unquote(b.dst, start)
	},
	"partition and offset zero": func(b *body) { b.raw("[").str("orders").raw(",").int(0).raw(",").int(0).raw("]") },
	"hash, float32":             func(b *body) { b.raw("{").key("a").set(canon.AppendFloat32(b.dst, 0.1)).raw("}") },
	"hash with scope":           func(b *body) { b.raw("[").str("acme").raw(",{").key("a").int(1).raw("}]") },
	"url normaliser": func(b *body) {
		page, err := canon.URL("HTTPS://Shop.Example:443/a/../b/?utm_source=x&b=2&a=1&fbclid=z#frag")
		b.text(page).set(b.dst, err)
	},
}

// untypedBodies are the inputs of the vectors as JSON, where JSON can say them.
var untypedBodies = map[string]string{
	"list key":                            `["p-17", "r-2209", "lab_results_ready"]`,
	"list key keeps boundaries apart 1":   `["ab", "c"]`,
	"list key keeps boundaries apart 2":   `["a", "bc"]`,
	"scope and single key":                `["acme", "450789469"]`,
	"hash, members sorted":                `{"b": 2, "a": 1}`,
	"hash, nested, unicode, NFC":          `{"tags": ["x", "y"], "name": "Cafe\u0301", "addr": {"zip": "0150", "city": "Oslo"}}`,
	"hash, int beyond 2^53-1 is a string": `{"id": 9007199254740993}`,
	"hash, int at 2^53-1 is a number":     `{"id": 9007199254740991}`,
	"hash, floats":                        `{"a": 1.0, "b": 1e21, "c": 0.0000001, "d": 0.30000000000000004, "e": -0}`,
	"hash, utf-16 member order":           `{"\ufb33": 1, "\ud83d\ude00": 2}`,
	"hash, escapes":                       `{"s": "a\u0001\u0022\\\b\f\n\r\t\/\u2028<>&"}`,
	"hash, untyped numbers":               `{"a":1,"b":1.0,"c":1e2,"d":9007199254740993,"e":1.50}`,
	"partition and offset zero":           `["orders", 0, 0]`,
	"hash with scope":                     `["acme", {"a": 1}]`,
}

func TestTypedPrimitivesGiveTheWorkIDsOfAnotherProgram(t *testing.T) {
	for _, v := range readVectors(t).WorkIDs {
		t.Run(v.Name, func(t *testing.T) {
			compose, ok := typedBodies[v.Name]
			if !ok {
				t.Fatal("no input for this vector")
			}
			b := &body{dst: fmt.Appendf(nil, "%s:v%d:", v.Kind, v.Version)}
			compose(b)
			if b.err != nil {
				t.Fatal(b.err)
			}
			if got := string(b.dst); got != v.Preimage {
				t.Errorf("preimage\n got %s\nwant %s", got, v.Preimage)
			}
			if got := hash(string(b.dst)); got != v.WorkID {
				t.Errorf("work ID %s, want %s", got, v.WorkID)
			}
		})
	}
}

func TestUntypedJSONGivesTheWorkIDsOfAnotherProgram(t *testing.T) {
	tested := 0
	for _, v := range readVectors(t).WorkIDs {
		raw, ok := untypedBodies[v.Name]
		if !ok {
			continue
		}
		tested++
		t.Run(v.Name, func(t *testing.T) {
			dst := fmt.Appendf(nil, "%s:v%d:", v.Kind, v.Version)
			dst, err := canon.AppendJSON(dst, []byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			if got := hash(string(dst)); got != v.WorkID {
				t.Errorf("work ID of %s is %s, want %s", dst, got, v.WorkID)
			}
		})
	}
	if tested != len(untypedBodies) {
		t.Errorf("%d of %d inputs have a vector", tested, len(untypedBodies))
	}
}

func TestEffectKeysAreThoseOfAnotherProgram(t *testing.T) {
	for _, v := range readVectors(t).Effects {
		dst := []byte(v.WorkID + ":" + v.Effect)
		if v.Per != nil {
			var err error
			if dst, err = canon.AppendSlice(append(dst, ':'), v.Per, canon.AppendString[string]); err != nil {
				t.Fatal(err)
			}
		}
		if got := hash(string(dst)); got != v.EffectKey {
			t.Errorf("%s: key of %s is %s, want %s", v.Name, dst, got, v.EffectKey)
		}
	}
}

func TestDecisionKeysAreThoseOfAnotherProgram(t *testing.T) {
	for _, v := range readVectors(t).Decisions {
		dst, err := canon.AppendJSON([]byte("decision:"), v.Object)
		if err != nil {
			t.Fatal(err)
		}
		if got := hash(string(dst)); got != v.DecisionKey {
			t.Errorf("%s: key of %s is %s, want %s", v.Name, dst, got, v.DecisionKey)
		}
	}
}
