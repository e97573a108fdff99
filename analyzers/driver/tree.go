package driver

import (
	"encoding/json"
	"go/token"
	"io"

	"golang.org/x/tools/go/analysis"
)

// The JSON that go vet expects of a tool, and passes on: by package, then by
// analyzer.
type tree map[string]map[string][]jsonDiagnostic

type jsonDiagnostic struct {
	Category string        `json:"category,omitempty"`
	Posn     string        `json:"posn"`
	End      string        `json:"end,omitempty"`
	Message  string        `json:"message"`
	URL      string        `json:"url,omitempty"`
	Fixes    []jsonFix     `json:"suggested_fixes,omitempty"`
	Related  []jsonRelated `json:"related,omitempty"`
}

type jsonRelated struct {
	Posn    string `json:"posn"`
	End     string `json:"end,omitempty"`
	Message string `json:"message"`
}

type jsonFix struct {
	Message string     `json:"message"`
	Edits   []jsonEdit `json:"edits"`
}

type jsonEdit struct {
	Filename string `json:"filename"`
	Start    int    `json:"start"`
	End      int    `json:"end"`
	New      string `json:"new"`
}

func encodeTree(w io.Writer, fset *token.FileSet, id string, findings []finding) error {
	t := tree{}
	if len(findings) > 0 {
		t[id] = map[string][]jsonDiagnostic{}
	}
	for _, f := range findings {
		t[id][f.rule] = append(t[id][f.rule], diagnostic(fset, f.Diagnostic))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	return enc.Encode(t)
}

func diagnostic(fset *token.FileSet, d analysis.Diagnostic) jsonDiagnostic {
	posn := func(p token.Pos) string {
		if !p.IsValid() {
			return ""
		}
		return fset.Position(p).String()
	}
	j := jsonDiagnostic{Category: d.Category, Posn: posn(d.Pos), End: posn(d.End), Message: d.Message, URL: d.URL}
	for _, r := range d.Related {
		j.Related = append(j.Related, jsonRelated{posn(r.Pos), posn(r.End), r.Message})
	}
	for _, f := range d.SuggestedFixes {
		if fix, ok := encodeFix(fset, f); ok {
			j.Fixes = append(j.Fixes, fix)
		}
	}
	return j
}

// encodeFix leaves out a fix of a file that was made from another: cgo's, or one
// with line directives. Its offsets say nothing of the file that people have.
func encodeFix(fset *token.FileSet, f analysis.SuggestedFix) (jsonFix, bool) {
	fix := jsonFix{Message: f.Message}
	for _, e := range f.TextEdits {
		file := fset.File(e.Pos)
		if file == nil || fset.Position(e.Pos) != fset.PositionFor(e.Pos, false) {
			return fix, false
		}
		end := e.End
		if !end.IsValid() {
			end = e.Pos // an insertion
		}
		fix.Edits = append(fix.Edits, jsonEdit{file.Name(), file.Offset(e.Pos), file.Offset(end), string(e.NewText)})
	}
	return fix, len(fix.Edits) > 0
}

func (j jsonFix) fix() Fix {
	f := Fix{Message: j.Message}
	for _, e := range j.Edits {
		f.Edits = append(f.Edits, Edit{e.Filename, e.Start, e.End, e.New})
	}
	return f
}
