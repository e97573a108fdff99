package report

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/idemgen/idem/analyzers/driver"
)

// Text writes a line for each finding, files named from dir.
func Text(w io.Writer, dir string, r driver.Report) {
	for _, list := range [][]driver.Finding{r.Findings, r.Notes} {
		for _, f := range list {
			f.Pos.File = driver.Relative(dir, f.Pos.File)
			fmt.Fprintf(w, "%v: %s (%s)\n", f.Pos, f.Message, f.Rule)
		}
	}
}

// GitHub writes workflow commands, which a run shows beside the code.
func GitHub(w io.Writer, root string, r driver.Report) {
	line := func(kind string, f driver.Finding) {
		file := filepath.ToSlash(driver.Relative(root, f.Pos.File))
		fmt.Fprintf(w, "::%s file=%s,line=%d,col=%d", kind, property(file), f.Pos.Line, f.Pos.Column)
		if f.End.Line > 0 {
			fmt.Fprintf(w, ",endLine=%d,endColumn=%d", f.End.Line, f.End.Column)
		}
		fmt.Fprintf(w, ",title=%s::%s\n", property("idemlint "+f.Rule), data(f.Message))
	}
	for _, f := range r.Findings {
		line("warning", f)
	}
	for _, f := range r.Notes {
		line("notice", f)
	}
}

func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}

type jsonReport struct {
	Findings []jsonFinding `json:"findings"`
	Notes    []jsonFinding `json:"notes,omitempty"`
	Errors   string        `json:"errors,omitempty"`
}

type jsonFinding struct {
	Rule    string        `json:"rule"`
	Pos     jsonPosition  `json:"pos"`
	End     *jsonPosition `json:"end,omitempty"`
	Message string        `json:"message"`
	URL     string        `json:"url,omitempty"`
	Related []jsonRelated `json:"related,omitempty"`
}

type jsonRelated struct {
	Pos     jsonPosition `json:"pos"`
	Message string       `json:"message"`
}

type jsonPosition struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// JSON writes one object; files are named from dir.
func JSON(w io.Writer, dir string, r driver.Report) error {
	position := func(p driver.Position) jsonPosition {
		return jsonPosition{filepath.ToSlash(driver.Relative(dir, p.File)), p.Line, p.Column}
	}
	convert := func(list []driver.Finding) []jsonFinding {
		all := []jsonFinding{}
		for _, f := range list {
			j := jsonFinding{Rule: f.Rule, Pos: position(f.Pos), Message: f.Message, URL: f.URL}
			if f.End.Line > 0 {
				end := position(f.End)
				j.End = &end
			}
			for _, rel := range f.Related {
				j.Related = append(j.Related, jsonRelated{position(rel.Pos), rel.Message})
			}
			all = append(all, j)
		}
		return all
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(jsonReport{convert(r.Findings), convert(r.Notes), r.Errors})
}
