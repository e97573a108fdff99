package contracts

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// fileOf makes a file of the given text, for messages at its places.
func fileOf(path, text string) *File {
	return &File{Path: path, lines: strings.Split(text, "\n")}
}

func TestMessagesLookAsTheLanguageDescribesThem(t *testing.T) {
	src := strings.Repeat("\n", 8) + "    identity: {key: ShopifyOrderId}\n"
	f := fileOf("billing/invoice.idem.yaml", src)
	d := f.Errorf(Pos{9, 21, 14}, "identity.key", "type OrderPaid has no field ShopifyOrderId%s", DidYouMean("ShopifyOrderId", []string{"ShopifyOrderID"})).
		At("billing/orders.go", 21, 6, "%s is declared here", "OrderPaid")
	const want = `billing/invoice.idem.yaml:9:21: identity.key: type OrderPaid has no field ShopifyOrderId (did you mean ShopifyOrderID?)
  9 |     identity: {key: ShopifyOrderId}
    |                     ^^^^^^^^^^^^^^
  billing/orders.go:21:6: OrderPaid is declared here
`
	if got := d.Text(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestWarningsSayThatTheyAre(t *testing.T) {
	f := fileOf("a.idem.yaml", "window: 1d")
	d := f.Warnf(Pos{1, 9, 2}, "window", "shorter than before")
	const want = `a.idem.yaml:1:9: warning: window: shorter than before
  1 | window: 1d
    |         ^^
`
	if got := d.Text(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	ds := Diagnostics{d}
	if ds.HasErrors() || ds.Err() != nil {
		t.Error("a warning stops the run")
	}
	ds = append(ds, f.Errorf(Pos{}, "", "broken"))
	if !ds.HasErrors() || ds.Err() == nil {
		t.Error("an error does not stop the run")
	}
}

func TestAnErrorWithoutAPlaceNamesTheFile(t *testing.T) {
	if got := fileOf("a.idem.yaml", "x").Errorf(Pos{}, "", "too large").Text(); got != "a.idem.yaml: too large\n" {
		t.Errorf("got %q", got)
	}
}

func TestDiagnosticsAreSortedAndNoneStandsTwice(t *testing.T) {
	f, g := fileOf("b.idem.yaml", "x\ny\nz"), fileOf("a.idem.yaml", "x")
	list := Diagnostics{
		f.Errorf(Pos{3, 1, 1}, "", "last"),
		f.Errorf(Pos{2, 2, 0}, "", "second column"),
		f.Errorf(Pos{2, 1, 1}, "b", "by path"),
		f.Errorf(Pos{2, 1, 1}, "a", "m"),
		f.Errorf(Pos{2, 1, 1}, "a", "m").At("x.go", 1, 1, "here"),
		f.Errorf(Pos{2, 1, 1}, "a", "m"),
		f.Errorf(Pos{2, 1, 1}, "a", "l"),
		g.Errorf(Pos{1, 1, 1}, "", "other file"),
	}
	before := list[0]
	var got []string
	for _, d := range list.Sorted() {
		got = append(got, d.Error())
	}
	want := []string{
		"a.idem.yaml:1:1: other file",
		"b.idem.yaml:2:1: a: l",
		"b.idem.yaml:2:1: a: m",
		"b.idem.yaml:2:1: a: m", // with a related place
		"b.idem.yaml:2:1: b: by path",
		"b.idem.yaml:2:2: second column",
		"b.idem.yaml:3:1: last",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if list[0] != before || len(list) != 8 {
		t.Error("Sorted changed its receiver")
	}
}

func TestErrHoldsTheErrorsAndNotTheWarnings(t *testing.T) {
	f := fileOf("a.idem.yaml", "x")
	broken := f.Errorf(Pos{1, 1, 1}, "window", "broken")
	err := Diagnostics{f.Warnf(Pos{1, 1, 1}, "", "hm"), broken}.Err()
	var d *Diagnostic
	if !errors.As(err, &d) || d != broken {
		t.Errorf("errors.As found %v", d)
	}
	if err.Error() != "a.idem.yaml:1:1: window: broken" {
		t.Errorf("got %q", err)
	}
}

func TestTheCaretStandsUnderItsText(t *testing.T) {
	for _, test := range []struct {
		name, line, mark string
		caret            string
	}{
		{"ASCII", "window: 90d", "90d", "        ^^^"},
		{"two bytes", "größe: 90d", "90d", "       ^^^"},
		{"two columns", "日本: 90d", "90d", "      ^^^"},
		{"two columns marked", "a: 日本", "日本", "   ^^^^"},
		{"combining accent", "e\u0301: 90d", "90d", "   ^^^"},
		{"emoji", "🙂: 90d", "90d", "    ^^^"},
		{"tab", "a:\t90d", "90d", "   ^^^"},
		{"control", "a\x1b: 90d", "90d", "    ^^^"},
		{"nothing", "a: ", "", "   ^"},
	} {
		t.Run(test.name, func(t *testing.T) {
			at := strings.LastIndex(test.line, test.mark)
			d := fileOf("f", test.line).Errorf(Pos{1, at + 1, len(test.mark)}, "", "m")
			lines := strings.Split(d.Text(), "\n")
			if got := strings.TrimPrefix(lines[2], "    | "); got != test.caret {
				t.Errorf("got\n%s\n%s\nwant\n    | %s", lines[1], lines[2], test.caret)
			}
			if strings.ContainsAny(lines[1], "\x1b\t") {
				t.Errorf("the source line is shown raw: %q", lines[1])
			}
		})
	}
}

func TestLongLinesAreCutAroundTheCaret(t *testing.T) {
	for _, before := range []int{0, 50, 119, 120, 121, 5000, 99990} {
		for _, filler := range []string{"a", "é", "日"} {
			line := strings.Repeat(filler, before) + "MARK" + strings.Repeat(filler, 100_000-before)
			at := before * len(filler)
			d := fileOf("f", line).Errorf(Pos{1, at + 1, 4}, "", "m")
			s := d.Snippet
			if got := s.Source[s.Start : s.Start+s.Width]; got != "MARK" {
				t.Errorf("%d × %s before: the caret is at %q", before, filler, got)
			}
			if len(s.Source) > maxSnippet+20 {
				t.Errorf("%d × %s before: %d bytes are shown", before, filler, len(s.Source))
			}
			shown := strings.Trim(s.Source, "…")
			from := at - (s.Start - len(s.Source) + len(strings.TrimPrefix(s.Source, "…")))
			if line[from:from+len(shown)] != shown {
				t.Errorf("%d × %s before: shows what is not there: %q", before, filler, s.Source)
			}
			if strings.HasPrefix(s.Source, "…") != (from > 0) || strings.HasSuffix(s.Source, "…") != (from+len(shown) < len(line)) {
				t.Errorf("%d × %s before: the marks of the cut are wrong: %q", before, filler, s.Source)
			}
			if !utf8.ValidString(s.Source) {
				t.Errorf("%d × %s before: cut within a character: %q", before, filler, s.Source)
			}
		}
	}
}

func TestAPlaceOutsideTheFileShowsNoLine(t *testing.T) {
	f := fileOf("f", "a")
	for _, pos := range []Pos{{2, 1, 1}, {-1, 1, 1}} {
		if d := f.Errorf(pos, "", "m"); d.Snippet != (Snippet{}) {
			t.Errorf("%+v shows %+v", pos, d.Snippet)
		}
	}
	if d := f.Errorf(Pos{1, 50, 50}, "", "m"); !strings.Contains(d.Text(), "| a\n    |  ^\n") {
		t.Errorf("got\n%s", d.Text())
	}
}
