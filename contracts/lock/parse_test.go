package lock_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/contracts/lock"
)

// text is a small lock, to be broken.
const text = `format: 1
kinds:
  order_paid:
    versions:
      1:
        identity: key
        key:
          - field: ID
            wire: id
            type: string
        digest: "DIGEST"
        window: 90d
        effects:
          send:
            guard: once
`

func whole() string {
	id := lock.Identity{Body: lock.Key, Key: []lock.Part{part("ID", "id", "string")}}
	return strings.Replace(text, "DIGEST", id.Digest(), 1)
}

const mend = ": idem.lock is written by idemgen; restore it from version control, then run idemgen\n"

func TestWhatIdemgenDidNotWriteIsToldWithAWayOut(t *testing.T) {
	cases := []struct{ name, from, to, want string }{
		{
			"a merge conflict", "        window: 90d\n", "<<<<<<< HEAD\n        window: 90d\n=======\n        window: 30d\n>>>>>>> other\n",
			"idem.lock:12:1: a merge conflict: keep the kinds and versions of both sides; of one that both have changed, keep the side that has been released; then run idemgen\n  12 | <<<<<<< HEAD\n     | ^^^^^^^\n",
		},
		{
			"a newer format", "format: 1", "format: 2",
			"idem.lock:1:1: format 2 is newer than this idemgen, which knows format 1: update idemgen\n  1 | format: 2\n    | ^^^^^^^^^\n",
		},
		{"an older format", "format: 1", "format: 0", "idem.lock:1:1: format: want the number 1" + mend + "  1 | format: 0\n    | ^^^^^^\n"},
		{
			"an entry of a newer idemgen", "            guard: once", "            guard: once\n            was: mail",
			"idem.lock:16:13: unknown entry was: a newer idemgen may have written it; update idemgen, or restore the file from version control\n  16 |             was: mail\n     |             ^^^\n",
		},
		{
			"a child of no kind", "            guard: once", "            guard: work",
			"idem.lock:14:11: an effect with the guard work has a kind that does it, and no other has" + mend + "  14 |           send:\n     |           ^^^^\n",
		},
		{
			"a shape edited by hand", "type: string", "type: int",
			"idem.lock:11:9: the digest is not that of the identity above it: the file was edited by hand; idem.lock is written by idemgen; restore it from version control, then run idemgen\n",
		},
		{
			"a version twice", "        window: 90d\n", "        window: 90d\n      1:\n        window: 90d\n",
			"idem.lock:13:7: 1 is here twice: keep the entry that has been released, then run idemgen\n  13 |       1:\n     |       ^\n",
		},
		{"another way to be empty", "            type: string\n        digest", "            type: string\n            empty: often\n        digest", "idem.lock:11:13: empty: want as it is or as null" + mend + "  11 |             empty: often\n     |             ^^^^^\n"},
		{"a successor of a later version", "        key:\n", "        supersedes: 3\n        old_work: honor\n        key:\n", "idem.lock:7:9: supersedes: want an earlier version" + mend + "  7 |         supersedes: 3\n    |         ^^^^^^^^^^\n"},
		{"a successor of nothing", "        key:\n", "        old_work: honor\n        key:\n", "idem.lock:5:7: supersedes and old_work stand together or not at all" + mend + "  5 |       1:\n    |       ^\n"},
		{"another fate of old work", "        key:\n", "        old_work: burn\n        key:\n", "idem.lock:7:9: old_work: want honor or reprocess" + mend + "  7 |         old_work: burn\n    |         ^^^^^^^^\n"},
		{"keyed in another way", "        key:\n", "        keyed: false\n        key:\n", "idem.lock:7:9: keyed: want true" + mend + "  7 |         keyed: false\n    |         ^^^^^\n"},
		{
			"keyed by hand", "        key:\n", "        keyed: true\n        key:\n",
			"idem.lock:12:9: the digest is not that of the identity above it: the file was edited by hand; idem.lock is written by idemgen; restore it from version control, then run idemgen\n",
		},
		{"no window", "        window: 90d\n", "", "idem.lock:5:7: window is missing" + mend + "  5 |       1:\n    |       ^\n"},
		{"a window of nothing", "90d", "0s", "idem.lock:12:9: window: want forever, or a duration" + mend + "  12 |         window: 0s\n     |         ^^^^^^\n"},
		{"a window without unit", "90d", "90", "idem.lock:12:9: window: want forever, or a duration" + mend + "  12 |         window: 90\n     |         ^^^^^^\n"},
		{"no key", "        key:\n          - field: ID\n            wire: id\n            type: string\n", "", "idem.lock:5:7: the identity is incomplete" + mend + "  5 |       1:\n    |       ^\n"},
		{"a list without items", "          - field: ID\n            wire: id\n            type: string\n", "", "idem.lock:7:9: key: want a list of fields" + mend + "  7 |         key:\n    |         ^^^\n"},
		{"a wrong indentation", "        window: 90d", "         window: 90d", "idem.lock:12:10: the line is indented as no line here is" + mend + "  12 |          window: 90d\n     |          ^\n"},
		{"a tab", "        window: 90d", "\twindow: 90d", "idem.lock:12:1: the line is indented as no line here is" + mend + "  12 |  window: 90d\n     | ^\n"},
		{"no colon", "format: 1", "format 1", "idem.lock:1:1: want a name, a colon and what it says" + mend + "  1 | format 1\n    | ^^^^^^^^\n"},
		{"an alias", "guard: once", "guard: *a", "idem.lock:15:13: want a name, a colon and what it says" + mend + "  15 |             guard: *a\n     |             ^^^^^^^^^\n"},
		{"quotes without end", "guard: once", `guard: "once`, "idem.lock:15:13: the text in quotes is not as idemgen writes it" + mend + "  15 |             guard: \"once\n     |             ^^^^^^^^^^^^\n"},
		{"a kind that is none", "order_paid:", "Order:", "idem.lock:3:3: want the name of a kind" + mend + "  3 |   Order:\n    |   ^^^^^\n"},
		{"a version that is none", "      1:", "      01:", "idem.lock:5:7: want the name of a version" + mend + "  5 |       01:\n    |       ^^\n"},
		{"a version too large", "      1:", "      4000000000:", "idem.lock:5:7: version 4000000000 is larger than any" + mend + "  5 |       4000000000:\n    |       ^^^^^^^^^^\n"},
		{"no text", "format: 1", "format:", "idem.lock:1:1: format: want the number 1" + mend + "  1 | format:\n    | ^^^^^^\n"},
		{"no UTF-8", "once", "\xff", "idem.lock: the file is not UTF-8" + mend},
		{"nothing", whole(), "", "idem.lock:1:1: format is missing" + mend + "  1 | \n    | ^\nidem.lock:1:1: kinds is missing" + mend + "  1 | \n    | ^\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(whole(), c.from) {
				t.Fatalf("the lock does not hold %q", c.from)
			}
			_, diags := lock.Parse("idem.lock", []byte(strings.Replace(whole(), c.from, c.to, 1)))
			got := diags.Text()
			if strings.Contains(c.want, "the digest is not") { // whose last lines are the digest
				got, _, _ = strings.Cut(got, "  1")
			}
			if c.name == "nothing" {
				got = strings.ReplaceAll(got, "  1 | \n    | ^\n", "")
				c.want = strings.ReplaceAll(c.want, "  1 | \n    | ^\n", "")
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAFileTooLargeIsNotRead(t *testing.T) {
	_, diags := lock.Parse("idem.lock", bytes.Repeat([]byte("#"), 17<<20))
	if len(diags) != 1 || !strings.Contains(diags[0].Msg, "bytes; at most") {
		t.Errorf("got %s", diags.Text())
	}
	_, diags = lock.Parse("idem.lock", bytes.Repeat([]byte("\n"), 1<<20))
	if len(diags) != 1 || !strings.Contains(diags[0].Msg, "more than 500000 lines") {
		t.Errorf("got %s", diags.Text())
	}
	_, diags = lock.Parse("idem.lock", bytes.Repeat([]byte("a: b\n"), 1<<17))
	if len(diags) != 100 {
		t.Errorf("a file of other things makes %d messages, want 100", len(diags))
	}
}

func TestLineEndsCommentsAndOrderDoNotCount(t *testing.T) {
	want := parsed(t, []byte(whole())).Format()
	merged := "\uFEFF# kept by hand\n\n" + strings.Replace(whole(), "        window: 90d\n", "", 1)
	merged = strings.Replace(merged, "      1:\n", "      1:   # released\n        window: 90d # days\n", 1)
	for _, src := range []string{
		strings.ReplaceAll(whole(), "\n", "\r\n"),
		merged,
		strings.TrimSuffix(whole(), "\n"),
	} {
		if diff := cmp.Diff(string(want), string(parsed(t, []byte(src)).Format())); diff != "" {
			t.Errorf("%q\n%s", src, diff)
		}
	}
}

// names draws the names of a mapping.
func names(t *rapid.T, label, form string, low int) []string {
	list := rapid.SliceOfNDistinct(rapid.StringMatching(form), low, 4, func(s string) string { return s }).Draw(t, label)
	slices.Sort(list)
	return list
}

var anyText = rapid.StringMatching(`[A-Za-z_"\\#:'é😀?\[\]{}\-.$&*!|>%@,]([ A-Za-z0-9_"\\#:'é😀?\[\]{}\-.$&*!|>%@,]{0,12}[A-Za-z0-9"\\#:?\]}])?`)

func drawPart(t *rapid.T) lock.Part {
	p := part(anyText.Draw(t, "field"), anyText.Draw(t, "wire"), anyText.Draw(t, "type"))
	p.Empty = rapid.SampledFrom([]lock.Empty{"", lock.EmptyItself, lock.EmptyNull}).Draw(t, "empty")
	return p
}

func drawnEffect(t *rapid.T, name string) lock.Effect {
	e := lock.Effect{Name: name, Guard: contracts.Once, OncePer: drawParts(t, 0), Removed: rapid.Bool().Draw(t, "removed")}
	if rapid.Bool().Draw(t, "renamed") {
		e.Called = "now_" + name[:min(len(name), 58)]
	}
	if rapid.Bool().Draw(t, "child") {
		e.Guard, e.Work = contracts.ChildWork, "shipment"
	}
	e.KeyFormat = rapid.SampledFrom([]contracts.KeyFormat{"", contracts.KeyUUID, "base62:22"}).Draw(t, "key_format")
	return e
}

func drawParts(t *rapid.T, low int) []lock.Part {
	return rapid.SliceOfN(rapid.Custom(drawPart), low, 3).Draw(t, "parts")
}

func drawIdentity(t *rapid.T) lock.Identity {
	id := lock.Identity{Body: rapid.SampledFrom([]lock.Body{lock.Key, lock.List, lock.Hash}).Draw(t, "body")}
	id.Keyed = rapid.Bool().Draw(t, "keyed")
	if id.Body != lock.Key && rapid.Bool().Draw(t, "scoped") {
		scope := drawPart(t)
		id.Scope = &scope
	}
	switch id.Body {
	case lock.Key:
		id.Key = []lock.Part{drawPart(t)}
	case lock.List:
		id.Key = drawParts(t, 1)
	case lock.Hash:
		paths := rapid.SliceOfNDistinct(anyText, 1, 4, func(s string) string { return s }).Draw(t, "paths")
		slices.Sort(paths)
		for _, p := range paths {
			id.Members = append(id.Members, lock.Member{Path: p, Type: anyText.Draw(t, "type")})
		}
	}
	return id
}

func drawVersion(t *rapid.T, number int) lock.Version {
	v := lock.Version{Number: number, Identity: drawIdentity(t), Window: lock.Window{Forever: true}}
	if number > 1 && rapid.Bool().Draw(t, "supersedes") {
		v.Supersedes = rapid.IntRange(1, number-1).Draw(t, "superseded")
		v.OldWork = rapid.SampledFrom([]contracts.OldWork{contracts.Honor, contracts.Reprocess}).Draw(t, "old work")
	}
	if rapid.Bool().Draw(t, "golden") {
		v.Golden = strings.Repeat(rapid.StringMatching(`[0-9a-f]`).Draw(t, "digit"), 64)
	}
	if rapid.Bool().Draw(t, "duration") {
		v.Window = lock.Window{Duration: time.Duration(rapid.Int64Range(1, int64(contracts.MaxDuration)).Draw(t, "window")), Until: rapid.SampledFrom([]string{"", "nightly_sync"}).Draw(t, "until")}
	}
	for _, name := range names(t, "effects", `[a-z][a-z0-9_]{0,3}`, 0) {
		v.Effects = append(v.Effects, drawnEffect(t, name))
	}
	return v
}

func drawFile(t *rapid.T) *lock.File {
	f := &lock.File{Path: "idem.lock"}
	for _, name := range names(t, "kinds", `[a-z][a-z0-9_]{0,3}`, 0) {
		k := lock.Kind{Name: name, Retired: rapid.Bool().Draw(t, "retired")}
		numbers := rapid.SliceOfNDistinct(rapid.IntRange(1, 1<<31-1), 1, 3, func(n int) int { return n }).Draw(t, "versions")
		slices.Sort(numbers)
		for _, n := range numbers {
			k.Versions = append(k.Versions, drawVersion(t, n))
		}
		if len(numbers) > 1 && rapid.Bool().Draw(t, "went back") {
			k.Current = numbers[0]
		}
		f.Kinds = append(f.Kinds, k)
	}
	return f
}

func TestALockIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFile(t)
		src := f.Format()
		got, diags := lock.Parse("idem.lock", src)
		if len(diags) > 0 {
			t.Fatalf("%s\n%s", diags.Text(), src)
		}
		if diff := cmp.Diff(f, got, noPlaces, equateEmpty); diff != "" {
			t.Fatalf("(-written +read)\n%s\n%s", diff, src)
		}
		if again := got.Format(); !bytes.Equal(again, src) {
			t.Fatalf("written again it differs:\n%s", cmp.Diff(string(src), string(again)))
		}
	})
}

// TestALockIsYAML holds the hand-written reader against a YAML library: what is
// written means the same to both.
func TestALockIsYAML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFile(t)
		var doc struct {
			Format int
			Kinds  map[string]struct {
				Retired  bool
				Current  int
				Versions map[int]struct {
					Identity, Digest, Golden, Window string
					Keyed                            bool
					Supersedes                       int
					OldWork                          string `yaml:"old_work"`
					Scope                            *struct{ Field, Wire, Type, Empty string }
					Key                              []struct{ Field, Wire, Type, Empty string }
					Hash                             map[string]string
					Effects                          map[string]struct {
						Guard, Called string
						KeyFormat     string `yaml:"key_format"`
						Removed       bool
						Work          string
						OncePer       []struct{ Field, Wire, Type, Empty string } `yaml:"once_per"`
					}
				}
			}
		}
		d := yaml.NewDecoder(bytes.NewReader(f.Format()))
		d.KnownFields(true)
		if err := d.Decode(&doc); err != nil {
			t.Fatalf("%v\n%s", err, f.Format())
		}
		for _, k := range f.Kinds {
			for _, v := range k.Versions {
				y := doc.Kinds[k.Name].Versions[v.Number]
				if y.Supersedes != v.Supersedes || y.OldWork != string(v.OldWork) || y.Identity != string(v.Identity.Body) || y.Digest != v.Identity.Digest() || y.Golden != v.Golden || y.Window != v.Window.String() || len(y.Hash) != len(v.Identity.Members) {
					t.Fatalf("%s version %d: YAML reads %+v\n%s", k.Name, v.Number, y, f.Format())
				}
				for _, m := range v.Identity.Members {
					if y.Hash[m.Path] != m.Type {
						t.Fatalf("YAML reads the member %q as %q, want %q\n%s", m.Path, y.Hash[m.Path], m.Type, f.Format())
					}
				}
				for i, p := range v.Identity.Key {
					if got := y.Key[i]; got.Field != p.Field || got.Wire != p.Wire || got.Type != p.Type || got.Empty != string(p.Empty) {
						t.Fatalf("YAML reads the key %+v, want %+v\n%s", got, p, f.Format())
					}
				}
			}
		}
	})
}

func TestWordsThatYAMLReadersDisagreeOnAreQuoted(t *testing.T) {
	for word, want := range map[string]string{
		"no": `"no"`, "Y": `"Y"`, "null": `"null"`, "True": `"True"`, "é": `"\u00e9"`, "😀": `"\U0001f600"`, "a #b": `"a #b"`, "~": `"~"`, "1e3": `"1e3"`,
		"lines[].sku?": "lines[].sku?", "text net/netip.Addr": "text net/netip.Addr", "note": "note",
	} {
		id := lock.Identity{Body: lock.Key, Key: []lock.Part{part("A", word, "string")}}
		f := &lock.File{Kinds: []lock.Kind{{Name: "a", Versions: []lock.Version{{Number: 1, Identity: id, Window: days(1)}}}}}
		if src := string(f.Format()); !strings.Contains(src, "            wire: "+want+"\n") {
			t.Errorf("want %s as %s, got\n%s", word, want, src)
		}
	}
}

func TestUpdatingIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFile(t)
		var now []lock.Contract
		for _, k := range f.Kinds {
			spec := &contracts.Contract{Kind: contracts.Value[string]{V: k.Name, Set: true}}
			version := drawVersion(t, 1)
			for _, e := range version.Effects {
				spec.Effects = append(spec.Effects, &contracts.Effect{Name: contracts.Value[string]{V: e.Name, Set: true}})
			}
			now = append(now, lock.Contract{File: &contracts.File{Path: "a.idem.yaml"}, Spec: spec, Now: version, Has: func(string, lock.Part) bool { return false }})
		}
		shuffled := rapid.Permutation(now).Draw(t, "order")
		a, diagsA := f.Update(true, now)
		b, diagsB := f.Update(true, shuffled)
		if diagsA.Text() != diagsB.Text() {
			t.Fatalf("diagnostics depend on the order of packages:\n%s", cmp.Diff(diagsA.Text(), diagsB.Text()))
		}
		if a != nil && !bytes.Equal(a.Format(), b.Format()) {
			t.Fatal("the file depends on the order of packages")
		}
	})
}

func TestDigestsTellApartWhatHasOtherBytes(t *testing.T) {
	scope := part("T", "t", "string")
	shapes := map[string]lock.Identity{
		"key":               {Body: lock.Key, Key: []lock.Part{part("A", "a", "string")}},
		"key of int":        {Body: lock.Key, Key: []lock.Part{part("A", "a", "int")}},
		"list of one":       listOf("A"),
		"list of two":       listOf("A", "B"),
		"hash":              hashOf(lock.Member{Path: "a", Type: "string"}),
		"hash of another":   hashOf(lock.Member{Path: "b", Type: "string"}),
		"hash of two":       hashOf(lock.Member{Path: "a", Type: "string"}, lock.Member{Path: "b", Type: "string"}),
		"hash with a scope": {Body: lock.Hash, Scope: &scope, Members: []lock.Member{{Path: "a", Type: "string"}}},
		"hash of scope":     hashOf(lock.Member{Path: "scope", Type: "string"}),
	}
	seen := map[string]string{}
	for name, id := range shapes {
		if other, ok := seen[id.Digest()]; ok {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[id.Digest()] = name
	}
	renamed := lock.Identity{Body: lock.Key, Key: []lock.Part{part("B", "b", "string")}}
	if renamed.Digest() != shapes["key"].Digest() {
		t.Error("the name of a key's field is in the digest, and is not in the key")
	}
	// It stands in files of users and must not change between releases.
	if got := shapes["hash with a scope"].Digest(); got != "55e846306d261d085b6550228d45584c07008626af86957ebacdae781261839d" {
		t.Errorf("the digest of a published shape changed: %s", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole()))
	f.Add([]byte("format: 1\nkinds:\n"))
	f.Add([]byte("format: 1\nkinds:\n  a:\n    retired: true\n    versions:\n      1:\n        identity: hash\n        hash:\n          \"a b\": \"\\u00e9\"\n"))
	f.Add([]byte("- - - a: b\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, diags := lock.Parse("idem.lock", src)
		if file == nil {
			t.Fatal("no file")
		}
		_ = diags.Text()
		if diags.HasErrors() {
			return
		}
		written := file.Format()
		again, diags := lock.Parse("idem.lock", written)
		if len(diags) > 0 {
			t.Fatalf("what was written cannot be read:\n%s%s", diags.Text(), written)
		}
		if diff := cmp.Diff(file, again, noPlaces, equateEmpty); diff != "" {
			t.Fatalf("(-read +read again)\n%s", diff)
		}
	})
}
