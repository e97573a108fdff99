package lock_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/contracts/lock"
)

// source is the contract that the comparisons are about.
const source = `contracts:
  order_paid:
    version: 1
    statement: S.
    handler: Pay
    identity: {key: PaymentID}
    window: 90d
    response: {when_done: error, while_running: error, other_payload: error}
    effects:
      send: {guard: once, once_per: [To]}
`

func part(field, wire, encoded string) lock.Part {
	return lock.Part{Field: field, Wire: wire, Type: encoded}
}

func days(n time.Duration) lock.Window { return lock.Window{Duration: n * 24 * time.Hour} }

// base is what idem.lock holds of it.
func base() lock.Version {
	return lock.Version{
		Number:   1,
		Identity: lock.Identity{Body: lock.Key, Key: []lock.Part{part("PaymentID", "payment_id", "string")}},
		Golden:   strings.Repeat("a", 64),
		Window:   days(90),
		Effects:  []lock.Effect{{Name: "send", Guard: contracts.Once, OncePer: []lock.Part{part("To", "to", "string")}}},
	}
}

func changed(change func(*lock.Version)) lock.Version {
	v := base()
	change(&v)
	return v
}

func hashOf(members ...lock.Member) lock.Identity {
	return lock.Identity{Body: lock.Hash, Members: members}
}

// locked is a lock with these versions, as it is read from its text.
func locked(t *testing.T, retired bool, versions ...lock.Version) *lock.File {
	t.Helper()
	f := &lock.File{Kinds: []lock.Kind{{Name: "order_paid", Retired: retired, Versions: versions}}}
	return parsed(t, f.Format())
}

func parsed(t *testing.T, src []byte) *lock.File {
	t.Helper()
	f, diags := lock.Parse("idem.lock", src)
	if len(diags) > 0 {
		t.Fatalf("%s\n%s", diags.Text(), src)
	}
	return f
}

// contract is the contract with what it says now. The input has the fields of the
// list, under their Go or wire names.
func contract(t *testing.T, now lock.Version, fields ...string) lock.Contract {
	t.Helper()
	src := source
	if now.Number > 1 {
		src = strings.Replace(src, "version: 1", "version: 2", 1)
	}
	file, diags := contracts.Parse("pay.idem.yaml", []byte(src))
	if diags.HasErrors() {
		t.Fatal(diags.Text())
	}
	has := func(_ string, p lock.Part) bool {
		for _, f := range fields {
			if f == p.Field || f == p.Wire {
				return true
			}
		}
		return false
	}
	return lock.Contract{File: file, Spec: file.Contracts[0], Now: now, Has: has}
}

// emptyPart is a list of which the first part may be empty.
func emptyPart(how lock.Empty) lock.Version {
	return changed(func(v *lock.Version) {
		v.Identity = listOf("A", "B")
		v.Identity.Key[0].Empty = how
	})
}

type comparison struct {
	name     string
	old, now lock.Version
	fields   []string // of the input
	want     string   // all diagnostics
}

const (
	means = "supersedes: {version: 1, because: \"…\", old_work: honor}, with which it goes on under its old keys and what is done stays done, or the same with old_work: reprocess, with which all of it is new work"
	other = "pay.idem.yaml:6:5: identity: this is another identity than version 1 has in idem.lock, so that work which is done would be done again: restore the contract, Go types and json tags, or set version: 2 and say what becomes of the work of version 1: " + means + "\n" +
		"  6 |     identity: {key: PaymentID}\n    |     ^^^^^^^^\n"
	gone       = "pay.idem.yaml:2:3: effects.send: version 1 has this effect in idem.lock and no longer here: work in flight that has done it would do it again under another name, or leave it half done. If it was renamed, give the effect was: send; if work in flight can do without it, write send: {removed: \"why\"} among the effects; or restore it\n  2 |   order_paid:\n    |   ^^^^^^^^^^\n"
	perChanged = "pay.idem.yaml:10:38: effects.send.once_per: this is not what version 1 has in idem.lock, so that work in flight would repeat the effect under another key: restore it; or, if work in flight can do both, give the effect another name and write send: {removed: \"why\"} for the old one; or set version: 2\n  10 |       send: {guard: once, once_per: [To]}\n     |                                      ^^\n"
)

func comparisons() []comparison {
	return []comparison{
		{name: "nothing changed", old: base(), now: base()},
		{
			name: "a key's Go field is renamed and keeps its wire name", old: base(),
			now:    changed(func(v *lock.Version) { v.Identity.Key[0].Field = "ChargeID" }),
			fields: []string{"ChargeID", "payment_id"},
		},
		{
			name: "a key's wire name changes", old: base(),
			now:    changed(func(v *lock.Version) { v.Identity.Key[0].Wire = "pid" }),
			fields: []string{"PaymentID", "pid"},
		},
		{
			name: "another field takes a key's wire name", old: base(),
			now:    changed(func(v *lock.Version) { v.Identity.Key[0].Wire = "pid" }),
			fields: []string{"PaymentID", "pid", "payment_id"},
			want:   other + "  idem.lock:10: key 1: was PaymentID (payment_id in JSON, string), is PaymentID (pid in JSON, string)\n",
		},
		{
			name: "a part may be empty, and a pointer is made of it", old: emptyPart(lock.EmptyItself), now: emptyPart(lock.EmptyNull),
			want: other + "  idem.lock:10: key 1: was A (string, empty as it is), is A (string, empty as null)\n" +
				"  idem.lock:14: key 2: is B (string), as it was\n",
		},
		{name: "a part may be empty now", old: emptyPart(""), now: emptyPart(lock.EmptyNull)},
		{
			name: "a key's field without a tag is renamed", old: base(),
			now:    changed(func(v *lock.Version) { v.Identity.Key[0] = part("ChargeID", "ChargeID", "string") }),
			fields: []string{"ChargeID"},
		},
		{
			name: "the contract chooses another field", old: base(),
			now:    changed(func(v *lock.Version) { v.Identity.Key[0] = part("CustomerID", "customer_id", "string") }),
			fields: []string{"PaymentID", "CustomerID"},
			want:   other + "  idem.lock:10: key 1: was PaymentID (payment_id in JSON, string), is CustomerID (customer_id in JSON, string)\n",
		},
		{
			name: "another field has the wire name of the old one", old: base(),
			now:    changed(func(v *lock.Version) { v.Identity.Key[0] = part("CustomerID", "customer_id", "string") }),
			fields: []string{"payment_id", "CustomerID"},
			want:   other + "  idem.lock:10: key 1: was PaymentID (payment_id in JSON, string), is CustomerID (customer_id in JSON, string)\n",
		},
		{
			name: "a key's type changes", old: base(),
			now:  changed(func(v *lock.Version) { v.Identity.Key[0].Type = "int" }),
			want: other + "  idem.lock:10: key 1: was PaymentID (payment_id in JSON, string), is PaymentID (payment_id in JSON, int)\n",
		},
		{
			name: "an identity is keyed now, of which the parts are the same", old: base(),
			now: changed(func(v *lock.Version) { v.Identity.Keyed = true }),
			want: other + "  idem.lock:8: keyed: was false, is true\n" +
				"  idem.lock:10: key 1: is PaymentID (payment_id in JSON, string), as it was\n",
		},
		{
			name: "an identity is no longer keyed", now: base(),
			old: changed(func(v *lock.Version) { v.Identity.Keyed = true }),
			want: other + "  idem.lock:8: keyed: was true, is false\n" +
				"  idem.lock:11: key 1: is PaymentID (payment_id in JSON, string), as it was\n",
		},
		{
			name: "a single key becomes a list with a scope", old: base(),
			now: changed(func(v *lock.Version) {
				scope := part("Tenant", "Tenant", "string")
				v.Identity.Body, v.Identity.Scope = lock.List, &scope
			}),
			want: other + "  idem.lock:8: identity: was the text of one value, is a list of values\n" +
				"  idem.lock:8: scope: was not there, is Tenant (string)\n" +
				"  idem.lock:10: key 1: is PaymentID (payment_id in JSON, string), as it was\n",
		},
		{
			name:   "a list is put in another order",
			old:    changed(func(v *lock.Version) { v.Identity = listOf("A", "B") }),
			now:    changed(func(v *lock.Version) { v.Identity = listOf("B", "A") }),
			fields: []string{"A", "B"},
			want: other + "  idem.lock:10: key 1: was A (string), is B (string)\n" +
				"  idem.lock:13: key 2: was B (string), is A (string)\n",
		},
		{
			name: "a list gets shorter",
			old:  changed(func(v *lock.Version) { v.Identity = listOf("A", "B") }),
			now:  changed(func(v *lock.Version) { v.Identity = listOf("A") }),
			want: other + "  idem.lock:10: key 1: is A (string), as it was\n" +
				"  idem.lock:13: key 2: was B (string), is gone\n",
		},
		{
			name: "the first of a list becomes the scope, which has the same bytes",
			old:  changed(func(v *lock.Version) { v.Identity = listOf("A", "B") }),
			now: changed(func(v *lock.Version) {
				scope := part("A", "A", "string")
				v.Identity = listOf("B")
				v.Identity.Scope = &scope
			}),
			fields: []string{"A", "B"},
		},
		{
			name: "members of a hash change",
			old: changed(func(v *lock.Version) {
				v.Identity = hashOf(lock.Member{Path: "amount", Type: "int"}, lock.Member{Path: "lines[].sku", Type: "string"}, lock.Member{Path: "note?", Type: "string"})
			}),
			now: changed(func(v *lock.Version) {
				v.Identity = hashOf(lock.Member{Path: "amount", Type: "float64"}, lock.Member{Path: "lines[].sku", Type: "string"}, lock.Member{Path: "total", Type: "int"})
			}),
			want: other + "  idem.lock:10: amount: was int, is float64\n" +
				"  idem.lock:11: lines[].sku: is string, as it was\n" +
				"  idem.lock:12: note?: was string, is gone\n" +
				"  idem.lock:8: total: was not there, is int\n",
		},
		{
			name: "of a long hash only some of what is unchanged is shown",
			old: changed(func(v *lock.Version) {
				v.Identity = hashOf(append(letters("abcdefghijklmno"), lock.Member{Path: "z", Type: "int"})...)
			}),
			now: changed(func(v *lock.Version) { v.Identity = hashOf(letters("abcdefghijklmno")...) }),
			want: other + unchanged("abcdefghijkl", 10) +
				"  idem.lock:25: z: was int, is gone\n  idem.lock:8: and 3 more as they were\n",
		},
		{
			name: "the golden key changes and the identity does not", old: base(),
			now: changed(func(v *lock.Version) { v.Golden = strings.Repeat("b", 64) }),
			want: "pay.idem.yaml:6:5: identity: the identity is the one in idem.lock, and yet its golden key would be another one: the file was edited by hand, or this idemgen derives other keys than the one that wrote it. Restore the file from version control; if it still says so, generate with that idemgen, and report this\n" +
				"  6 |     identity: {key: PaymentID}\n    |     ^^^^^^^^\n" +
				"  idem.lock:7: was " + strings.Repeat("a", 64) + ", is " + strings.Repeat("b", 64) + "\n",
		},
		{
			name: "a golden key is known now", now: base(),
			old: changed(func(v *lock.Version) { v.Golden = "" }),
		},
		{
			name: "an effect is gone", old: base(),
			now:  changed(func(v *lock.Version) { v.Effects = nil }),
			want: gone + "  idem.lock:17: send was guarded by once, once per To\n",
		},
		{
			name: "an effect is renamed", old: changed(func(v *lock.Version) { v.Effects[0].OncePer = nil }),
			now:  changed(func(v *lock.Version) { v.Effects[0].Name = "send_mail" }),
			want: gone + "  idem.lock:17: send was guarded by once, once per work\n",
		},
		{
			name: "an effect is new", old: changed(func(v *lock.Version) { v.Effects = nil }), now: base(),
		},
		{
			name: "once_per chooses another field", old: base(),
			now:    changed(func(v *lock.Version) { v.Effects[0].OncePer[0] = part("Cc", "cc", "string") }),
			fields: []string{"To", "Cc"},
			want:   perChanged + "  idem.lock:20: once_per 1: was To (to in JSON, string), is Cc (cc in JSON, string)\n",
		},
		{
			name: "once_per is new", old: changed(func(v *lock.Version) { v.Effects[0].OncePer = nil }), now: base(),
			want: perChanged + "  idem.lock:17: once_per 1: was not there, is To (to in JSON, string)\n",
		},
		{
			name: "once_per's field is renamed", old: base(),
			now:    changed(func(v *lock.Version) { v.Effects[0].OncePer[0].Field = "Recipient" }),
			fields: []string{"Recipient"},
		},
		{
			name: "a guard changes", now: base(),
			old: changed(func(v *lock.Version) { v.Effects[0].Guard = contracts.FindFirst }),
			want: "pay.idem.yaml:10:21: warning: effects.send.guard: the guard was find_first: of unfinished work, a call whose outcome is unknown was made without what makes a repeat safe under once, and will wait for a person\n" +
				"  10 |       send: {guard: once, once_per: [To]}\n     |                     ^^^^\n  idem.lock:17: send is locked here\n",
		},
		{
			name: "the window gets shorter", old: changed(func(v *lock.Version) { v.Window = lock.Window{Forever: true} }), now: base(),
			want: "pay.idem.yaml:7:13: warning: window: the window was forever and is 90d: work that was done longer ago than that is forgotten, and done again if it comes again\n" +
				"  7 |     window: 90d\n    |             ^^^\n  idem.lock:7: version 1 is locked here\n",
		},
		{
			name: "the window gets longer", old: changed(func(v *lock.Version) { v.Window = days(30) }), now: base(),
		},
		{
			name: "the window waits for another kind no more", now: base(),
			old: changed(func(v *lock.Version) { v.Window.Until = "nightly_sync" }),
			want: "pay.idem.yaml:7:13: warning: window: the window was 90d and until success of nightly_sync and is 90d: work that was done longer ago than that is forgotten, and done again if it comes again\n" +
				"  7 |     window: 90d\n    |             ^^^\n  idem.lock:7: version 1 is locked here\n",
		},
		{
			name: "the window waits for another kind besides", old: base(),
			now: changed(func(v *lock.Version) { v.Window.Until = "nightly_sync" }),
		},
	}
}

func listOf(fields ...string) lock.Identity {
	id := lock.Identity{Body: lock.List}
	for _, f := range fields {
		id.Key = append(id.Key, part(f, f, "string"))
	}
	return id
}

func letters(names string) []lock.Member {
	var members []lock.Member
	for _, n := range names {
		members = append(members, lock.Member{Path: string(n), Type: "string"})
	}
	return members
}

func unchanged(names string, line int) string {
	text := ""
	for i, n := range names {
		text += "  idem.lock:" + strconv.Itoa(line+i) + ": " + string(n) + ": is string, as it was\n"
	}
	return text
}

func TestChangesOfAContractAreJudged(t *testing.T) {
	for _, c := range comparisons() {
		t.Run(c.name, func(t *testing.T) {
			old := locked(t, false, c.old)
			before := string(old.Format())
			next, diags := old.Update(true, []lock.Contract{contract(t, c.now, c.fields...)})
			if diff := cmp.Diff(c.want, diags.Text()); diff != "" {
				t.Errorf("diagnostics (-want +got)\n%s", diff)
			}
			if (next == nil) != diags.HasErrors() {
				t.Errorf("new file %v, errors %v", next, diags.HasErrors())
			}
			if next != nil {
				equal(t, []lock.Version{c.now}, next.Kinds[0].Versions)
			}
			if after := string(old.Format()); after != before {
				t.Errorf("the old file was changed (-before +after)\n%s", cmp.Diff(before, after))
			}
		})
	}
}

func TestAPartThatMayBeEmptyAgainIsWrittenAsItWasThen(t *testing.T) {
	file := locked(t, false, emptyPart(lock.EmptyItself))
	next, diags := file.Update(true, []lock.Contract{contract(t, emptyPart(""))})
	if len(diags) > 0 {
		t.Fatalf("a part may no longer be empty:\n%s", diags.Text())
	}
	equal(t, []lock.Version{emptyPart(lock.EmptyItself)}, next.Kinds[0].Versions)
	if _, diags = next.Update(true, []lock.Contract{contract(t, emptyPart(lock.EmptyItself))}); len(diags) > 0 {
		t.Errorf("it may again:\n%s", diags.Text())
	}
	if _, diags = next.Update(true, []lock.Contract{contract(t, emptyPart(lock.EmptyNull))}); !diags.HasErrors() {
		t.Error("it may again, as a pointer: done work would be new, and the lock lets it pass")
	}
}

var noPlaces = cmpopts.IgnoreUnexported(lock.Kind{}, lock.Version{}, lock.Identity{}, lock.Part{}, lock.Member{}, lock.Effect{})

var equateEmpty = cmpopts.EquateEmpty()

func equal(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, noPlaces, equateEmpty); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFirstRunLocksWhatIsThere(t *testing.T) {
	var none *lock.File
	next, diags := none.Update(true, []lock.Contract{contract(t, base())})
	if len(diags) > 0 {
		t.Fatal(diags.Text())
	}
	equal(t, []lock.Kind{{Name: "order_paid", Versions: []lock.Version{base()}}}, next.Kinds)
}

func TestOnlyARunOverTheWholeModuleRetires(t *testing.T) {
	old := locked(t, false, base())
	next, diags := old.Update(false, nil)
	if len(diags) > 0 || next.Kinds[0].Retired {
		t.Errorf("a run over some packages retires what it did not look at: %+v %s", next.Kinds[0], diags.Text())
	}
	if next, diags = old.Update(true, nil); len(diags) > 0 {
		t.Fatal(diags.Text())
	}
	equal(t, []lock.Kind{{Name: "order_paid", Retired: true, Versions: []lock.Version{base()}}}, next.Kinds)
	if again, _ := next.Update(false, nil); !again.Kinds[0].Retired {
		t.Error("a retired kind is back without a contract")
	}
}

func TestANewKindWithTheIdentityOfOneThatIsGoneIsWarnedOf(t *testing.T) {
	gone := func(identity lock.Identity) *lock.File {
		v := changed(func(v *lock.Version) { v.Identity = identity })
		return parsed(t, (&lock.File{Kinds: []lock.Kind{{Name: "paid", Versions: []lock.Version{v}}}}).Format())
	}
	now := []lock.Contract{contract(t, base())}
	next, diags := gone(base().Identity).Update(true, now)
	want := "pay.idem.yaml:2:3: warning: order_paid is new, and paid, which told work apart by the same, is gone: if it was renamed, all that it has done is new again, since the kind is part of every key. Keep the name paid then: handlers and types may be called anything\n" +
		"  2 |   order_paid:\n    |   ^^^^^^^^^^\n  idem.lock:5: paid is locked here\n"
	if diff := cmp.Diff(want, diags.Text()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, diags = next.Update(true, now); len(diags) > 0 {
		t.Errorf("told again:\n%s", diags.Text())
	}
	if _, diags = gone(base().Identity).Update(false, now); len(diags) > 0 {
		t.Errorf("told by a run that cannot know whether it is gone:\n%s", diags.Text())
	}
	other := base().Identity
	other.Key = []lock.Part{part("InvoiceID", "invoice_id", "string")}
	if _, diags = gone(other).Update(true, now); len(diags) > 0 {
		t.Errorf("told of another identity:\n%s", diags.Text())
	}
}

func TestAKindThatComesBackMeetsItsPast(t *testing.T) {
	old := locked(t, true, base())
	next, diags := old.Update(false, []lock.Contract{contract(t, base())})
	if len(diags) > 0 || next.Kinds[0].Retired {
		t.Errorf("the same kind came back: %+v %s", next, diags.Text())
	}
	now := changed(func(v *lock.Version) { v.Identity.Key[0].Type, v.Effects = "int", nil })
	if _, diags = old.Update(false, []lock.Contract{contract(t, now)}); len(diags) != 2 {
		t.Errorf("want an error each for the identity and the effect, got\n%s", diags.Text())
	}
}

func TestAnOlderVersionIsHeldToWhatItWasAndWarnedOf(t *testing.T) {
	second := changed(func(v *lock.Version) { v.Number = 2 })
	old := locked(t, false, base(), second)
	next, diags := old.Update(true, []lock.Contract{contract(t, base())})
	want := "pay.idem.yaml:3:14: warning: version: version 1 is not version 2, which idem.lock has: what version 2 has done is new again. If version 2 never ran, restore idem.lock from version control\n" +
		"  3 |     version: 1\n    |              ^\n  idem.lock:23: version 2 is locked here\n"
	if diff := cmp.Diff(want, diags.Text()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	equal(t, []lock.Version{base(), second}, next.Kinds[0].Versions)
	now := changed(func(v *lock.Version) { v.Identity.Key[0].Type = "int" })
	if _, diags = old.Update(true, []lock.Contract{contract(t, now)}); !strings.Contains(diags.Text(), "or set version: 3 and say what becomes of the work of version 2: ") {
		t.Errorf("want version 3 as the way out, got\n%s", diags.Text())
	}
}

func TestExampleOfTheDocumentationIsALock(t *testing.T) {
	src, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(src), "//\tformat: 1\n")
	example, _, _ = strings.Cut(example, "//\n// [Parse]")
	text := "format: 1\n" + strings.ReplaceAll(example, "//\t", "")
	id := lock.Identity{Body: lock.Key, Key: []lock.Part{part("PaymentID", "payment_id", "string")}}
	text = strings.ReplaceAll(text, `"a6e1…"`, `"`+id.Digest()+`"`)
	text = strings.ReplaceAll(text, `"0b5c…"`, `"`+strings.Repeat("0", 64)+`"`)
	f := parsed(t, []byte(text))
	if got := string(f.Format()); !strings.HasSuffix(got, text) {
		t.Errorf("the example is not as it would be written (-example +written)\n%s", cmp.Diff(text, got))
	}
}
