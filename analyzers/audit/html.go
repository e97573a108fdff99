package audit

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed page.html
var page string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"inc":          func(i int) int { return i + 1 },
	"open":         openText,
	"contractName": contractName,
	"unknown":      unknownText,
	"registered":   registered,
	"holds":        func(g Guard) bool { return g.holds() },
	"questions":    func() [6]string { return Questions },
	"caveat":       func() string { return Caveat },
	"groups":       groups,
	"count":        count,
}).Parse(page))

// HTML writes the report as one page that needs nothing else.
func HTML(w io.Writer, r *Report) error { return pageTemplate.Execute(w, r) }

// group is the entries of a cost.
type group struct {
	Cost    Cost
	Entries []numbered
}

type numbered struct {
	N int
	Entry
}

// groups are the entries by cost, numbered as in the other formats.
func groups(all []Entry) []group {
	var out []group
	for i, e := range all {
		if len(out) == 0 || out[len(out)-1].Cost != e.Cost {
			out = append(out, group{Cost: e.Cost})
		}
		g := &out[len(out)-1]
		g.Entries = append(g.Entries, numbered{i + 1, e})
	}
	return out
}
