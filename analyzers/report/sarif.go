package report

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/idemgen/idem/analyzers"
	"github.com/idemgen/idem/analyzers/driver"
)

const sarifBase = "SRCROOT"

// sarifWriter turns findings into SARIF; files are named from root.
type sarifWriter struct {
	root    string
	sources Sources
}

// WriteSARIF writes a report to a file as SARIF 2.1.0; files are named from root.
func WriteSARIF(name, root string, s Sources, r driver.Report) error {
	log := sarif.NewReport()
	log.AddRun(sarifWriter{root, s}.run(r))
	var out bytes.Buffer
	if err := log.PrettyWrite(&out); err != nil {
		return err
	}
	return os.WriteFile(name, out.Bytes(), 0o644)
}

func (w sarifWriter) run(r driver.Report) *sarif.Run {
	run := sarif.NewRunWithInformationURI("idemlint", "https://github.com/idemgen/idem/blob/main/docs/idemlint.md")
	run.WithColumnKind("utf16CodeUnits")
	run.WithOriginalUriBaseIds(map[string]sarif.ArtifactLocation{sarifBase: *sarif.NewArtifactLocation().WithURI(fileURI(w.root) + "/")})
	run.AddInvocation(w.invocation(r))
	index := map[string]int{}
	for i, d := range analyzers.Docs() {
		index[d.Name] = i
		run.Tool.Driver.AddRule(sarif.NewReportingDescriptor().WithID(d.Name).WithName(d.Name).WithHelpURI(d.URL()).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel("warning")).
			WithShortDescription(text(d.Title + ".")).WithFullDescription(text(strings.TrimSpace(d.What))).
			WithHelp(text(d.Text()).WithMarkdown(d.Markdown())))
	}
	seen := map[fingerprint]int{}
	for _, f := range r.Findings {
		print := w.sources.fingerprint(w.root, f)
		seen[print]++
		run.AddResult(w.result(f, index[f.Rule]).WithPartialFingerprints(map[string]string{"idemlint/v1": digest(print, seen[print])}))
	}
	return run
}

func text(s string) *sarif.MultiformatMessageString {
	return sarif.NewMultiformatMessageString().WithText(s)
}

func (w sarifWriter) invocation(r driver.Report) *sarif.Invocation {
	i := sarif.NewInvocation().WithExecutionSuccessful(r.Errors == "" && len(r.Notes) == 0)
	if r.Errors != "" {
		i.AddToolExecutionNotification(sarif.NewNotification().WithLevel("error").WithMessage(sarif.NewTextMessage(r.Errors)))
	}
	for _, n := range r.Notes {
		i.AddToolExecutionNotification(sarif.NewNotification().WithLevel("error").WithMessage(sarif.NewTextMessage(n.Message)).AddLocation(w.location(n.Pos, n.End)))
	}
	return i
}

func (w sarifWriter) result(f driver.Finding, rule int) *sarif.Result {
	res := sarif.NewResult().WithRuleID(f.Rule).WithRuleIndex(rule).WithLevel("warning").
		WithMessage(sarif.NewTextMessage(f.Message)).AddLocation(w.location(f.Pos, f.End))
	for i, rel := range f.Related {
		res.AddRelatedLocation(w.location(rel.Pos, driver.Position{}).WithID(i + 1).WithMessage(sarif.NewTextMessage(rel.Message)))
	}
	for _, fix := range f.Fixes {
		res.AddFixe(w.fix(fix))
	}
	return res
}

func (w sarifWriter) fix(f driver.Fix) *sarif.Fix {
	out := sarif.NewFix().WithDescription(sarif.NewTextMessage(f.Message))
	changes := map[string]*sarif.ArtifactChange{}
	for _, e := range f.Edits {
		change := changes[e.File]
		if change == nil {
			change = sarif.NewArtifactChange().WithArtifactLocation(w.artifact(e.File))
			changes[e.File] = change
			out.AddArtifactChange(change)
		}
		change.AddReplacement(sarif.NewReplacement().
			WithDeletedRegion(w.region(w.sources.position(e.File, e.Start), w.sources.position(e.File, e.End))).
			WithInsertedContent(sarif.NewArtifactContent().WithText(e.New)))
	}
	return out
}

func (w sarifWriter) location(from, to driver.Position) *sarif.Location {
	place := sarif.NewPhysicalLocation().WithArtifactLocation(w.artifact(from.File))
	if r := w.region(from, to); r != nil {
		place.WithRegion(r)
	}
	return sarif.NewLocation().WithPhysicalLocation(place)
}

func (w sarifWriter) region(from, to driver.Position) *sarif.Region {
	if from.Line < 1 {
		return nil
	}
	r := sarif.NewRegion().WithStartLine(from.Line)
	if from.Column > 0 {
		r.WithStartColumn(w.sources.column(from))
	}
	if to.File == from.File && to.Line >= from.Line {
		r.WithEndLine(to.Line).WithEndColumn(w.sources.column(to))
	}
	return r
}

func (w sarifWriter) artifact(file string) *sarif.ArtifactLocation {
	rel := driver.Relative(w.root, file)
	if filepath.IsAbs(rel) {
		return sarif.NewArtifactLocation().WithURI(fileURI(rel))
	}
	return sarif.NewArtifactLocation().WithURI((&url.URL{Path: filepath.ToSlash(rel)}).EscapedPath()).WithURIBaseID(sarifBase)
}

func fileURI(name string) string {
	slash := filepath.ToSlash(name)
	if !strings.HasPrefix(slash, "/") {
		slash = "/" + slash // a drive
	}
	return (&url.URL{Scheme: "file", Path: slash}).String()
}

// digest tells a finding from others over runs; equal ones are counted.
func digest(f fingerprint, n int) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q %d", f.Rule, f.File, f.Message, f.Code, n)
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}
