package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers"
	"github.com/idemgen/idem/analyzers/driver"
	"github.com/idemgen/idem/analyzers/report"
)

// The exit codes.
const (
	exitClean    = 0
	exitErrors   = 1
	exitFindings = 3
)

type program struct {
	stdout, stderr io.Writer
	executable     func() (string, error)
}

type options struct {
	dir, format, explain, tags       string
	sarif, baseline, write, revision string
	json, tests, fix                 bool
	rules                            []string // as given: name or name=false
}

func (p *program) main(ctx context.Context, args []string) int {
	if len(args) > 0 && args[0] == "gopls" {
		return p.gopls(ctx, args[1:])
	}
	if len(args) > 0 && args[0] == "audit" {
		return p.audit(ctx, args[1:])
	}
	o, packages, err := p.parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitClean
	case err != nil:
		fmt.Fprintf(p.stderr, "idemlint: %v\n", err)
		return exitErrors
	case o.explain != "":
		return p.explain(o.explain)
	}
	found, err := p.run(ctx, o, packages)
	if err != nil {
		fmt.Fprintf(p.stderr, "idemlint: %v\n", err)
		return exitErrors
	}
	files := report.Sources{}
	if found, err = p.narrow(ctx, o, files, found); err == nil && o.fix {
		found, err = p.fix(ctx, o, files, packages, found)
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "idemlint: %v\n", err)
		return exitErrors
	}
	return p.print(o, files, found)
}

func (p *program) parse(args []string) (*options, []string, error) {
	o := &options{}
	set := flag.NewFlagSet("idemlint", flag.ContinueOnError)
	set.SetOutput(p.stderr)
	set.Usage = func() {
		fmt.Fprintln(p.stderr, "usage: idemlint [flags] [packages]\n\nRules (see -explain RULE):")
		for _, d := range analyzers.Docs() {
			fmt.Fprintf(p.stderr, "  %-12s %s\n", d.Name, d.Title)
		}
		fmt.Fprintln(p.stderr, "\nFlags:")
		set.VisitAll(func(f *flag.Flag) {
			if !slices.ContainsFunc(analyzers.Docs(), func(d analyzers.Doc) bool { return d.Name == f.Name }) {
				fmt.Fprintf(p.stderr, "  -%-11s %s\n", f.Name, f.Usage)
			}
		})
		fmt.Fprintln(p.stderr, "  -RULE[=false] run this rule only, or all but this one")
	}
	set.StringVar(&o.dir, "C", "", "run in this `folder`")
	set.StringVar(&o.format, "format", "text", "text, json or github")
	set.BoolVar(&o.json, "json", false, "the same as -format json")
	set.BoolVar(&o.tests, "tests", false, "report in test files as well")
	set.StringVar(&o.tags, "tags", "", "build tags, separated by commas")
	set.StringVar(&o.sarif, "sarif", "", "write the findings to a `file` as SARIF 2.1.0 as well")
	set.BoolVar(&o.fix, "fix", false, "apply the fixes that findings suggest, and report the rest")
	set.StringVar(&o.baseline, "baseline", "", "leave out the findings that a `file` holds")
	set.StringVar(&o.write, "write-baseline", "", "write the findings to a `file` for -baseline, and report none")
	set.StringVar(&o.revision, "new-from", "", "report only what is on lines changed since a `revision` of git")
	set.StringVar(&o.explain, "explain", "", "say what a `rule` finds, why, and what to do")
	for _, d := range analyzers.Docs() {
		set.BoolFunc(d.Name, d.Title, func(value string) error {
			if value != "true" && value != "false" {
				return errors.New("want true or false")
			}
			o.rules = append(o.rules, d.Name+"="+value)
			return nil
		})
	}
	if err := set.Parse(args); err != nil {
		return nil, nil, err
	}
	if o.json {
		o.format = "json"
	}
	if o.format != "text" && o.format != "json" && o.format != "github" {
		return nil, nil, fmt.Errorf("-format %s: want text, json or github", o.format)
	}
	if o.write != "" && (o.baseline != "" || o.revision != "" || o.fix) {
		return nil, nil, errors.New("-write-baseline takes all findings: it does not go with -baseline, -new-from or -fix")
	}
	packages := set.Args()
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	return o, packages, nil
}

func (p *program) explain(name string) int {
	var names []string
	for _, d := range analyzers.Docs() {
		if d.Name == name {
			fmt.Fprintf(p.stdout, "%s: %s\n", d.Name, d.Text())
			return exitClean
		}
		names = append(names, d.Name)
	}
	fmt.Fprintf(p.stderr, "idemlint: no rule %q; the rules are %s\n", name, strings.Join(names, ", "))
	return exitErrors
}

func (p *program) run(ctx context.Context, o *options, packages []string) (driver.Report, error) {
	tool, err := p.executable()
	if err != nil {
		return driver.Report{}, err
	}
	var args []string
	for _, r := range o.rules {
		args = append(args, "-"+r)
	}
	if o.tests {
		args = append(args, "-tests")
	}
	var build []string
	if o.tags != "" {
		build = append(build, "-tags="+o.tags)
	}
	return driver.Run(ctx, driver.Options{Tool: tool, Dir: o.dir, Args: args, Build: build, Packages: packages})
}

// narrow leaves out the findings that are not to be reported now.
func (p *program) narrow(ctx context.Context, o *options, files report.Sources, r driver.Report) (driver.Report, error) {
	var err error
	if o.write != "" {
		if r.Errors != "" || len(r.Notes) > 0 {
			fmt.Fprintf(p.stderr, "idemlint: %s is not written, since not everything could be looked at\n", o.write)
			return r, nil
		}
		err = report.WriteBaseline(o.write, files, r.Findings)
		r.Findings = nil
		return r, err
	}
	if o.baseline != "" {
		if r.Findings, err = report.Unknown(o.baseline, files, r.Findings); err != nil {
			return r, err
		}
	}
	if o.revision != "" {
		c, err := report.Since(ctx, o.dir, o.revision)
		if err != nil {
			return r, err
		}
		r.Findings = slices.DeleteFunc(r.Findings, func(f driver.Finding) bool { return !c.Hold(f) })
	}
	return r, nil
}

// fix applies fixes and, as lines have moved then, looks again at what is left.
func (p *program) fix(ctx context.Context, o *options, files report.Sources, packages []string, r driver.Report) (driver.Report, error) {
	fixed, failed := report.ApplyFixes(r.Findings)
	if fixed > 0 {
		fmt.Fprintf(p.stderr, "idemlint: fixed %d of %d findings\n", fixed, len(r.Findings))
		var err error
		if r, err = p.run(ctx, o, packages); err != nil {
			return r, err
		}
		clear(files)
		if r, err = p.narrow(ctx, o, files, r); err != nil {
			return r, err
		}
	}
	if failed != nil {
		r.Errors = strings.TrimSpace(r.Errors + "\n" + failed.Error())
	}
	return r, nil
}

func (p *program) print(o *options, files report.Sources, r driver.Report) int {
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		fmt.Fprintf(p.stderr, "idemlint: %v\n", err)
		return exitErrors
	}
	dir = report.Resolved(dir)
	if o.sarif != "" {
		if err := report.WriteSARIF(o.sarif, report.Repository(dir), files, r); err != nil {
			fmt.Fprintf(p.stderr, "idemlint: -sarif: %v\n", err)
			return exitErrors
		}
	}
	switch o.format {
	case "json":
		err = report.JSON(p.stdout, dir, r)
	case "github":
		report.GitHub(p.stdout, report.Repository(dir), r)
	default:
		report.Text(p.stdout, dir, r)
	}
	switch {
	case err != nil:
		fmt.Fprintf(p.stderr, "idemlint: %v\n", err)
		return exitErrors
	case r.Errors != "":
		fmt.Fprintln(p.stderr, r.Errors)
		return exitErrors
	case len(r.Notes) > 0:
		return exitErrors
	case len(r.Findings) > 0:
		return exitFindings
	}
	return exitClean
}
