package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/idemgen/idem/generator"
)

// fatal reports what is no contract's fault.
func (p *program) fatal(o *options, err error) int {
	switch o.format.value {
	case "json":
		p.encode(jsonReport{Error: err.Error(), Diagnostics: []jsonDiagnostic{}, Files: []jsonFile{}})
	case "github":
		fmt.Fprintf(p.stdout, "::error title=idemgen::%s\n", githubData(err.Error()))
	default:
		fmt.Fprintf(p.stderr, "idemgen: %v\n", err)
	}
	return exitErrors
}

func (p *program) print(o *options, r generator.Report, check bool) {
	switch o.format.value {
	case "json":
		p.printJSON(r)
	case "github":
		p.printGitHub(r)
	default:
		p.printText(o, r, check)
	}
	if o.verbose {
		s := r.Stats
		remembered := ""
		if r.Remembered {
			remembered = "; nothing has changed since they were last up to date"
		}
		fmt.Fprintf(p.stderr, "%d contracts in %v, of which %v in %d calls of go list for %d packages%s\n",
			r.Contracts, s.Total.Round(time.Millisecond), s.GoList.Round(time.Millisecond), s.GoListCalls, s.Imports, remembered)
	}
}

func (p *program) printText(o *options, r generator.Report, check bool) {
	for _, d := range r.Diagnostics {
		fmt.Fprint(p.stderr, colored(d.Text(), p.colors(o)))
	}
	if r.Contracts == 0 && len(r.Diagnostics) == 0 && len(r.Files) == 0 {
		fmt.Fprintln(p.stderr, "idemgen: the packages have no contracts (files NAME.idem.yaml)")
	}
	for _, f := range r.Files {
		if f.Change == generator.Unchanged && !o.verbose {
			continue
		}
		fmt.Fprintf(p.stdout, "%s %s\n", f.Change, f.Path)
		if f.Change != generator.Missing || o.verbose {
			fmt.Fprint(p.stdout, f.Diff)
		}
	}
	if check && r.Stale() {
		fmt.Fprintln(p.stderr, "idemgen: run go generate or idemgen, and commit what it writes")
	}
}

func (p *program) colors(o *options) bool {
	switch o.color.value {
	case "always":
		return true
	case "never":
		return false
	}
	return p.tty && p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb"
}

// colored makes a message's first line bold and its carets red.
func colored(text string, on bool) string {
	if !on {
		return text
	}
	const bold, red, reset = "\x1b[1m", "\x1b[31m", "\x1b[0m"
	first, rest, _ := strings.Cut(text, "\n")
	var b strings.Builder
	b.WriteString(bold + first + reset + "\n")
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(line, "\n")
		if bar, carets, ok := strings.Cut(line, "| "); ok && strings.Trim(bar, " ") == "" && strings.Trim(carets, " ^") == "" {
			line = bar + "| " + red + carets + reset
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// jsonReport is the output of -format json: one object.
type jsonReport struct {
	Error       string           `json:"error,omitempty"` // of the run as a whole
	Diagnostics []jsonDiagnostic `json:"diagnostics"`
	Files       []jsonFile       `json:"files"`
}

type jsonDiagnostic struct {
	Severity string        `json:"severity"`
	File     string        `json:"file"`
	Line     int           `json:"line,omitempty"`
	Column   int           `json:"column,omitempty"` // in bytes, from 1
	Width    int           `json:"width,omitempty"`
	Path     string        `json:"path,omitempty"`
	Message  string        `json:"message"`
	Related  []jsonRelated `json:"related,omitempty"`
}

type jsonRelated struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

type jsonFile struct {
	Path   string           `json:"path"`
	Change generator.Change `json:"change"`
	Diff   string           `json:"diff,omitempty"`
}

func (p *program) printJSON(r generator.Report) {
	out := jsonReport{Diagnostics: []jsonDiagnostic{}, Files: []jsonFile{}}
	for _, d := range r.Diagnostics {
		jd := jsonDiagnostic{d.Severity.String(), d.File, d.Pos.Line, d.Pos.Column, d.Pos.Width, d.Path, d.Msg, nil}
		for _, rel := range d.Related {
			jd.Related = append(jd.Related, jsonRelated{rel.File, rel.Line, rel.Column, rel.Msg})
		}
		out.Diagnostics = append(out.Diagnostics, jd)
	}
	for _, f := range r.Files {
		out.Files = append(out.Files, jsonFile{f.Path, f.Change, f.Diff})
	}
	p.encode(out)
}

func (p *program) encode(r jsonReport) {
	enc := json.NewEncoder(p.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		fmt.Fprintf(p.stderr, "idemgen: write the report: %v\n", err)
	}
}

// printGitHub writes workflow commands, which a run shows beside the lines that
// they are about.
func (p *program) printGitHub(r generator.Report) {
	for _, d := range r.Diagnostics {
		msg := d.Msg
		if d.Path != "" {
			msg = d.Path + ": " + msg
		}
		for _, rel := range d.Related {
			msg += fmt.Sprintf("\n%s:%d:%d: %s", rel.File, rel.Line, rel.Column, rel.Msg)
		}
		place := "file=" + githubProperty(d.File)
		if d.Pos.IsValid() {
			place += fmt.Sprintf(",line=%d,col=%d,endColumn=%d", d.Pos.Line, d.Pos.Column, d.Pos.Column+d.Pos.Width)
		}
		// "error" and "warning" are also how the commands are called.
		fmt.Fprintf(p.stdout, "::%s %s,title=idemgen::%s\n", d.Severity, place, githubData(msg))
	}
	for _, f := range r.Files {
		switch f.Change {
		case generator.Unchanged:
		case generator.Written, generator.Deleted:
			fmt.Fprintf(p.stdout, "%s %s\n", f.Change, f.Path)
		default:
			fmt.Fprintf(p.stdout, "::error file=%s,title=idemgen::%s: run idemgen and commit what it writes\n", githubProperty(f.Path), f.Change)
		}
	}
}

func githubData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func githubProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
