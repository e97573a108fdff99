package contracts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Severity tells whether a diagnostic stops the run.
type Severity int

// The severities.
const (
	Error Severity = iota
	Warning
)

// String is "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Diagnostic is one thing that is wrong, at one place of a contract file.
type Diagnostic struct {
	Severity Severity
	File     string
	Pos      Pos
	Path     string // what the message is about, relative to its contract: "identity.key"; may be empty
	Msg      string
	Related  []Related
	Snippet  Snippet
}

// Related is another place that explains a diagnostic, mostly in a Go file.
type Related struct {
	File         string
	Line, Column int // 1-based, in bytes
	Msg          string
}

// Errorf makes an error at a place of the file, with the source line. Path
// says which answer it is about, such as "identity.key"; it may be empty.
func (f *File) Errorf(pos Pos, path, format string, args ...any) *Diagnostic {
	return f.diagnose(Error, pos, path, fmt.Sprintf(format, args...))
}

// Warnf is Errorf for what does not stop a run.
func (f *File) Warnf(pos Pos, path, format string, args ...any) *Diagnostic {
	return f.diagnose(Warning, pos, path, fmt.Sprintf(format, args...))
}

func (f *File) diagnose(s Severity, pos Pos, path, msg string) *Diagnostic {
	return &Diagnostic{Severity: s, File: f.Path, Pos: pos, Path: path, Msg: msg, Snippet: f.snippet(pos)}
}

// At adds a related place to the diagnostic and returns it.
func (d *Diagnostic) At(file string, line, column int, format string, args ...any) *Diagnostic {
	d.Related = append(d.Related, Related{file, line, column, fmt.Sprintf(format, args...)})
	return d
}

// Error is the first line of the text form, without its line break.
func (d *Diagnostic) Error() string {
	var b strings.Builder
	writePlace(&b, d.File, d.Pos.Line, d.Pos.Column)
	if d.Severity != Error {
		b.WriteString(d.Severity.String() + ": ")
	}
	if d.Path != "" {
		b.WriteString(d.Path + ": ")
	}
	b.WriteString(d.Msg)
	return b.String()
}

// Text is the diagnostic as people read it: place and message, the source line
// with a caret line, and one line for each related place. It ends with a line
// break.
func (d *Diagnostic) Text() string {
	var b strings.Builder
	b.WriteString(d.Error() + "\n")
	d.Snippet.write(&b, d.Pos.Line)
	for _, r := range d.Related {
		b.WriteString("  ")
		writePlace(&b, r.File, r.Line, r.Column)
		b.WriteString(r.Msg + "\n")
	}
	return b.String()
}

func writePlace(b *strings.Builder, file string, line, column int) {
	b.WriteString(file)
	if line > 0 {
		b.WriteString(":" + strconv.Itoa(line))
		if column > 0 {
			b.WriteString(":" + strconv.Itoa(column))
		}
	}
	b.WriteString(": ")
}

// Diagnostics is a list of diagnostics. Parse returns it sorted and without
// doubles; whoever appends to it calls Sorted before showing it.
type Diagnostics []*Diagnostic

// Sorted returns the diagnostics by file, place, path and message, each once.
// The receiver is left alone.
func (ds Diagnostics) Sorted() Diagnostics {
	out := slices.Clone(ds)
	slices.SortStableFunc(out, compareDiagnostics)
	return slices.CompactFunc(out, func(a, b *Diagnostic) bool { return compareDiagnostics(a, b) == 0 })
}

func compareDiagnostics(a, b *Diagnostic) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Pos.Line, b.Pos.Line),
		cmp.Compare(a.Pos.Column, b.Pos.Column),
		cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.Msg, b.Msg),
		cmp.Compare(a.Severity, b.Severity),
		slices.CompareFunc(a.Related, b.Related, compareRelated),
	)
}

func compareRelated(a, b Related) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Msg, b.Msg),
	)
}

// HasErrors tells whether the list holds more than warnings.
func (ds Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d *Diagnostic) bool { return d.Severity == Error })
}

// Text is the text form of all diagnostics, in the order of the list.
func (ds Diagnostics) Text() string {
	var b strings.Builder
	for _, d := range ds {
		b.WriteString(d.Text())
	}
	return b.String()
}

// Err is nil if the list holds no error; else its text is that of the errors,
// one line each, and errors.As finds the first *Diagnostic.
func (ds Diagnostics) Err() error {
	if !ds.HasErrors() {
		return nil
	}
	return diagnosticsError(ds)
}

type diagnosticsError Diagnostics

func (e diagnosticsError) Error() string {
	var lines []string
	for _, d := range e {
		if d.Severity == Error {
			lines = append(lines, d.Error())
		}
	}
	return strings.Join(lines, "\n")
}

func (e diagnosticsError) Unwrap() []error {
	var errs []error
	for _, d := range e {
		if d.Severity == Error {
			errs = append(errs, d)
		}
	}
	return errs
}
