package demo

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkout is the root of this repository.
const checkout = "../../../.."

// fewOrders are enough for the kill to fall among several of them.
const fewOrders = 40

func TestTheDemoTellsWhatWasCountedAndLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	stranger := strangersModule(t)
	before := snapshot(t, stranger)

	var out bytes.Buffer
	if err := Run(t.Context(), Options{Orders: fewOrders, Dir: stranger, Out: &out}); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	story := out.String()
	t.Log(story)

	if left := snapshot(t, temp); len(left) > 0 {
		t.Errorf("left in the temporary folder: %v", slices.Sorted(maps.Keys(left)))
	}
	if after := snapshot(t, stranger); fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("the module that the demo was run in changed:\n%v\n%v", before, after)
	}
	for line := range strings.Lines(story) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width && !strings.Contains(line, temp) {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	checkStory(t, story)
}

// checkStory holds the printed numbers against what each handler must come to.
func checkStory(t *testing.T, story string) {
	t.Helper()
	tables := strings.Split(story, "counted at the provider")[1:]
	if len(tables) != 2 {
		t.Fatalf("%d tables, want 2", len(tables))
	}
	for i, table := range tables {
		naive, generated := 0, 1
		charges := numbers(t, table, fmt.Sprintf("charges for %d orders", fewOrders))
		twice := numbers(t, table, "orders charged twice or more")
		mailed := numbers(t, table, "customers mailed twice or more")
		lost := numbers(t, table, "orders lost")
		unknown := numbers(t, table, "orders of which nobody knows")
		// Each webhook is delivered twice, and the ones that the kill cut off again.
		if charges[naive] <= copies*fewOrders {
			t.Errorf("the naive handler charged %d times for %d webhooks and a kill", charges[naive], copies*fewOrders)
		}
		if twice[naive] != fewOrders {
			t.Errorf("the naive handler charged %d orders twice, want all %d", twice[naive], fewOrders)
		}
		if twice[generated]+mailed[generated]+lost[generated] != 0 {
			t.Errorf("the generated handler charged %d twice, mailed %d twice, lost %d", twice[generated], mailed[generated], lost[generated])
		}
		if unknown[naive] != 0 {
			t.Errorf("the naive handler reports %d orders", unknown[naive])
		}
		switch honoursKeys := i == 0; {
		case honoursKeys && (charges[generated] != fewOrders || unknown[generated] != 0):
			t.Errorf("with keys: %d charges, %d unknown", charges[generated], unknown[generated])
		case !honoursKeys && (unknown[generated] < 1 || unknown[generated] > fewOrders/2):
			// One at least: the process is killed before it can be told of a charge.
			t.Errorf("without keys: %d unknown, want a handful", unknown[generated])
		case !honoursKeys && (charges[generated] > fewOrders || charges[generated] < fewOrders-unknown[generated]):
			t.Errorf("without keys: %d charges and %d unknown", charges[generated], unknown[generated])
		}
	}
	if n := strings.Count(story, "killed "); n != 4 {
		t.Errorf("%d kills, want 4", n)
	}
	if listed := regexp.MustCompile(`order-\d{4}  work [0-9a-f]{12}  (not )?in the books`).FindString(story); listed == "" {
		t.Error("no unknown order is listed")
	}
}

// numbers are the two of a table's row.
func numbers(t *testing.T, table, label string) [2]int {
	t.Helper()
	for line := range strings.Lines(table) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), label); ok {
			fields := strings.Fields(rest)
			var n [2]int
			for i, field := range fields[len(fields)-2:] {
				var err error
				if n[i], err = strconv.Atoi(field); err != nil {
					t.Fatalf("%s: %v", label, err)
				}
			}
			return n
		}
	}
	t.Fatalf("no row %q in %s", label, table)
	return [2]int{}
}

func TestAHandlerThatChargesTwiceFailsTheDemo(t *testing.T) {
	m, p := prepared(t)
	orders := makeOrders(fewOrders)
	// The naive handler in the generated one's place.
	for _, honoursKeys := range []bool{true, false} {
		sabotaged := scene{"A provider", honoursKeys, "naive", "none"}
		err := sabotaged.play(t.Context(), p, m, orders)
		if !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), "charged") {
			t.Errorf("keys %t: got %v, want an order that was charged twice", honoursKeys, err)
		}
	}
}

func TestAKeptProgramIsGoodExampleCode(t *testing.T) {
	m, _ := prepared(t)
	out, err := exec.Command("gofmt", "-l", m.dir).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("gofmt -l: %v\n%s", err, out)
	}
	if _, err := goCommand(t.Context(), m.dir, m.env(), "vet", "-mod=mod", "./..."); err != nil {
		t.Error(err)
	}
	contract, err := os.ReadFile(filepath.Join(m.dir, "billing", "billing.idem.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("lease: %s\n", leaseOfContract); strings.Count(string(contract), want) != 2 {
		t.Errorf("the contracts and what is printed differ: want %q twice in\n%s", want, contract)
	}
}

func TestTheProgramBuildsWithoutNetwork(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	t.Setenv("GONOSUMDB", "*")
	if m, _ := prepared(t); m.binary == "" {
		t.Error("no program")
	}
}

func TestWithoutTheModuleTheDemoSaysWhatToDo(t *testing.T) {
	empty := t.TempDir()
	other := t.TempDir()
	write(t, filepath.Join(other, "go.mod"), "module example.com/other\n\ngo 1.26.0\n")
	for name, dir := range map[string]string{"outside of any module": empty, "in a module that does not use idem": other} {
		t.Run(name, func(t *testing.T) {
			err := Run(t.Context(), Options{Orders: fewOrders, Dir: dir, Out: new(bytes.Buffer)})
			if err == nil || !strings.Contains(err.Error(), "go get -tool github.com/idemgen/idem/cmd/idemgen") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWithoutTheGoCommandTheDemoSaysWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := Run(t.Context(), Options{Orders: fewOrders, Dir: checkout, Out: new(bytes.Buffer)})
	if err == nil || !strings.Contains(err.Error(), "install Go") {
		t.Errorf("got %v", err)
	}
}

func TestTooFewOrTooManyOrdersAreRefused(t *testing.T) {
	for _, n := range []int{-1, 0, MinOrders - 1, MaxOrders + 1} {
		if err := Run(t.Context(), Options{Orders: n, Dir: checkout, Out: new(bytes.Buffer)}); err == nil {
			t.Errorf("%d orders were accepted", n)
		}
	}
}

// prepared is the program, built in a folder of the test.
func prepared(t *testing.T) (*module, *printer) {
	t.Helper()
	source, err := findIdem(t.Context(), checkout)
	if err != nil {
		t.Fatal(err)
	}
	p := &printer{out: testWriter{t}}
	m, err := prepare(t.Context(), p, t.TempDir(), source)
	if err != nil {
		t.Fatal(err)
	}
	return m, p
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Logf("%s", bytes.TrimRight(b, "\n"))
	return len(b), nil
}

// strangersModule uses idem as somebody's module outside of the checkout does.
func strangersModule(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(checkout)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), fmt.Sprintf("module example.com/stranger\n\ngo 1.26.0\n\ntool %s/cmd/idemgen\n\nrequire %[1]s v0.0.0\n\nreplace %[1]s => %s\n", idemPath, root))
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// snapshot is what is in a folder.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		files[path] = "a folder"
		if !d.IsDir() {
			text, err := os.ReadFile(path)
			files[path] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
