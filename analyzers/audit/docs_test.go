package audit_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idem/analyzers/audit"
)

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestThePageShowsWhatIsWritten: its sample is of the scenario that is audited.
func TestThePageShowsWhatIsWritten(t *testing.T) {
	report, err := os.ReadFile("testdata/shop.txt")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```\n(.*?)```").FindAllStringSubmatch(page(t), -1)
	shown := 0
	for _, b := range blocks {
		if strings.HasPrefix(b[1], "idemlint ") {
			continue
		}
		shown++
		if !strings.Contains(string(report), b[1]) {
			t.Errorf("no report of the scenario holds\n%s", b[1])
		}
	}
	if shown == 0 {
		t.Error("the page shows no report")
	}
}

// TestThePageNamesAllFieldsOfTheJSON holds the table against the types, both ways.
func TestThePageNamesAllFieldsOfTheJSON(t *testing.T) {
	_, section, ok := strings.Cut(page(t), "## As JSON")
	if !ok {
		t.Fatal("no section about JSON")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var named []string
	for _, m := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(section, -1) {
		named = append(named, m[1])
	}
	fields := map[string]bool{}
	collect(reflect.TypeFor[audit.Report](), fields)
	for f := range fields {
		if !slices.Contains(named, f) {
			t.Errorf("the page does not name %s", f)
		}
	}
	for _, n := range named {
		if !fields[n] {
			t.Errorf("the page names %s, which no report has", n)
		}
	}
}

func collect(t reflect.Type, fields map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		collect(t.Elem(), fields)
	case reflect.Struct:
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if name != "" {
				fields[name] = true
				collect(t.Field(i).Type, fields)
			}
		}
	}
}

func TestThePageNamesAllGuardsAndCosts(t *testing.T) {
	text := page(t)
	for _, g := range []string{audit.GuardLedger, audit.GuardNative, audit.GuardNatural, audit.GuardClaim, audit.GuardSearch, audit.GuardMemory, audit.GuardBroken, audit.GuardNone} {
		if !strings.Contains(text, "| `"+g+"` |") {
			t.Errorf("the page does not name the guard %s", g)
		}
	}
	for _, c := range audit.Costs() {
		if !strings.Contains(text, "`"+string(c)+"`") || c != audit.None && !strings.Contains(text, "| "+c.Text()+" |") {
			t.Errorf("the page does not name the cost %s", c)
		}
	}
}
