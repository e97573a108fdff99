package analyzers

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// TestTheDocumentationCountsTheCatalogue holds all below "## Packages".
func TestTheDocumentationCountsTheCatalogue(t *testing.T) {
	const name, heading = "../docs/catalogue.md", "\n## Packages\n"
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	above, got, found := strings.Cut(string(src), heading)
	if !found {
		t.Fatalf("%s has no heading %q", name, heading)
	}
	want := packageTable(t)
	if *update {
		if err := os.WriteFile(name, []byte(above+heading+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run go test ./analyzers -run Documentation -update: (-want +got)\n%s", diff)
	}
}

func packageTable(t *testing.T) string {
	t.Helper()
	entries, err := catalogue.Builtin().All()
	if err != nil {
		t.Fatal(err)
	}
	counted := []catalogue.Kind{catalogue.Effect, catalogue.Key, catalogue.Source, catalogue.Model, catalogue.Retry, catalogue.Memory, catalogue.EntryKind}
	counts := map[string]map[catalogue.Kind]int{}
	for _, e := range entries {
		if !slices.Contains(counted, e.Kind) {
			continue // flows and sanitizers are means, not findings
		}
		if counts[e.Package] == nil {
			counts[e.Package] = map[catalogue.Kind]int{}
		}
		counts[e.Package][e.Kind]++
	}
	var table strings.Builder
	table.WriteString("\n| package |")
	for _, kind := range counted {
		fmt.Fprintf(&table, " %s |", kind)
	}
	table.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(counted)) + "\n")
	for _, path := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&table, "| `%s` |", path)
		for _, kind := range counted {
			if n := counts[path][kind]; n > 0 {
				fmt.Fprintf(&table, " %d", n)
			}
			table.WriteString(" |")
		}
		table.WriteString("\n")
	}
	return table.String()
}
