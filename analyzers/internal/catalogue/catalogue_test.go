package catalogue

import (
	"go/constant"
	"go/types"
	"strings"
	"testing"
	"testing/fstest"
)

func TestTheDataIsSound(t *testing.T) {
	if err := Builtin().Check(); err != nil {
		t.Fatal(err)
	}
}

// one is a catalogue of one file; what stands for the entries of a package.
func one(t *testing.T, src string) error {
	t.Helper()
	c, err := load(fstest.MapFS{"data/a.yaml": {Data: []byte(src)}}, "data")
	if err != nil {
		t.Fatal(err)
	}
	return c.Check()
}

func TestErrorsSayWhereAndWhatWasMeant(t *testing.T) {
	const head = "ecosystem: e\npackages:\n  - path: p\n"
	for _, test := range []struct{ name, src, want string }{
		{"unknown key", head + "    flow:\n      - {name: A, frm: 0, reason: r}\n", `a.yaml:5: unknown key "frm" in a flow entry; known here: encodes, from, hash, name, reason, to, when`},
		{"unknown kind", head + "    sink: []\n", `a.yaml:4: unknown key "sink" in a package; known here: effect, entry, flow, key, memory, model, path, retry, sanitizer, source`},
		{"no reason", head + "    sanitizer:\n      - {name: A}\n", "a.yaml:5: no reason for A: say how one knows"},
		{"pairs without a beginning", head + "    key:\n      - {name: A, pairs: true, reason: r}\n", "a.yaml:5: no at for A: say where its pairs begin"},
		{"retry of nothing", head + "    retry:\n      - {name: A, reason: r}\n", "a.yaml:5: no at for A: say which parameter is called again, or itself, or clients"},
		{"no class", head + "    effect:\n      - {name: A, reason: r}\n", "a.yaml:5: no class for A: want one of money, message, queue, third party, state, internal"},
		{"wrong place", head + "    key:\n      - {name: A, at: x, reason: r}\n", `a.yaml:5: want a place: recv, a parameter's number (from 0), result or result1; got "x"`},
		{"wrong name", head + "    key:\n      - {name: (*T).A, reason: r}\n", `a.yaml:5: name "(*T).A": want Func, Type.Method or Type.Field, without package and star`},
		{"said twice", head + "    sanitizer:\n      - {name: A, reason: r}\n      - {name: [B, A], reason: r}\n", "a.yaml:6: sanitizer of p.A is said twice: also at a.yaml:5"},
		{"flow style", "ecosystem: e\npackages: [{path: p}]\n", `a.yaml:1: write each package as a block that begins with the line "- path: PATH"; read ["p"], found []`},
		{"half a condition", head + "    effect:\n      - {name: A, class: money, reason: r, when: [{arg: 0}]}\n", "a.yaml:5: a condition needs arg and one of in, match, atleast, layout, names, sql"},
		{"empty", "", "a.yaml:1: the file is empty: want the keys ecosystem and packages"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := one(t, test.src); err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestTheSameNameMayBeSaidUnderOtherConditions(t *testing.T) {
	err := one(t, "ecosystem: e\npackages:\n  - path: p\n    effect:\n"+
		"      - {name: A, class: money, reason: r, when: [{arg: 0, in: [POST]}]}\n"+
		"      - {name: A, class: state, reason: r, when: [{arg: 0, in: [PUT]}]}\n")
	if err != nil {
		t.Error(err)
	}
}

func TestMajorVersionsAreOnePackage(t *testing.T) {
	c := Builtin()
	for path, want := range map[string]bool{
		"github.com/stripe/stripe-go":              true,
		"github.com/stripe/stripe-go/v76":          true,
		"github.com/stripe/stripe-go/v100":         true,
		"github.com/stripe/stripe-go/vendor":       false,
		"github.com/gofrs/uuid/v5":                 true,
		"github.com/svix/svix-webhooks/go":         true,
		"github.com/svix/svix-webhooks/go/models":  true,
		"github.com/svix/svix-webhooks/golang":     false,
		"example.com/github.com/stripe/stripe-go":  false,
		"math/rand/v2":                             true,
		"github.com/stripe/stripe-go/v76/internal": false,
	} {
		if got := c.Covers(path); got != want {
			t.Errorf("Covers(%q) = %v", path, got)
		}
	}
	if unversioned("gopkg.in/yaml.v3") != unversioned("gopkg.in/yaml.v*") {
		t.Error("gopkg.in versions differ")
	}
}

func TestFunctionsAreFoundByReceiverAndName(t *testing.T) {
	pkg := types.NewPackage("time", "time")
	named := types.NewNamed(types.NewTypeName(0, pkg, "Time", nil), types.NewStruct(nil, nil), nil)
	recv := types.NewVar(0, pkg, "t", types.NewPointer(named))
	method := types.NewFunc(0, pkg, "Truncate", types.NewSignatureType(recv, nil, nil, nil, nil, false))
	kinds := map[Kind]bool{}
	for _, e := range Builtin().Func(method) {
		kinds[e.Kind] = true
	}
	if !kinds[Flow] || !kinds[Sanitizer] || len(kinds) != 2 {
		t.Errorf("got %v", kinds)
	}
	if got := Builtin().Func(types.NewFunc(0, pkg, "Truncate", types.NewSignatureType(nil, nil, nil, nil, nil, false))); got != nil {
		t.Errorf("a function of that name: got %v", got)
	}
}

type constants map[Place]constant.Value

func (c constants) Const(p Place) constant.Value { return c[p] }

func TestConditionsAskForConstants(t *testing.T) {
	text := constant.MakeString
	for _, test := range []struct {
		c     Condition
		value constant.Value
		want  bool
	}{
		{Condition{Op: opIn, In: []string{"POST", "PATCH"}}, text("PATCH"), true},
		{Condition{Op: opIn, In: []string{"POST", "PATCH"}}, text("GET"), false},
		{Condition{Op: opIn, In: []string{"POST"}}, nil, false},
		{Condition{Op: opAtLeast, Min: 60e9}, constant.MakeInt64(60e9), true},
		{Condition{Op: opAtLeast, Min: 60e9}, constant.MakeInt64(1e9), false},
		{Condition{Op: opLayout}, text("2006-01-02T15:04"), true},
		{Condition{Op: opLayout}, text("2006-01-02T15:04:05Z07:00"), false},
		{Condition{Op: opLayout}, text("20060102150405"), false},
		{Condition{Op: opLayout}, text("2006-01-02 15:04 -0700"), true},
		{Condition{Op: opLayout}, text(""), false},
		{Condition{Op: opNames}, text("Idempotency-Key"), true},
		{Condition{Op: opNames}, text("Content-Type"), false},
		{Condition{Op: opSQL, In: []string{"insert"}}, text("-- name: X\n/* a */ INSERT INTO t"), true},
		{Condition{Op: opSQL, In: []string{"insert"}}, text("SELECT 1"), false},
	} {
		e := &Entry{When: []Condition{test.c}}
		if got := e.Holds(constants{0: test.value}); got != test.want {
			t.Errorf("%v of %v = %v", test.c, test.value, got)
		}
	}
}

func TestNamesThatSayKey(t *testing.T) {
	for name, want := range map[string]bool{
		"Idempotency-Key": true, "idempotencyKey": true, "DedupKey": true, "MessageDeduplicationId": true, "X-Dedupe-Id": true,
		"IdempotencyWindow": false, "dedupTTL": false, "Key": false, "APIKey": false, "idempotency_header": false, "dedupe_nonce": false,
	} {
		if NamesKey(name) != want {
			t.Errorf("NamesKey(%q) = %v", name, !want)
		}
	}
	for name, want := range map[string]bool{
		"GetByIdempotencyKey": true, "FindOne": true, "GetOrCreate": false, "Create": false, "ExistsKey": true, "CreateByKey": false, "PaymentByKey": true,
	} {
		if IsLookup(name) != want {
			t.Errorf("IsLookup(%q) = %v", name, !want)
		}
	}
}

func TestAUsersFileIsAdded(t *testing.T) {
	src := "ecosystem: own\npackages:\n  - path: example.com/pay\n    effect:\n      - {name: Client.Charge, class: money, reason: charges}\n"
	c, err := Builtin().With(".idemlint.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if es := c.Package("example.com/pay").Entries("Client.Charge"); len(es) != 1 || es[0].Class != Money {
		t.Errorf("got %v", es)
	}
	if Builtin().Covers("example.com/pay") {
		t.Error("the built-in catalogue has changed")
	}
	if _, err := Builtin().With("u.yaml", []byte("ecosystem: own\npackage: []\n")); err == nil || !strings.HasPrefix(err.Error(), "u.yaml:2: ") {
		t.Errorf("got %v", err)
	}
}
