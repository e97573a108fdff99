package analyzers

import (
	"io/fs"
	"os/exec"
	"path"
	"strings"
	"testing"

	"github.com/idemgen/idem/internal/directive"
)

// TestTheSourceIsAllThatTheRulesAreMadeOf holds that a program can be built from
// what is embedded: a rule that is added to the list of rules and not to
// source.go is missing there.
func TestTheSourceIsAllThatTheRulesAreMadeOf(t *testing.T) {
	const module = "github.com/idemgen/idem/"
	out, err := exec.Command("go", "list", "-deps", "-f", `{{$p := .}}{{range .GoFiles}}{{$p.ImportPath}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$p.ImportPath}}/{{.}}
{{end}}`, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for name := range strings.FieldsSeq(string(out)) {
		own, ok := strings.CutPrefix(name, module)
		if !ok || strings.HasSuffix(own, "_test.go") { // what is embedded is embedded again
			continue
		}
		seen++
		var embedded fs.FS
		inside, ok := strings.CutPrefix(own, "analyzers/")
		if embedded = Files; !ok {
			inside, ok = strings.CutPrefix(own, "internal/directive/")
			embedded = directive.Files
		}
		if !ok {
			t.Errorf("the rules import %s, which no embedded source holds: extend package gopls", path.Dir(own))
			continue
		}
		if _, err := fs.Stat(embedded, inside); err != nil {
			t.Errorf("%s is not embedded: name its folder in source.go", own)
		}
	}
	if seen < 50 {
		t.Errorf("only %d files", seen)
	}
}
