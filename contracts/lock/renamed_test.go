package lock_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/contracts/lock"
)

// withEffects is the contract with other effects, and what is described of them.
func withEffects(t *testing.T, version, effects string) lock.Contract {
	t.Helper()
	honors := strings.HasSuffix(version, " honors 1")
	if version = strings.TrimSuffix(version, " honors 1"); version != "1" {
		work := "reprocess"
		if honors {
			work = "honor"
		}
		version += "\n    supersedes: {version: 1, because: so be it, old_work: " + work + "}"
	}
	src := strings.Replace(source, "      send: {guard: once, once_per: [To]}\n", effects, 1)
	file, diags := contracts.Parse("pay.idem.yaml", []byte(strings.Replace(src, "version: 1", "version: "+version, 1)))
	if len(diags) > 0 {
		t.Fatal(diags.Text())
	}
	spec := file.Contracts[0]
	now := changed(func(v *lock.Version) { v.Number, v.Effects = spec.Version.V, nil })
	for _, e := range spec.Effects {
		locked := lock.Effect{Name: e.LedgerName(), Guard: e.Guard.V, Work: e.Work.V}
		if e.Was.Set {
			locked.Called = e.Name.V
		}
		for _, p := range e.OncePer {
			locked.OncePer = append(locked.OncePer, part(p.V, strings.ToLower(p.V), "string"))
		}
		now.Effects = append(now.Effects, locked)
	}
	c := lock.Contract{File: file, Spec: spec, Now: now, Has: func(string, lock.Part) bool { return true }}
	if honors {
		c.Honored = []lock.Version{base()}
	}
	return c
}

// The steps of one contract, from run to run: what each is told, and what the lock
// holds after it.
func TestEffectsAreRenamedAndRemovedByWhatTheContractSays(t *testing.T) {
	const (
		send  = "      send: {guard: once, once_per: [To]}\n"
		mail  = "      mail: {guard: once, once_per: [To], was: send}\n"
		post  = "      post: {guard: once, once_per: [To], was: send}\n"
		price = "      price: {guard: read}\n"
		ship  = "      ship: {guard: find_first, find: findIt, visible_after: 1s}\n"
		gone  = "      send: {removed: letters are no longer sent}\n"
	)
	for name, test := range map[string]struct {
		version string
		steps   []string // effects of run after run; only the last may be refused
		want    string   // the message of the last, without snippets; empty if it is fine
		entry   string   // the effects in the lock after it
	}{
		"renamed":                            {steps: []string{send, mail}, entry: "send called mail"},
		"renamed twice, with the first name": {steps: []string{send, mail, post}, entry: "send called post"},
		"renamed twice, with the name between": {
			steps: []string{send, mail, "      post: {guard: once, once_per: [To], was: mail}\n"},
			want:  "effects.post.was: mail was send before: write was: send, the name that the ledger has",
		},
		"renamed and back": {steps: []string{send, mail, send}, entry: "send"},
		"renamed, and was forgotten later": {
			steps: []string{send, mail, "      mail: {guard: once, once_per: [To]}\n"},
			want:  "effects.send: version 1 has this effect in idem.lock and no longer here",
		},
		"renamed, with another once_per": {
			steps: []string{send, "      mail: {guard: once, was: send}\n"},
			want:  "effects.mail.once_per: this is not what version 1 has in idem.lock",
		},
		"two that swap their names": {
			steps: []string{send + ship, "      send: {guard: find_first, find: findIt, visible_after: 1s, was: ship}\n      ship: {guard: once, once_per: [To], was: send}\n"},
			entry: "send called ship; ship called send",
		},
		"was of nothing": {
			steps: []string{send, send + "      mail: {guard: once, was: sent}\n"},
			want:  "effects.mail.was: no effect of order_paid is called sent in idem.lock (did you mean send?): leave was out if the effect is new",
		},
		"was in a new kind": {steps: []string{mail}, want: "effects.mail.was: no effect of order_paid is called send in idem.lock: leave was out if the effect is new"},
		"was with a bump":   {version: "2", steps: []string{send, mail}, entry: "send called mail"},
		"the work of another kind": {
			steps: []string{"      ship: {work: shipment}\n", "      ship: {work: parcel}\n"},
			want:  "effects.ship.work: this is not what version 1 has in idem.lock, where it is work of the kind shipment; it would be work of the kind parcel, and work in flight would do it again under another key. Restore it; or, if work in flight can do both, give the effect another name and write ship: {removed: \"why\"} for the old one; or set version: 2",
		},
		"a function's, and then work of its own": {
			steps: []string{send, "      send: {work: mail}\n"},
			want:  "effects.send.work: this is not what version 1 has in idem.lock, where it is done by a function; it would be work of the kind mail, and",
		},
		"work of its own, and then a function's": {
			steps: []string{"      send: {work: mail}\n", "      send: {guard: once}\n"},
			want:  "effects.send.guard: this is not what version 1 has in idem.lock, where it is work of the kind mail; it would be done by a function, and",
		},
		"a read, and then work of its own": {steps: []string{price, "      price: {work: pricing}\n"}, entry: "price"},
		"removed":                          {steps: []string{send + ship, ship + gone}, entry: "send removed; ship"},
		"removed and kept so":              {steps: []string{send + ship, ship + gone, ship + gone}, entry: "send removed; ship"},
		"removed, and forgotten later": {
			steps: []string{send + ship, ship + gone, ship},
			want:  "effects.send: version 1 has this effect in idem.lock as removed, and the contract no longer says so: work in flight may have done it as long as the version lives",
		},
		"removed and restored": {steps: []string{send + ship, ship + gone, send + ship}, entry: "send; ship"},
		"removed and restored as another": {
			steps: []string{send + ship, ship + gone, ship + "      send: {guard: once}\n"},
			want:  "effects.send.once_per: this is not what version 1 has in idem.lock",
		},
		"removed by the name between": {
			steps: []string{send + ship, mail + ship, ship + "      mail: {removed: why not}\n"},
			want:  "effects.mail: mail was renamed before it was removed: write send: {removed: …}, by the name that the ledger has",
		},
		"nothing is removed": {
			steps: []string{ship, ship + "      ships: {removed: why not}\n"},
			want:  "effects.ships: no effect of order_paid is called ships in idem.lock (did you mean ship?): there is nothing to remove",
		},
		"removed with a bump that honours old work": {version: "2 honors 1", steps: []string{send + ship, ship + gone}, entry: "send removed; ship"},
		"gone with a bump that honours old work": {
			version: "2 honors 1", steps: []string{send + ship, ship},
			want: "effects.send: version 1 has this effect in idem.lock and no longer here",
		},
		"renamed with a bump that honours old work": {version: "2 honors 1", steps: []string{send, mail}, entry: "send called mail"},
		"a read goes without a word":                {steps: []string{send + price, send}, entry: "send"},
	} {
		t.Run(name, func(t *testing.T) {
			var file *lock.File
			var diags contracts.Diagnostics
			for i, effects := range test.steps {
				version := "1"
				if i == len(test.steps)-1 && test.version != "" {
					version = test.version
				}
				next, told := file.Update(true, []lock.Contract{withEffects(t, version, effects)})
				if diags = told; next == nil {
					if i < len(test.steps)-1 {
						t.Fatalf("step %d was refused: %s", i, diags.Text())
					}
					break
				}
				if file, told = lock.Parse(lock.Name, next.Format()); len(told) > 0 {
					t.Fatal(told.Text())
				}
			}
			if test.want != "" {
				if !diags.HasErrors() || !strings.Contains(diags[0].Error(), test.want) {
					t.Errorf("got\n%swant\n%s", diags.Text(), test.want)
				}
				return
			}
			versions := file.Kinds[0].Versions
			if diff := cmp.Diff(test.entry, entry(versions[len(versions)-1])); diff != "" || diags.HasErrors() {
				t.Errorf("(-want +got)\n%s%s", diff, diags.Text())
			}
		})
	}
}

func entry(v lock.Version) string {
	var list []string
	for _, e := range v.Effects {
		text := e.Name
		if e.Called != "" {
			text += " called " + e.Called
		}
		if e.Removed {
			text += " removed"
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

func TestAGuardMayChangeWhereNothingCanBeLeftUnknown(t *testing.T) {
	for was, warned := range map[string]bool{"transaction": false, "read": false, "repeatable": true, "upsert": true} {
		file, diags := (*lock.File)(nil).Update(true, []lock.Contract{withEffects(t, "1", "      send: {guard: "+was+"}\n")})
		if len(diags) > 0 {
			t.Fatal(diags.Text())
		}
		next, diags := file.Update(true, []lock.Contract{withEffects(t, "1", "      send: {guard: once}\n")})
		if got := len(diags) > 0; got != warned || next == nil {
			t.Errorf("from %s to once: warned %t, want %t\n%s", was, got, warned, diags.Text())
		}
	}
}

func TestAVersionThatWasTakenBackIsWarnedOfOnce(t *testing.T) {
	const effects = "      send: {guard: once}\n"
	var file *lock.File
	for i, step := range []struct{ version, want string }{
		{"1", ""},
		{"2", ""},
		{"2", ""},
		{"1", "version 1 is not version 2, which idem.lock has: what version 2 has done is new again"},
		{"1", ""},
		{"2", ""},
		{"1", "version 1 is not version 2"},
		{"1", ""},
	} {
		next, diags := file.Update(true, []lock.Contract{withEffects(t, step.version, effects)})
		if next == nil || len(diags) > 1 || (len(diags) == 1) != (step.want != "") || !strings.Contains(diags.Text(), step.want) {
			t.Fatalf("run %d, version %s: got %q, want %q", i, step.version, diags.Text(), step.want)
		}
		if file, diags = lock.Parse(lock.Name, next.Format()); len(diags) > 0 {
			t.Fatal(diags.Text())
		}
	}
}

func TestALockThatLostSomethingIsToldByWhatWasGenerated(t *testing.T) {
	file := locked(t, false, base())
	made := lock.Made{Kind: "order_paid", Version: 1, Digest: base().Identity.Digest(), File: "pay_idem.go"}
	other, second, kind := made, made, made
	other.Digest, second.Version, kind.Kind = "d", 2, "refund"
	for name, test := range map[string]struct {
		file *lock.File
		made []lock.Made
		want string
	}{
		"as it was":        {file, []lock.Made{made}, ""},
		"no lock, no file": {nil, nil, ""},
		"no lock": {nil, []lock.Made{made}, "idem.lock: the file is gone, and without it nobody can tell whether done work would be new again: restore it from version control. If no work of this module has ever run, delete the generated files, and run idemgen\n" +
			"  pay_idem.go: version 1 of order_paid was generated with it\n"},
		"another identity": {file, []lock.Made{other}, "idem.lock:7: version 1 of order_paid has another identity in this file than when pay_idem.go was generated: restore the one that has been released. If that is this one, delete the generated file, and run idemgen\n"},
		"a version":        {file, []lock.Made{made, second}, "idem.lock: version 2 of order_paid is not in this file, and pay_idem.go was generated with it: restore what a merge or an edit has lost. If that version has never run, delete the generated file, and run idemgen\n"},
		"a kind":           {file, []lock.Made{kind}, "idem.lock: version 1 of refund is not in this file, and pay_idem.go was generated with it: restore what a merge or an edit has lost. If that version has never run, delete the generated file, and run idemgen\n"},
	} {
		if diff := cmp.Diff(test.want, test.file.Lost(test.made).Text()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
