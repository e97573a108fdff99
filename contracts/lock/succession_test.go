package lock_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/contracts/lock"
)

// bump is the contract at a version, with what it says of the one before; empty if
// it says nothing.
func bump(t *testing.T, version int, supersedes string) lock.Contract {
	t.Helper()
	line := fmt.Sprintf("version: %d", version)
	if supersedes != "" {
		line += "\n    supersedes: " + supersedes
	}
	file, diags := contracts.Parse("pay.idem.yaml", []byte(strings.Replace(source, "version: 1", line, 1)))
	if diags.HasErrors() {
		t.Fatal(diags.Text())
	}
	c := lock.Contract{File: file, Spec: file.Contracts[0], Has: func(string, lock.Part) bool { return true }}
	c.Now = changed(func(v *lock.Version) {
		v.Number, v.Identity = version, listOf("PaymentID", "Shop")
		v.Supersedes, v.OldWork = c.Spec.Supersedes.Version.V, c.Spec.Supersedes.OldWork.V
	})
	return c
}

// versions are as bump makes them, one after the other.
func at(number, supersedes int, how contracts.OldWork) lock.Version {
	return changed(func(v *lock.Version) { v.Number, v.Supersedes, v.OldWork = number, supersedes, how })
}

const (
	honor1     = `{version: 1, because: "x", old_work: honor}`
	reprocess1 = `{version: 1, because: "x", old_work: reprocess}`
)

// place is the source line of a diagnostic.
func place(line int, text string, column, width int) string {
	return fmt.Sprintf("  %d | %s\n    | %s%s\n", line, text, strings.Repeat(" ", column-1), strings.Repeat("^", width))
}

func TestABumpSaysWhatItMeans(t *testing.T) {
	for _, test := range []struct {
		name     string
		old      []lock.Version
		version  int
		says     string
		honored  []lock.Version // as today's types have them
		gone     bool           // the effect, by now
		want     string
		contains bool // want is a part
	}{
		{
			name: "nothing said", old: []lock.Version{base()}, version: 2,
			want: "pay.idem.yaml:3:14: version: version 2 is new: say what becomes of the work of version 1. Write " + means + "\n" +
				place(3, "    version: 2", 14, 1) + "  idem.lock:7: version 1 is locked here\n",
		},
		{name: "nothing said of a version that was locked", old: []lock.Version{base(), changed(func(v *lock.Version) { v.Number, v.Identity = 2, listOf("PaymentID", "Shop") })}, version: 2},
		{name: "honoured", old: []lock.Version{base()}, version: 2, says: honor1, honored: []lock.Version{base()}},
		{name: "new again", old: []lock.Version{base()}, version: 2, says: reprocess1},
		{
			name: "a version that never was", old: []lock.Version{base(), at(2, 0, "")}, version: 4, says: `{version: 3, because: "x", old_work: reprocess}`,
			want: "pay.idem.yaml:4:27: supersedes.version: idem.lock has no version 3 of order_paid: it has 1, 2\n" +
				place(4, `    supersedes: {version: 3, because: "x", old_work: reprocess}`, 27, 1),
		},
		{
			name: "honoured without a lock", version: 2, says: honor1,
			want: "pay.idem.yaml:4:27: supersedes.version: idem.lock has no entry for order_paid, so that nobody knows what the keys of version 1 were made of: restore the file from version control, or write old_work: reprocess\n" +
				place(4, "    supersedes: "+honor1, 27, 1),
		},
		{name: "new again without a lock", version: 2, says: reprocess1},
		{
			name: "a version in between", old: []lock.Version{base(), at(2, 0, "")}, version: 3, says: honor1, honored: []lock.Version{base()},
			want: "pay.idem.yaml:4:27: warning: supersedes.version: version 2 comes in between: nothing is said of its work, which is new again, done work too\n" +
				place(4, "    supersedes: "+honor1, 27, 1) + "  idem.lock:23: version 2 is locked here\n",
		},
		{
			name: "keys that are no longer those", old: []lock.Version{base()}, version: 2, says: honor1,
			honored: []lock.Version{changed(func(v *lock.Version) { v.Identity.Key[0].Type = "int" })},
			want: "pay.idem.yaml:4:27: supersedes.version: the keys of version 1 cannot be derived any more: the Go types give them other bytes. Restore the fields as they were (under new ones beside them, if need be), or write old_work: reprocess\n" +
				place(4, "    supersedes: "+honor1, 27, 1) + "  idem.lock:10: key 1: was PaymentID (payment_id in JSON, string), is PaymentID (payment_id in JSON, int)\n",
		},
		{
			name: "keys of another idemgen", old: []lock.Version{base()}, version: 2, says: honor1,
			honored: []lock.Version{changed(func(v *lock.Version) { v.Golden = strings.Repeat("b", 64) })},
			want:    "the identity of version 1 is the one in idem.lock, and yet its golden key would be another one", contains: true,
		},
		{
			name: "keys of a version that another one honoured", old: []lock.Version{base(), at(2, 1, contracts.Honor)}, version: 3, says: `{version: 2, because: "x", old_work: honor}`,
			honored: []lock.Version{at(2, 1, contracts.Honor), changed(func(v *lock.Version) { v.Identity.Key[0].Type = "int" })},
			want:    "or write old_work: reprocess; or, if all work of version 1 is past its window, delete the lines supersedes and old_work of the version that honoured it from idem.lock\n", contains: true,
		},
		{
			name: "an effect of old work is gone", old: []lock.Version{base()}, version: 2, says: honor1, honored: []lock.Version{base()}, gone: true,
			want: "effects.send: version 1 has this effect in idem.lock and no longer here", contains: true,
		},
		{name: "an effect of work that is done again is gone", old: []lock.Version{base()}, version: 2, says: reprocess1, gone: true},
		{
			name: "honoured no longer", old: []lock.Version{base(), changed(func(v *lock.Version) {
				v.Number, v.Identity, v.Supersedes, v.OldWork = 2, listOf("PaymentID", "Shop"), 1, contracts.Honor
			})}, version: 2,
			want: "pay.idem.yaml:3:14: warning: supersedes: work of version 1 is honoured no longer: what of it is not yet past its window, which was 90d, and was not delivered again since version 2, is new again, done work too\n" +
				place(3, "    version: 2", 14, 1) + "  idem.lock:23: version 2 honoured it\n",
		},
		{
			name: "new again after all", old: []lock.Version{base(), changed(func(v *lock.Version) {
				v.Number, v.Identity, v.Supersedes, v.OldWork = 2, listOf("PaymentID", "Shop"), 1, contracts.Honor
			})}, version: 2, says: reprocess1,
			want: "warning: supersedes: work of version 1 is honoured no longer", contains: true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var old *lock.File
			if test.old != nil {
				old = locked(t, false, test.old...)
			}
			c := bump(t, test.version, test.says)
			c.Honored = test.honored
			if test.gone {
				c.Now.Effects = nil
			}
			next, diags := old.Update(true, []lock.Contract{c})
			got := diags.Text()
			if test.contains && strings.Contains(got, test.want) {
				got = test.want
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if next != nil {
				last := next.Kinds[0].Versions
				equal(t, c.Now, last[len(last)-1])
			}
		})
	}
}

func TestHonoredVersionsAreFollowed(t *testing.T) {
	f := locked(t, false, at(1, 0, ""), at(2, 1, contracts.Honor), at(4, 2, contracts.Reprocess), at(6, 4, contracts.Honor))
	for _, test := range []struct {
		says string
		want []int
	}{
		{"", nil},
		{`{version: 6, because: "x", old_work: reprocess}`, nil},
		{`{version: 6, because: "x", old_work: honor}`, []int{6, 4}},
		{`{version: 2, because: "x", old_work: honor}`, []int{2, 1}},
		{`{version: 1, because: "x", old_work: honor}`, []int{1}},
		{`{version: 5, because: "x", old_work: honor}`, nil},
	} {
		var got []int
		for _, v := range f.Honored(bump(t, 7, test.says).Spec) {
			got = append(got, v.Number)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.says, diff)
		}
	}
	var none *lock.File
	if got := none.Honored(bump(t, 7, honor1).Spec); got != nil {
		t.Errorf("without a lock: %v", got)
	}
}

func TestWhatAVersionHasDoneIsKnownToTheOneThatItHonoured(t *testing.T) {
	const known, again = "What version 3 has done is known all the same", "what version 3 has done is new again"
	for name, test := range map[string]struct {
		second, third lock.Version
		want          string
	}{
		"honoured by way of another": {at(2, 1, contracts.Honor), at(3, 2, contracts.Honor), known},
		"honoured directly":          {at(2, 1, contracts.Reprocess), at(3, 1, contracts.Honor), known},
		"the last made it new":       {at(2, 1, contracts.Honor), at(3, 2, contracts.Reprocess), again},
		"the one between made it":    {at(2, 1, contracts.Reprocess), at(3, 2, contracts.Honor), again},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := locked(t, false, base(), test.second, test.third).Update(true, []lock.Contract{contract(t, base())})
			if text := diags.Text(); diags.HasErrors() || strings.Count(text, "warning") != 1 || !strings.Contains(text, test.want) {
				t.Errorf("want one warning that says %q, got\n%s", test.want, text)
			}
		})
	}
}
