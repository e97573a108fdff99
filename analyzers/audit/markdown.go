package audit

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the report for a repository or an issue.
func Markdown(w io.Writer, r *Report) error {
	t := &textWriter{w: w}
	t.printf("# Audit of %s\n\n%s.\n", escaped(r.Module), escaped(r.Summary()))
	if len(r.Entries) > 0 {
		t.printf("\n| | entry point | a duplicate costs | without guard |\n| --- | --- | --- | --- |\n")
		for i, e := range r.Entries {
			t.printf("| %d | %s | %s | %s |\n", i+1, escaped(e.Title()), e.Cost.Text(), openText(e))
		}
	}
	for i, e := range r.Entries {
		t.markdownEntry(i+1, e)
	}
	t.markdownRest(r)
	return t.err
}

func openText(e Entry) string {
	if e.Open == None {
		return "nothing"
	}
	return e.Open.Text()
}

func (t *textWriter) markdownEntry(n int, e Entry) {
	t.printf("\n## %d. %s\n\n", n, escaped(e.Title()))
	t.printf("%s, %s; %s%s\n\n", e.Kind, code(e.Pos.String()), escaped(e.Found), escaped(registered(e)))
	t.printf("**1. %s**\n\n", Questions[0])
	shown, rest := more(e.Effects)
	for _, x := range shown {
		t.printf("- %s: %s at %s, by %s", x.Class, code(x.Name), code(x.Pos.String()), code(x.WayText()))
		if remarks := x.Remarks(); remarks != "" {
			t.printf("; %s", escaped(remarks))
		}
		t.printf("\n")
	}
	if rest > 0 {
		t.printf("- and %d more\n", rest)
	}
	for _, x := range e.Runs {
		t.printf("- hands the work to %s (%s)\n", escaped(contractName(x)), code(x.Pos.String()))
	}
	if len(e.Effects)+len(e.Runs) == 0 {
		t.printf("- nothing was seen\n")
	}
	t.printf("\n**2. %s:** %s\n", Questions[1], e.Identity.Verdict)
	if len(e.Identity.Sources) > 0 {
		t.printf("\n")
	}
	for _, s := range e.Identity.Sources {
		t.printf("- %s\n", escaped(s.String()))
	}
	t.printf("\n**3. %s:** %s\n", Questions[2], escaped(e.ModelText()))
	t.printf("\n**4. %s**\n\n", Questions[3])
	if len(e.Effects) == 0 {
		t.printf("- none\n")
	}
	for _, x := range shown {
		t.printf("- %s: %s\n", code(x.Name), escaped(x.GuardText()))
	}
	t.printf("\n**5. %s:** it goes: %s. It is seen: %s\n", Questions[4], escaped(e.Failure.Goes.String()), escaped(e.Failure.Sees.String()))
	t.printf("\n**6. %s:** %s\n", Questions[5], escaped(e.Replay.String()))
	if len(e.Findings) > 0 {
		t.printf("\n**Findings**\n\n")
	}
	for _, f := range e.Findings {
		t.printf("- %s: %s (%s)\n", code(f.Pos.String()), escaped(f.Message), f.Rule)
	}
	if e.Unknown > 0 {
		t.printf("\nNot seen: %s.\n", unknownText(e.Unknown))
	}
}

func (t *textWriter) markdownRest(r *Report) {
	if len(r.Quiet) > 0 {
		t.printf("\n## No effect was seen\n\n")
		for _, q := range r.Quiet {
			t.printf("- %s: %s (%s)\n", q.Kind, escaped(q.Name), code(q.Pos.String()))
		}
	}
	for _, part := range r.Rest() {
		t.printf("\n## %s\n\n", part.Heading)
		for _, f := range part.Findings {
			t.printf("- %s: %s (%s)\n", code(f.Pos.String()), escaped(f.Message), f.Rule)
		}
	}
	if r.Problems != "" {
		t.printf("\n## Not looked at, since it does not build\n\n")
		for line := range strings.Lines(r.Problems) {
			t.printf("    %s\n", strings.TrimRight(line, "\n"))
		}
	}
	t.printf("\n*%s*\n", escaped(Caveat))
}

// escaped is a text that Markdown shows as it is.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch r {
		case '\\', '`', '*', '_', '[', ']', '<', '>', '|', '#', '~', '&', '!':
			b.WriteByte('\\')
		case '\n', '\r':
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

// code is a text as code, which ends where its own ticks do not.
func code(s string) string {
	s = strings.NewReplacer("\n", " ", "\r", " ").Replace(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fmt.Sprintf("%s %s %s", fence, s, fence)
	}
	return fence + s + fence
}
