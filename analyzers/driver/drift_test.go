package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idemgen/idem/internal/directive"
)

const (
	payContract = "contracts: {}\n"
	payLock     = "format: 1\nkinds:\n  pay:\n    versions:\n      1:\n        digest: \"ab\"\n"
	payCode     = `package m

import "context"

type Desk struct{}

func (d *Desk) Pay(ctx context.Context, total int) (string, error) { return "", nil }
`
)

// payGenerated is what was generated from a contract file.
func payGenerated(contract string) string {
	return string(directive.Seal([]byte(directive.Header("pay.idem.yaml") + `

//idem:source file=pay.idem.yaml sha256=` + directive.SourceDigest([]byte(contract)) + `
//idem:contract kind=pay version=1 digest=ab handler=(*Desk).Pay

package m

import idem "github.com/idemgen/idem/runtime"

const _ = idem.RuntimeFormat1ElseRunIdemgen
`)))
}

// contractModule is a module with a contract and all that belongs to it.
func contractModule(t *testing.T) string {
	t.Helper()
	stub, err := filepath.Abs("../testdata/stubs/idem")
	if err != nil {
		t.Fatal(err)
	}
	return write(t, map[string]string{
		"go.mod":        goMod + fmt.Sprintf("\nrequire github.com/idemgen/idem v0.1.0\n\nreplace github.com/idemgen/idem => %s\n", stub),
		"pay.go":        payCode,
		"pay.idem.yaml": payContract,
		"pay_idem.go":   payGenerated(payContract),
		"idem.lock":     payLock,
		".x.idem.yaml":  "an editor's\n",
	})
}

// TestContractFilesAreComparedWithoutAnyCache changes one file of a module after the
// other, and puts it back: nothing that the go command remembers hides a change, or
// tells of one that is gone.
func TestContractFilesAreComparedWithoutAnyCache(t *testing.T) {
	dir := contractModule(t)
	for _, test := range []struct{ why, file, text, want string }{
		{why: "as generated"},
		{"a newer contract", "pay.idem.yaml", payContract + "# more\n", "pay.idem.yaml:1:1: pay.idem.yaml has changed since pay_idem.go was generated from it (run idemgen)"},
		{"other line ends", "pay.idem.yaml", "contracts: {}\r\n", ""},
		{"no generated code", "pay_idem.go", "", "pay.idem.yaml:1:1: pay.idem.yaml has no generated code: pay_idem.go is missing (run idemgen)"},
		{"no contract", "pay.idem.yaml", "", "pay_idem.go:1:1: the contract file pay.idem.yaml is gone, from which pay_idem.go was generated (run idemgen, which deletes it, or restore the contract)"},
		{"no lock", "idem.lock", "", "pay_idem.go:4:1: there is no idem.lock, which keeps the identity of pay (restore it from version control, or run idemgen)"},
		{"a lock without the kind", "idem.lock", "format: 1\n", "pay_idem.go:4:1: idem.lock does not know version 1 of pay (run idemgen, and commit both)"},
		{"a lock of another identity", "idem.lock", "kinds: {pay: {versions: {1: {digest: cd}}}}", "pay_idem.go:4:1: idem.lock has another identity for version 1 of pay than its generated code (run idemgen, which says what has changed)"},
		{"a lock in the middle of a merge", "idem.lock", "kinds: [\n", "idem.lock:1:1: idem.lock cannot be read: yaml: line 1: did not find expected node content (restore it from version control)"},
		{"generated code that was changed", "pay_idem.go", payGenerated(payContract) + "\nfunc more() {}\n", "pay.go:7:16: pay_idem.go was changed after it was generated (change the contract instead, and run idemgen)"},
		{"a file of that name that somebody wrote", "pay_idem.go", "package m\n", ""},
	} {
		name := filepath.Join(dir, test.file)
		var before []byte
		var err error
		if test.file != "" {
			if before, err = os.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case test.file == "":
		case test.text == "":
			err = os.Remove(name)
		default:
			err = os.WriteFile(name, []byte(test.text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if test.want != "" {
			want = []string{test.want}
		}
		for _, o := range []Options{{}, {Args: []string{"-contractdrift"}}} {
			if diff := cmp.Diff(want, drifted(t, dir, o)); diff != "" {
				t.Errorf("%s, %v: (-want +got)\n%s", test.why, o.Args, diff)
			}
		}
		for _, o := range []Options{{Args: []string{"-contractdrift=false"}}, {Args: []string{"-randomkey"}}} {
			if got := drifted(t, dir, o); got != nil {
				t.Errorf("%s, %v: it was not asked for: %v", test.why, o.Args, got)
			}
		}
		if test.file != "" {
			if err := os.WriteFile(name, before, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func drifted(t *testing.T, dir string, o Options) []string {
	t.Helper()
	r := run(t, dir, o)
	if r.Errors != "" || len(r.Notes) > 0 {
		t.Errorf("it says %s %v", r.Errors, r.Notes)
	}
	var all []string
	for _, f := range r.Findings {
		all = append(all, fmt.Sprintf("%s:%d:%d: %s", filepath.ToSlash(Relative(dir, f.Pos.File)), f.Pos.Line, f.Pos.Column, f.Message))
	}
	return all
}

func TestAnEditedGeneratedTestIsReported(t *testing.T) {
	dir := contractModule(t)
	text := string(directive.Seal([]byte(directive.Header("pay.idem.yaml")+"\n\n//idem:source file=pay.idem.yaml sha256=00\n\npackage m\n"))) + "\nfunc more() {}\n"
	if err := os.WriteFile(filepath.Join(dir, "pay_idem_test.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	want := []string{"pay.go:7:16: pay_idem_test.go was changed after it was generated (change the contract instead, and run idemgen)"}
	if got := drifted(t, dir, Options{}); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
