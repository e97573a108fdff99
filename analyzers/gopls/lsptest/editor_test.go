package lsptest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAnEditorShowsFindingsAndFixes builds gopls, which takes minutes: it runs if
// IDEM_TEST_GOPLS is set, to 1 or to a gopls that has been built.
func TestAnEditorShowsFindingsAndFixes(t *testing.T) {
	tool := Gopls(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write("go.mod", "module example.com/m\n\ngo 1.26\n\nrequire github.com/idemgen/idem v0.0.0\n\nreplace github.com/idemgen/idem => ./idem\n")
	write("idem/go.mod", "module github.com/idemgen/idem\n\ngo 1.26\n")
	write("idem/runtime/r.go", "package runtime\n\ntype Call struct{}\n\nfunc (Call) Key() string { return \"\" }\n")
	write("own/own.go", "package own\n\nfunc Mint() string { return \"\" }\n")
	file := write("m.go", "package m\n\nimport (\n\t\"crypto/rand\"\n\t\"net/http\"\n\n\tidem \"github.com/idemgen/idem/runtime\"\n)\n\nfunc Pay(call idem.Call, r *http.Request) {\n\tr.Header.Set(\"Idempotency-Key\", rand.Text())\n}\n")
	other := write("n.go", "package m\n\nimport (\n\t\"net/http\"\n\n\t\"example.com/m/own\"\n)\n\nfunc F(r *http.Request) { r.Header.Set(\"Idempotency-Key\", own.Mint()) }\n")

	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	ours := func(d Diagnostic) bool { return d.Source == "randomkey" }
	c, err := Start(ctx, tool, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Open(file); err != nil {
		t.Fatal(err)
	}
	shown, err := c.Published(ctx, file, ours)
	if err != nil {
		t.Fatalf("%v; last: %v", err, shown)
	}
	d := shown[0]
	if want := "key is new on every attempt: rand.Text → Idempotency-Key (derive it from the work ID)"; len(shown) != 1 || d.Message != want {
		t.Errorf("got %+v", shown)
	}
	if line, column := c.Position(file, d.Range.Start); line != 11 || column != 34 {
		t.Errorf("at %d:%d", line, column)
	}
	actions, err := c.Actions(file, d)
	if err != nil {
		t.Fatal(err)
	}
	if len(actions) == 0 || !bytes.Contains(actions[0].Edit, []byte("call.Key()")) {
		t.Errorf("actions: %+v", actions)
	}
	if err := c.Change(file, strings.Replace(readFile(t, file), "rand.Text()", "call.Key()", 1)); err != nil {
		t.Fatal(err)
	}
	if left, err := c.Diagnostics(file); err != nil || len(left) != 1 || left[0].Source != "compiler" { // the import
		t.Errorf("%v, %v", left, err)
	}
	if err := c.Open(other); err != nil {
		t.Fatal(err)
	}
	if none, err := c.Diagnostics(other); err != nil || len(none) != 0 {
		t.Errorf("without a catalogue: %v, %v", none, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}

	// A user's catalogue counts from the next start on, whatever gopls has kept.
	for _, test := range []struct {
		catalogue string
		want      int
		says      string
	}{
		{"ecosystem: own\npackages:\n  - path: example.com/m/own\n    source:\n      - {name: Mint, volatile: random, reason: mints}\n", 1, ""},
		{"nosuch: 1\n", 0, "idemlint: "},
	} {
		write(".idemlint.yaml", test.catalogue)
		c, err := Start(ctx, tool, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Open(other); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Diagnostics(other); err != nil || len(got) != test.want {
			t.Errorf("%s: %v, %v", test.catalogue, got, err)
		}
		if err := c.Close(); err != nil || !strings.Contains(c.Stderr(), test.says) {
			t.Errorf("%v, says %s", err, c.Stderr())
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
