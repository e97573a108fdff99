package house

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idemgen/idem/generator"
)

// surroundings are the types that the README's handler uses and does not show.
const surroundings = `package orders

//go:generate go tool idemgen

import (
	"context"
	"errors"

	idem "github.com/idemgen/idem/runtime"
)

type OrderPaid struct {
	OrderID, Email string
	Cents          int64
}
type Payment struct {
	OrderID string
	Cents   int64
}
type Charged struct{ ID string }
type Receipt struct{ To, ChargeID string }
type Sent struct{}

type Orders struct {
	Provider interface {
		Charge(ctx context.Context, key string, in Payment) (Charged, error)
	}
	Mail interface {
		Send(ctx context.Context, in Receipt) (Sent, error)
	}
}
`

// fakeTest is what the README promises of tests: a fake, and no database.
const fakeTest = `package orders

import (
	"context"
	"testing"

	idem "github.com/idemgen/idem/runtime"
)

type fake struct{}

func (fake) Charge(context.Context, Payment) (Charged, error) { return Charged{ID: "ch_1"}, nil }
func (fake) SendReceipt(context.Context, Receipt) (Sent, error) {
	return Sent{}, &idem.Error{Reason: idem.ErrGivenUp}
}

func TestALostReceiptIsNoReasonToChargeAgain(t *testing.T) {
	charged, err := new(Orders).MarkPaid(context.Background(), fake{}, OrderPaid{OrderID: "1"})
	if err != nil || charged.ID != "ch_1" {
		t.Fatal(charged, err)
	}
}
`

// program calls the README's lines twice and prints what came of it.
const program = `package main

import (
	"context"
	"fmt"
	"log"

	"example.com/shop/orders"
	IMPORTS
)

type provider struct{ keys map[string]bool }

func (p provider) Charge(_ context.Context, key string, in orders.Payment) (orders.Charged, error) {
	p.keys[key] = true
	return orders.Charged{ID: fmt.Sprintf("ch_%d_%s", len(p.keys), in.OrderID)}, nil
}

type mail struct{ sent int }

func (m *mail) Send(context.Context, orders.Receipt) (orders.Sent, error) {
	m.sent++
	return orders.Sent{}, nil
}

func run(ctx context.Context) error {
	provider, mail := provider{map[string]bool{}}, &mail{}
	event := orders.OrderPaid{OrderID: "1001", Email: "ada@example.com", Cents: 1250}
	OPEN
	for range 2 {
		CALL
		fmt.Println(result.Value.ID, result.Replayed, idem.ShouldAck(err), err)
	}
	fmt.Println(len(provider.keys), mail.sent)
	return nil
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
`

func TestTheReadmeIsAProgramThatRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	readme := read(t, "README.md")
	dir := shop(t, readme)
	ctx := t.Context()
	mustGo(ctx, t, dir, "vet", "./orders") // compiles before anything is generated
	mustGo(ctx, t, dir, "test", "./orders")
	report, err := generator.Run(ctx, generator.Options{Dir: dir, Env: []string{"GOFLAGS=-mod=mod", "GOWORK=off"}})
	if err != nil || len(report.Diagnostics) > 0 {
		t.Fatal(err, report.Diagnostics.Text())
	}
	mustGo(ctx, t, dir, "vet", "./...")
	want := "ch_1_1001 false true <nil>\nch_1_1001 true true <nil>\n1 1\n"
	if got := mustGo(ctx, t, dir, "run", "."); got != want {
		t.Errorf("the program printed\n%swant\n%s", got, want)
	}
}

// shop writes a module out of the README.
func shop(t *testing.T, readme string) string {
	t.Helper()
	dir := t.TempDir()
	whole := blocks(section(t, readme, "## The handler, whole"), "go")
	usage := blocks(section(t, readme, "## Use it in a module of your own"), "go")
	yaml := blocks(readme, "yaml")
	if len(whole) != 1 || len(usage) != 1 || len(yaml) != 1 {
		t.Fatalf("%d handlers, %d usages, %d contracts", len(whole), len(usage), len(yaml))
	}
	imports, open := splitUsage(t, usage[0])
	main := strings.NewReplacer("IMPORTS", imports, "OPEN", open, "CALL", callLine(t, readme)).Replace(program)
	for path, text := range map[string]string{
		"orders/orders.idem.yaml": yaml[0], "orders/orders.go": surroundings + whole[0], "orders/orders_test.go": fakeTest,
		"main.go": main, "go.mod": shopMod(t), "go.sum": read(t, "go.sum"),
	} {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// splitUsage takes the README's lines apart and fills in what they leave out.
func splitUsage(t *testing.T, usage string) (imports, open string) {
	t.Helper()
	m := regexp.MustCompile(`(?s)^import \((.*?)\n\)\n(.*)$`).FindStringSubmatch(usage)
	if m == nil {
		t.Fatal("the usage does not begin with its imports")
	}
	open = strings.ReplaceAll(m[2], "{ … }", "{ return err }")
	open = strings.ReplaceAll(open, "orders.Orders{…}", "orders.Orders{Provider: provider, Mail: mail}")
	if strings.Contains(open, "…") {
		t.Fatalf("something else is left out:\n%s", open)
	}
	return m[1], open
}

// callLine is the one line that calls a contract. The signatures beside it must
// be those of the whole handler.
func callLine(t *testing.T, readme string) string {
	t.Helper()
	lines := strings.Split(blocks(readme, "go")[0], "\n")
	whole := blocks(section(t, readme, "## The handler, whole"), "go")[0]
	call := ""
	for _, line := range lines {
		line, _, _ = strings.Cut(line, " //")
		switch {
		case strings.HasPrefix(line, "func ") && !strings.Contains(whole, line+" {"):
			t.Errorf("the whole handler has no %s", line)
		case strings.HasPrefix(line, "result, err := "):
			call = line
		}
	}
	if call == "" {
		t.Fatal("no line calls the contract")
	}
	return call
}

// shopMod is this module's own go.mod under another name, with which the go
// command has nothing to look up.
func shopMod(t *testing.T) string {
	t.Helper()
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	mod := strings.Replace(read(t, "go.mod"), "module "+module, "module example.com/shop", 1)
	return mod + fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %[1]s => %q\n", module, filepath.ToSlash(absolute))
}

func mustGo(ctx context.Context, t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}
