package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGoVetFindsWhatGoesAroundAnExamplesContract breaks an example where nobody but
// the go command sees it.
func TestGoVetFindsWhatGoesAroundAnExamplesContract(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at all that the example imports")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	orders := filepath.Join(root, "examples", "invoicing", "orders.go")
	src, err := os.ReadFile(orders)
	if err != nil {
		t.Fatal(err)
	}
	const call = `_, err := http.Post("https://shop.example/labels", "text/plain", nil)`
	broken := strings.NewReplacer(
		"\t\"fmt\"\n", "\t\"fmt\"\n\t\"net/http\"\n",
		"\tinvoice, err := draftAndCharge(ctx, effects, in.OrderID,", "\tif "+call+"; err != nil {\n\t\treturn Invoice{}, err\n\t}\n\tinvoice, err := draftAndCharge(ctx, effects, in.OrderID,",
	).Replace(string(src))
	if strings.Count(broken, "net/http") != 1 || strings.Count(broken, call) != 1 {
		t.Fatal("the example is not as this test expects it")
	}
	const message = "this effect goes around the ledger, in work of the kind order_paid: Orders.MarkPaid → http.Post (make it an effect of OrderPaidEffects, or say //idem:pure above what may happen twice)"
	for name, test := range map[string]struct{ text, want string }{
		"as it is": {string(src), ""},
		"broken":   {broken, message},
	} {
		out, failed := vetOverlay(t, root, orders, test.text, "./examples/invoicing")
		if failed != (test.want != "") || !strings.Contains(out, test.want) {
			t.Errorf("%s: failed %v\n%s", name, failed, out)
		}
	}
}

// vetOverlay runs go vet with this tool and the rule unrouted, and another text in
// place of a file's.
func vetOverlay(t *testing.T, dir, file, text, pattern string) (out string, failed bool) {
	t.Helper()
	tool, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), filepath.Base(file))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{file: other}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{other: []byte(text), other + ".json": overlay} {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "vet", "-vettool="+tool, "-unrouted", "-overlay="+other+".json", pattern)
	cmd.Dir = dir
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err = cmd.Run()
	return b.String(), err != nil
}
