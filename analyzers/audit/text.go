package audit

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The text and Markdown reports show so many effects of an entry; JSON and the page
// show all.
const shownEffects = 12

// Title is the heading of an entry.
func (e Entry) Title() string {
	if e.Kind == "contract" || e.Kind == "program" {
		return e.Kind + " " + strings.TrimPrefix(e.Name, "main of ")
	}
	if e.Name == e.Func {
		return e.Name
	}
	return e.Name + " → " + e.Func
}

// Summary is the report in a sentence.
func (r *Report) Summary() string {
	counts := map[Cost]int{}
	open := 0
	for _, e := range r.Entries {
		counts[e.Cost]++
		if e.Open != None {
			open++
		}
	}
	var parts []string
	for _, c := range Costs()[:4] {
		if counts[c] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[c], c.Text()))
		}
	}
	total := len(r.Entries) + len(r.Quiet)
	s := fmt.Sprintf("%s, %d of them with effects", count(total, "entry point", "entry points"), total-counts[None]-len(r.Quiet))
	if len(parts) > 0 {
		s += ": " + strings.Join(parts, ", ")
	}
	return s + fmt.Sprintf("; %d with an effect that nothing was seen to guard", open)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Questions are the six, as headings.
var Questions = [6]string{
	"What happens twice", "What the work is told by", "A crash after the model's answer", "Guards of outbound calls", "After the last attempt", "Running one item again",
}

// WayText is the way in one line.
func (e Effect) WayText() string {
	var parts []string
	for _, s := range e.Way {
		parts = append(parts, s.Name)
	}
	if len(parts) > 7 {
		parts = append(append(parts[:4:4], fmt.Sprintf("+%d more", len(parts)-6)), parts[len(parts)-2:]...)
	}
	return strings.Join(parts, " → ")
}

// Remarks are what else is to say of an effect.
func (e Effect) Remarks() string {
	var parts []string
	if len(e.Also) > 0 {
		var lines []string
		for _, n := range e.Also {
			lines = append(lines, strconv.Itoa(n))
		}
		parts = append(parts, "also on line "+strings.Join(lines, ", "))
	}
	if e.Each != "" {
		parts = append(parts, "once for each of "+e.Each)
	}
	if e.Note != "" {
		parts = append(parts, e.Note)
	}
	return strings.Join(parts, "; ")
}

// GuardText is a guard with its kind.
func (e Effect) GuardText() string {
	text := e.Guard.Kind
	if e.Guard.Kind != GuardNone {
		text += ": " + e.Guard.Text
	} else {
		text = "none seen"
	}
	if e.Guard.Pos != nil {
		text += " (" + e.Guard.Pos.String() + ")"
	}
	return text
}

func (a Answer) String() string {
	text := a.Verdict
	if a.Text != "" {
		text += ": " + a.Text
	}
	if a.Pos != nil {
		text += " (" + a.Pos.String() + ")"
	}
	return text
}

func (s Source) String() string {
	if s.Kind == "contract" {
		return fmt.Sprintf("%s, by %s (%v)", s.Text, s.From, s.Pos)
	}
	if s.New {
		return fmt.Sprintf("%s, %s (%v)", s.Text, s.From, s.Pos)
	}
	return fmt.Sprintf("%s %s, from %s (%v)", s.Kind, s.Text, s.From, s.Pos)
}

// ModelText is the third answer.
func (e Entry) ModelText() string {
	if e.Model == nil {
		if e.Kind == "contract" {
			return "no model call was seen outside the ledger, which keeps decisions"
		}
		return "no model call was seen"
	}
	return fmt.Sprintf("%s: %s (%s at %v)", e.Model.Verdict, e.Model.Text, e.Model.Name, e.Model.Call)
}

// More are the effects that do not fit.
func more(all []Effect) ([]Effect, int) {
	if len(all) <= shownEffects {
		return all, 0
	}
	return all[:shownEffects], len(all) - shownEffects
}

// textWriter writes lines that fit a width, and keeps the first error.
type textWriter struct {
	w     io.Writer
	width int
	err   error
}

func (t *textWriter) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// item writes a label and a text that goes on under itself.
func (t *textWriter) item(indent int, label, text string) {
	const column = 12
	at := indent + column
	lines := wrap(text, max(t.width-at, 30))
	for i, line := range lines {
		if i == 0 {
			t.printf("%s%-*s%s\n", strings.Repeat(" ", indent), column, label, line)
		} else {
			t.printf("%s%s\n", strings.Repeat(" ", at), line)
		}
	}
}

// wrap breaks a text at spaces; a word that is longer than a line stays whole.
func wrap(text string, width int) []string {
	var lines []string
	line, length := "", 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if length > 0 && length+1+n > width {
			lines = append(lines, line)
			line, length = "", 0
		}
		if length > 0 {
			line, length = line+" ", length+1
		}
		line, length = line+word, length+n
	}
	return append(lines, line)
}

// Text writes the report for a terminal of a width.
func Text(w io.Writer, r *Report, width int) error {
	t := &textWriter{w: w, width: width}
	for _, line := range wrap(r.Module+": "+r.Summary()+".", width) {
		t.printf("%s\n", line)
	}
	t.index(r)
	for i, e := range r.Entries {
		t.entry(i+1, e)
	}
	t.rest(r)
	return t.err
}

// index lists the entries, a line each.
func (t *textWriter) index(r *Report) {
	if len(r.Entries) == 0 {
		return
	}
	t.printf("\n%4s  %-15s %-15s %s\n", "", "a duplicate", "without guard", "entry point")
	for i, e := range r.Entries {
		cost, open := e.Cost.Text(), openText(e)
		if e.Cost == None {
			cost, open = "-", "-"
		}
		t.printf("%4d  %-15s %-15s %s\n", i+1, cost, open, e.Title())
	}
}

func (t *textWriter) entry(n int, e Entry) {
	t.printf("\n%d. [%s] %s\n", n, strings.ToUpper(e.Cost.Text()), e.Title())
	t.item(3, e.Kind, fmt.Sprintf("%v, %s", e.Pos, e.Found)+registered(e))
	shown, rest := more(e.Effects)
	for _, x := range shown {
		t.item(3, "effect", fmt.Sprintf("%s: %s at %v", x.Class, x.Name, x.Pos))
		t.item(5, "way", x.WayText())
		t.item(5, "guard", x.GuardText())
		if remarks := x.Remarks(); remarks != "" {
			t.item(5, "note", remarks)
		}
	}
	if rest > 0 {
		t.item(3, "", fmt.Sprintf("and %d more, which the other formats show", rest))
	}
	for _, x := range e.Runs {
		t.item(3, "contract", fmt.Sprintf("hands the work to %s (%v)", contractName(x), x.Pos))
	}
	if len(e.Effects) == 0 && len(e.Runs) == 0 {
		t.item(3, "effect", "nothing was seen that happens twice")
	}
	t.item(3, "identity", e.Identity.Verdict)
	for _, s := range e.Identity.Sources {
		t.item(5, "by", s.String())
	}
	t.item(3, "model", e.ModelText())
	t.item(3, "failed", e.Failure.Goes.String())
	t.item(3, "seen by", e.Failure.Sees.String())
	t.item(3, "replay", e.Replay.String())
	for _, f := range e.Findings {
		t.item(3, "finding", fmt.Sprintf("%v: %s (%s)", f.Pos, f.Message, f.Rule))
	}
	if e.Unknown > 0 {
		t.item(3, "not seen", unknownText(e.Unknown))
	}
}

func registered(e Entry) string {
	if e.At == nil {
		return ""
	}
	return " at " + e.At.String()
}

func contractName(r Runs) string {
	if r.Contract == "" {
		return "a contract"
	}
	return "contract " + r.Contract
}

func unknownText(n int) string {
	return count(n, "call", "calls") + " through a value of a function, which may do anything"
}

func (t *textWriter) rest(r *Report) {
	if len(r.Quiet) > 0 {
		t.printf("\nNo effect was seen in %s:\n", count(len(r.Quiet), "entry point", "entry points"))
		for _, q := range r.Quiet {
			t.item(3, q.Kind, fmt.Sprintf("%s (%v)", q.Name, q.Pos))
		}
	}
	for _, part := range r.Rest() {
		t.printf("\n%s:\n", part.Heading)
		for _, f := range part.Findings {
			t.item(3, f.Rule, fmt.Sprintf("%v: %s", f.Pos, f.Message))
		}
	}
	if r.Problems != "" {
		t.printf("\nNot looked at, since it does not build:\n")
		for line := range strings.Lines(r.Problems) {
			t.printf("   %s\n", strings.TrimRight(line, "\n"))
		}
	}
	t.printf("\n")
	for _, line := range wrap(Caveat, t.width) {
		t.printf("%s\n", line)
	}
}

// Part is findings that belong to no entry.
type Part struct {
	Heading  string
	Findings []Finding
}

// Rest are the findings beside the entries.
func (r *Report) Rest() []Part {
	var all []Part
	if len(r.Outside) > 0 {
		all = append(all, Part{"Findings in code that no entry point was seen to reach", r.Outside})
	}
	if len(r.Notes) > 0 {
		all = append(all, Part{"What could not be looked at", r.Notes})
	}
	return all
}

// Caveat is what every report says of itself.
const Caveat = "What a report does not say: whether a table has a unique index, what queues and providers are set to, what calls through values of functions do, and what happens before main. \"Not seen\" means that and no more."
