package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idem/analyzers/audit"
	"github.com/idemgen/idem/analyzers/report"
)

// auditOptions are those of "idemlint audit".
type auditOptions struct {
	dir, format, out, tags, failOn string
	width                          int
	packages                       []string
}

// audit answers for each entry point what happens if it runs twice.
func (p *program) audit(ctx context.Context, args []string) int {
	o, err := p.parseAudit(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitClean
	case err != nil:
		return p.fail(err)
	}
	tool, err := p.executable()
	if err != nil {
		return p.fail(err)
	}
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return p.fail(err)
	}
	var build []string
	if o.tags != "" {
		build = append(build, "-tags="+o.tags)
	}
	r, err := audit.Run(ctx, audit.Options{Tool: tool, Dir: report.Resolved(dir), Build: build, Packages: o.packages})
	if err != nil {
		return p.fail(err)
	}
	var b bytes.Buffer
	if err := audit.Write(&b, r, o.format, o.width); err != nil {
		return p.fail(err)
	}
	if o.out == "" {
		_, err = p.stdout.Write(b.Bytes())
	} else {
		err = os.WriteFile(o.out, b.Bytes(), 0o666)
	}
	switch {
	case err != nil:
		return p.fail(err)
	case r.Problems != "":
		fmt.Fprintln(p.stderr, r.Problems)
		return exitErrors
	case len(r.Notes) > 0:
		return exitErrors
	case o.failOn != string(audit.None) && r.Worst().AtLeast(audit.Cost(o.failOn)):
		return exitFindings
	}
	return exitClean
}

func (p *program) fail(err error) int {
	fmt.Fprintf(p.stderr, "idemlint: %v\n", err)
	return exitErrors
}

func (p *program) parseAudit(args []string) (*auditOptions, error) {
	o := &auditOptions{}
	set := flag.NewFlagSet("idemlint audit", flag.ContinueOnError)
	set.SetOutput(p.stderr)
	set.Usage = func() {
		fmt.Fprintln(p.stderr, "usage: idemlint audit [flags] [packages]\n\nAnswers for each place where work comes in what happens if it comes twice.\n\nFlags:")
		set.VisitAll(func(f *flag.Flag) { fmt.Fprintf(p.stderr, "  -%-11s %s\n", f.Name, f.Usage) })
	}
	set.StringVar(&o.dir, "C", "", "run in this `folder`")
	set.StringVar(&o.format, "format", "text", strings.Join(audit.Formats(), ", "))
	set.StringVar(&o.out, "o", "", "write to a `file`")
	set.StringVar(&o.tags, "tags", "", "build tags, separated by commas")
	set.IntVar(&o.width, "width", terminalWidth(), "of lines of text; taken from COLUMNS unless said")
	set.StringVar(&o.failOn, "fail-on", string(audit.None), "exit with 3 if an effect that costs so much or more has no guard: money, inbox, external, internal or none")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	if !slices.Contains(audit.Formats(), o.format) {
		return nil, fmt.Errorf("-format %s: want %s", o.format, strings.Join(audit.Formats(), ", "))
	}
	if !slices.Contains(audit.Costs(), audit.Cost(o.failOn)) {
		return nil, fmt.Errorf("-fail-on %s: want money, inbox, external, internal or none", o.failOn)
	}
	if o.width < 40 {
		return nil, fmt.Errorf("-width %d: want 40 or more", o.width)
	}
	if o.packages = set.Args(); len(o.packages) == 0 {
		o.packages = []string{"./..."}
	}
	return o, nil
}

// terminalWidth is what the shell says, within reason.
func terminalWidth() int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n >= 60 && n <= 200 {
		return n
	}
	return 100
}
