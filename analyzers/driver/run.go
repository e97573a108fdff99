package driver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idem/analyzers"
)

// Options say what to look at.
type Options struct {
	Tool     string   // the program to start for each package: this one
	Dir      string   // empty: the current one
	Args     []string // for the tool: flags of rules
	Build    []string // for the go command: -tags and the like
	Packages []string
	Survey   bool // ask for the surveys as well
}

// Report is what came back.
type Report struct {
	Findings []Finding
	Notes    []Finding // what could not be looked at
	Errors   string    // what the go command says of packages that do not build
	Surveys  []string  // of the packages, in no order
}

// Finding is one finding of a rule.
type Finding struct {
	Rule    string
	Pos     Position
	End     Position
	Message string
	URL     string
	Related []Related
	Fixes   []Fix
}

// Fix is one way to put right what a finding is about.
type Fix struct {
	Message string
	Edits   []Edit
}

// Edit puts a text in place of the bytes from Start up to End of a file.
type Edit struct {
	File       string
	Start, End int
	New        string
}

// Related is another place that belongs to a finding.
type Related struct {
	Pos     Position
	Message string
}

// Position is a place in a file. File is as absolute as the go command gives it.
type Position struct {
	File         string
	Line, Column int
}

func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Run has the go command run the tool over packages, and collects what it finds,
// sorted, each finding once.
func Run(ctx context.Context, o Options) (Report, error) {
	digest, err := o.catalogues(ctx)
	if err != nil {
		return Report{}, err
	}
	drift, err := o.drift(ctx)
	if err != nil {
		return Report{}, err
	}
	if digest != "" {
		o.Args = append(slices.Clip(o.Args), "-"+catalogueFlag+"="+digest)
	}
	if o.Survey {
		o.Args = append(slices.Clip(o.Args), "-"+surveyFlag)
	}
	stdout, failure, err := o.vet(ctx, o.Packages)
	if err != nil {
		return Report{}, err
	}
	if failure != "" && len(bytes.TrimSpace(stdout)) == 0 {
		// One package that cannot be loaded keeps go vet from starting at all.
		rest, err := o.loadable(ctx)
		if err != nil {
			return Report{}, err
		}
		if len(rest) > 0 {
			var again string
			if stdout, again, err = o.vet(ctx, rest); err != nil {
				return Report{}, err
			}
			if again != "" && !strings.Contains(failure, again) {
				failure += "\n" + again
			}
		}
	}
	r := Report{Findings: drift, Errors: failure}
	if err := r.read(bytes.NewReader(stdout)); err != nil {
		return r, fmt.Errorf("reading what go vet prints: %w", err)
	}
	r.sort()
	return r, nil
}

// vet runs go vet; failure is what it says if it fails.
func (o Options) vet(ctx context.Context, packages []string) (stdout []byte, failure string, err error) {
	args := append([]string{"vet", "-vettool=" + o.Tool, "-json"}, o.Args...)
	args = append(args, o.Build...)
	return o.command(ctx, append(args, packages...)...)
}

// loadable are those of the packages that can be loaded with all they import.
func (o Options) loadable(ctx context.Context) ([]string, error) {
	args := append([]string{"list", "-e", "-f", "{{if not (or .Error .DepsErrors .Incomplete)}}{{.ImportPath}}{{end}}"}, o.Build...)
	stdout, _, err := o.command(ctx, append(args, o.Packages...)...)
	return strings.Fields(string(stdout)), err
}

func (o Options) command(ctx context.Context, args ...string) (stdout []byte, failure string, err error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = o.Dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, "", fmt.Errorf("go %s: %w", args[0], err)
	}
	if err != nil {
		failure = strings.TrimSpace(errs.String())
		if failure == "" {
			failure = "go " + args[0] + ": " + err.Error()
		}
	}
	return out.Bytes(), failure, nil
}

// read reads the JSON objects of all packages, one after the other.
func (r *Report) read(src io.Reader) error {
	dec := json.NewDecoder(src)
	for {
		var t tree
		if err := dec.Decode(&t); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		for _, rules := range t {
			for rule, diagnostics := range rules {
				for _, d := range diagnostics {
					f := Finding{Rule: rule, Pos: parsePosition(d.Posn), End: parsePosition(d.End), Message: d.Message, URL: d.URL}
					for _, rel := range d.Related {
						f.Related = append(f.Related, Related{parsePosition(rel.Posn), rel.Message})
					}
					for _, fix := range d.Fixes {
						f.Fixes = append(f.Fixes, fix.fix())
					}
					switch d.Category {
					case analyzers.NoteCategory:
						r.Notes = append(r.Notes, f)
					case analyzers.SurveyCategory:
						r.Surveys = append(r.Surveys, d.Message)
					default:
						r.Findings = append(r.Findings, f)
					}
				}
			}
		}
	}
}

func (r *Report) sort() {
	for _, list := range []*[]Finding{&r.Findings, &r.Notes} {
		slices.SortFunc(*list, compareFindings)
		*list = slices.CompactFunc(*list, func(a, b Finding) bool { return compareFindings(a, b) == 0 })
	}
}

func compareFindings(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), a.Pos.Line-b.Pos.Line, a.Pos.Column-b.Pos.Column,
		cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
}

// parsePosition reads file:line:column from its end, since a file's name may hold
// a colon.
func parsePosition(s string) Position {
	p := Position{File: s}
	var numbers []int
	for range 2 {
		i := strings.LastIndexByte(p.File, ':')
		if i < 0 {
			break
		}
		n, err := strconv.Atoi(p.File[i+1:])
		if err != nil {
			break
		}
		numbers = append(numbers, n)
		p.File = p.File[:i]
	}
	switch len(numbers) {
	case 1:
		p.Line = numbers[0]
	case 2:
		p.Line, p.Column = numbers[1], numbers[0]
	}
	return p
}

// Relative gives the name of a file as seen from a folder, if it is below it.
func Relative(dir, file string) string {
	if rel, err := filepath.Rel(dir, file); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return file
}
