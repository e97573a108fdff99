package demo

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// printer tells the story, in at most 80 columns. Only line is safe for
// concurrent use.
//
// Errors of writing are not its business: its out is a listener, and Run ends
// when that goes.
type printer struct {
	out   io.Writer
	color bool
	mu    sync.Mutex
	open  bool // a line waits for its end
	used  int  // columns of that line
}

const (
	bold  = "1"
	dim   = "2"
	red   = "31"
	green = "32"
)

const (
	labelWidth = 13
	width      = 80
)

func (p *printer) paint(code, text string) string {
	if !p.color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// title begins a part of the story.
func (p *printer) title(format string, args ...any) {
	p.breakLine()
	fmt.Fprintf(p.out, "\n%s\n\n", p.paint(bold, fmt.Sprintf(format, args...)))
}

// line is one event. An empty label continues the one above.
func (p *printer) line(label, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.breakLine()
	fmt.Fprintf(p.out, "  %s%s\n", p.label(label), fmt.Sprintf(format, args...))
}

func (p *printer) label(text string) string {
	return p.paint(dim, text) + strings.Repeat(" ", labelWidth-len(text))
}

// begin is what is about to take a while; end says, on the same line, how it
// went.
func (p *printer) begin(label, format string, args ...any) {
	p.breakLine()
	text := fmt.Sprintf(format, args...)
	fmt.Fprintf(p.out, "  %s%s", p.label(label), text)
	p.open, p.used = true, 2+labelWidth+utf8.RuneCountInString(text)
}

func (p *printer) end(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	gap := max(2, width-p.used-utf8.RuneCountInString(text))
	fmt.Fprintf(p.out, "%s%s\n", strings.Repeat(" ", gap), p.paint(dim, text))
	p.open = false
}

// breakLine ends a line that was begun and will not be ended any more.
func (p *printer) breakLine() {
	if p.open {
		fmt.Fprintln(p.out)
		p.open = false
	}
}

// row is one line of the table. A count that ought to be zero is coloured.
type row struct {
	label       string
	left, right string
	fault       bool // anything but zero is bad
}

// table puts both handlers beside each other, as the provider counted.
func (p *printer) table(naive, generated tally, orders int) {
	n := func(i int) string { return fmt.Sprint(i) }
	rows := []row{
		{fmt.Sprintf("charges for %d orders", orders), n(naive.charges), n(generated.charges), false},
		{"orders charged twice or more", n(naive.chargedTwice), n(generated.chargedTwice), true},
		{"orders charged three times or more", n(naive.chargedThrice), n(generated.chargedThrice), true},
		{"taken too much", dollars(naive.overcharged), dollars(generated.overcharged), true},
		{"receipts mailed", n(naive.receipts), n(generated.receipts), false},
		{"customers mailed twice or more", n(naive.mailedTwice), n(generated.mailedTwice), true},
		{"orders lost", n(naive.lost), n(generated.lost), true},
		{"receipts of which nobody knows, given up", n(naive.receiptUnknown), n(generated.receiptUnknown), false},
		{"orders of which nobody knows, left to you", n(len(naive.unknown)), n(len(generated.unknown)), false},
	}
	fmt.Fprintf(p.out, "\n  %s\n", p.paint(bold, fmt.Sprintf("%-44s%15s%15s", "counted at the provider", "naive", "generated")))
	for _, r := range rows {
		fmt.Fprintf(p.out, "  %-44s%s%s\n", r.label, p.cell(r.left, r.fault), p.cell(r.right, r.fault))
	}
}

func (p *printer) cell(text string, fault bool) string {
	padded := fmt.Sprintf("%15s", text)
	switch {
	case !fault:
		return padded
	case strings.Trim(text, "$0.") == "":
		return p.paint(green, padded)
	}
	return p.paint(red, padded)
}

// unknowns lists the first few orders that wait for a person, and what to do.
func (p *printer) unknowns(list []unknown) {
	if len(list) == 0 {
		return
	}
	charged := 0
	for _, u := range list {
		if u.charged {
			charged++
		}
	}
	fmt.Fprintf(p.out, `
  %s unknown: the charge was started, the process died, and this
  provider cannot be asked again safely. The ledger does not guess: to repeat
  would have charged %s twice, to go on would have lost %s.
  They wait for somebody to look into the provider's books:

`, p.paint(bold, count(len(list), "order")+isOrAre(len(list))), count(charged, "customer"), count(len(list)-charged, "payment"))
	const most = 3
	for _, u := range list[:min(most, len(list))] {
		found := "not in the books: let it run again"
		if u.charged {
			found = "in the books: record the charge as done"
		}
		fmt.Fprintf(p.out, "    %s  work %.12s  %s\n", u.order, u.workID, found)
	}
	if more := len(list) - most; more > 0 {
		fmt.Fprintf(p.out, "    and %d more\n", more)
	}
}

// kept says what there is to look at.
func (p *printer) kept(dir string) {
	p.title("Kept in %s", dir)
	p.line("billing/", "the program: its contract, its handler, the generated code")
	p.line("*.db", "the ledgers: SELECT * FROM work_view, or effect_log")
	p.line("*.log", "what the processes complained about")
}

func isOrAre(n int) string {
	if n == 1 {
		return " is"
	}
	return " are"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ok := strings.CutSuffix(what, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// seconds is a duration as people read it.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// dollars is an amount with separators.
func dollars(cents int64) string {
	whole := fmt.Sprint(cents / 100)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return fmt.Sprintf("$%s.%02d", whole, cents%100)
}
