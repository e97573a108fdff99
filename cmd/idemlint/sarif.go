package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/idemgen/idem/analyzers"
	"github.com/idemgen/idem/analyzers/driver"
)

// The parts of SARIF 2.1.0 that are written.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool                `json:"tool"`
		Invocations []sarifInvocation        `json:"invocations"`
		Bases       map[string]sarifArtifact `json:"originalUriBaseIds"`
		ColumnKind  string                   `json:"columnKind"`
		Results     []sarifResult            `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		URI   string      `json:"informationUri"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string       `json:"id"`
		Name    string       `json:"name"`
		Short   sarifMessage `json:"shortDescription"`
		Full    sarifMessage `json:"fullDescription"`
		HelpURI string       `json:"helpUri"`
		Help    sarifMessage `json:"help"`
		Default sarifDefault `json:"defaultConfiguration"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifMessage struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		Fixes        []sarifFix        `json:"fixes,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		ID       int           `json:"id,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifMessage `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
		EndLine     int `json:"endLine,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
	sarifFix struct {
		Description sarifMessage  `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion  `json:"deletedRegion"`
		Inserted sarifMessage `json:"insertedContent"`
	}
)

const sarifBase = "SRCROOT"

// sarifWriter turns findings into SARIF; files are named from root.
type sarifWriter struct {
	root    string
	sources sources
}

func writeSARIF(name, root string, s sources, r driver.Report) error {
	data, err := json.MarshalIndent(sarifWriter{root, s}.log(r), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(data, '\n'), 0o644)
}

func (w sarifWriter) log(r driver.Report) sarifLog {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "idemlint", URI: "https://github.com/idemgen/idem/blob/main/docs/idemlint.md"}},
		Bases:       map[string]sarifArtifact{sarifBase: {URI: fileURI(w.root) + "/"}},
		ColumnKind:  "utf16CodeUnits",
		Results:     []sarifResult{},
		Invocations: []sarifInvocation{w.invocation(r)},
	}
	index := map[string]int{}
	for i, d := range analyzers.Docs() {
		index[d.Name] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: d.Name, Name: d.Name, HelpURI: d.URL(), Default: sarifDefault{"warning"},
			Short: sarifMessage{Text: d.Title + "."}, Full: sarifMessage{Text: strings.TrimSpace(d.What)},
			Help: sarifMessage{Text: d.Text(), Markdown: d.Markdown()},
		})
	}
	seen := map[fingerprint]int{}
	for _, f := range r.Findings {
		print := w.sources.fingerprint(w.root, f)
		seen[print]++
		run.Results = append(run.Results, w.result(f, index[f.Rule], digest(print, seen[print])))
	}
	return sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}

func (w sarifWriter) invocation(r driver.Report) sarifInvocation {
	i := sarifInvocation{Successful: r.Errors == "" && len(r.Notes) == 0}
	if r.Errors != "" {
		i.Notifications = append(i.Notifications, sarifNotification{Level: "error", Message: sarifMessage{Text: r.Errors}})
	}
	for _, n := range r.Notes {
		i.Notifications = append(i.Notifications, sarifNotification{Level: "error", Message: sarifMessage{Text: n.Message}, Locations: []sarifLocation{w.location(n.Pos, n.End)}})
	}
	return i
}

func (w sarifWriter) result(f driver.Finding, rule int, fingerprint string) sarifResult {
	res := sarifResult{
		RuleID: f.Rule, RuleIndex: rule, Level: "warning", Message: sarifMessage{Text: f.Message},
		Locations:    []sarifLocation{w.location(f.Pos, f.End)},
		Fingerprints: map[string]string{"idemlint/v1": fingerprint},
	}
	for i, rel := range f.Related {
		loc := w.location(rel.Pos, driver.Position{})
		loc.ID, loc.Message = i+1, &sarifMessage{Text: rel.Message}
		res.Related = append(res.Related, loc)
	}
	for _, fix := range f.Fixes {
		res.Fixes = append(res.Fixes, w.fix(fix))
	}
	return res
}

func (w sarifWriter) fix(f driver.Fix) sarifFix {
	out := sarifFix{Description: sarifMessage{Text: f.Message}}
	at := map[string]int{}
	for _, e := range f.Edits {
		i, ok := at[e.File]
		if !ok {
			i = len(out.Changes)
			at[e.File] = i
			out.Changes = append(out.Changes, sarifChange{Artifact: w.artifact(e.File)})
		}
		out.Changes[i].Replacements = append(out.Changes[i].Replacements, sarifReplacement{
			Deleted:  *w.region(w.sources.position(e.File, e.Start), w.sources.position(e.File, e.End)),
			Inserted: sarifMessage{Text: e.New},
		})
	}
	return out
}

func (w sarifWriter) location(from, to driver.Position) sarifLocation {
	return sarifLocation{Physical: sarifPhysical{Artifact: w.artifact(from.File), Region: w.region(from, to)}}
}

func (w sarifWriter) region(from, to driver.Position) *sarifRegion {
	if from.Line < 1 {
		return nil
	}
	r := &sarifRegion{StartLine: from.Line, StartColumn: w.sources.column(from)}
	if to.File == from.File && to.Line >= from.Line {
		r.EndLine, r.EndColumn = to.Line, w.sources.column(to)
	}
	return r
}

func (w sarifWriter) artifact(file string) sarifArtifact {
	rel := driver.Relative(w.root, file)
	if filepath.IsAbs(rel) {
		return sarifArtifact{URI: fileURI(rel)}
	}
	return sarifArtifact{URI: (&url.URL{Path: filepath.ToSlash(rel)}).EscapedPath(), Base: sarifBase}
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
