package mutate

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wanted is how many mistakes are made, and goal how many in a hundred are to be
// found.
const (
	wanted = 200
	goal   = 95
)

func handlers(t *testing.T) []*handler {
	t.Helper()
	files, err := filepath.Glob("testdata/src/handlers/*/*.go")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d handlers: %v", len(files), err)
	}
	var all []*handler
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		h, err := parse(filepath.Base(filepath.Dir(file)), string(src))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	}
	return all
}

func TestNothingIsReportedInHandlersThatAreRight(t *testing.T) {
	w, _ := open(t, "handlers/...")
	for _, h := range handlers(t) {
		found, err := w.check("handlers/"+h.name, strip(h.src))
		if err != nil {
			t.Errorf("%s: %v", h.name, err)
		}
		for _, f := range found {
			t.Errorf("%s:%d: %s: %s", h.name, f.line, f.rule, f.message)
		}
	}
}

// TestMistakesAreFound makes a fixed choice of the mistakes that the operators can
// make, as even over the operators as their number allows.
func TestMistakesAreFound(t *testing.T) {
	w, _ := open(t, "handlers/...")
	chosen := choose(handlers(t), wanted)
	if len(chosen) < wanted {
		t.Fatalf("only %d mistakes can be made", len(chosen))
	}
	made, found := map[string]int{}, map[string]int{}
	var missed []string
	for _, c := range chosen {
		ok, what := find(t, w, c.mutation)
		made[c.operator]++
		if ok {
			found[c.operator]++
		} else {
			missed = append(missed, c.h.name+": "+c.operator+": "+c.what+": "+what)
		}
	}
	total := 0
	for _, op := range operators() {
		total += found[op.name]
		t.Logf("%3d of %3d: %s", found[op.name], made[op.name], op.name)
	}
	t.Logf("%d of %d mistakes in %d handlers", total, len(chosen), len(handlers(t)))
	for _, m := range missed {
		t.Log("missed: ", m)
	}
	if total*100 < goal*len(chosen) {
		t.Errorf("%d of %d mistakes are found: less than %d in a hundred", total, len(chosen), goal)
	}
}

// choice is a mutation and the operator that made it.
type choice struct {
	mutation
	operator string
}

// choose takes n mutations, one of each operator after another, in an order that a
// fixed seed makes.
func choose(all []*handler, n int) []choice {
	r := rand.New(rand.NewPCG(1, 2))
	var byOperator [][]choice
	for _, op := range operators() {
		var made []choice
		for _, h := range all {
			for _, m := range op.make(h) {
				made = append(made, choice{m, op.name})
			}
		}
		r.Shuffle(len(made), func(i, j int) { made[i], made[j] = made[j], made[i] })
		byOperator = append(byOperator, made)
	}
	var chosen []choice
	for round := 0; len(chosen) < n; round++ {
		before := len(chosen)
		for _, made := range byOperator {
			if round < len(made) && len(chosen) < n {
				chosen = append(chosen, made[round])
			}
		}
		if len(chosen) == before {
			break
		}
	}
	return chosen
}

// find tells whether one of the rules reports a mistake in one of its lines, and
// what is reported otherwise.
func find(t *testing.T, w *workshop, m mutation) (bool, string) {
	t.Helper()
	src, lines, err := m.source()
	if err != nil {
		t.Fatalf("%s: %v", m.h.name, err)
	}
	if len(lines) == 0 {
		t.Fatalf("%s: %s: no place is marked", m.h.name, m.what)
	}
	found, err := w.check("handlers/"+m.h.name, src)
	if err != nil {
		t.Fatalf("%s: %s: %v\n%s", m.h.name, m.what, err, src)
	}
	var others []string
	for _, f := range found {
		if slices.Contains(m.rules, f.rule) && slices.Contains(lines, f.line) {
			return true, ""
		}
		others = append(others, f.rule+": "+f.message)
	}
	if os.Getenv("SHOW_MISSED") != "" {
		t.Logf("%v\n%s", lines, src)
	}
	return false, strings.Join(others, "; ")
}
