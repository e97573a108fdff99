package contracts

import (
	"fmt"
	"strings"
	"testing"
)

const smallContract = `contracts:
  order_paid:
    version: 1
    statement: An order is marked paid once per payment.
    handler: MarkPaid
    identity: {key: PaymentID}
    window: 90d
    response: {when_done: error, while_running: error, other_payload: error}
`

func TestFilesAreReadWhateverTheirLineEndings(t *testing.T) {
	crlf := strings.ReplaceAll(smallContract, "\n", "\r\n")
	for name, src := range map[string]string{
		"LF": smallContract, "CRLF": crlf, "BOM": "\uFEFF" + smallContract, "BOM and CRLF": "\uFEFF" + crlf,
		"no last line break": strings.TrimSuffix(smallContract, "\n"),
		"comments in CRLF":   strings.ReplaceAll(crlf, "1\r\n", "1 # the first\r\n\r\n# more\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			f, ds := Parse("a.idem.yaml", []byte(src))
			if len(ds) > 0 {
				t.Fatalf("refused:\n%s", ds.Text())
			}
			c := f.Contracts[0]
			if c.Kind.V != "order_paid" || c.Kind.Pos != (Pos{2, 3, 10}) || c.Version.Pos != (Pos{3, 14, 1}) {
				t.Errorf("read as %+v", c.Kind)
			}
			if line := f.Line(c.Window.Pos.Line); line != "    window: 90d" {
				t.Errorf("the line of window is %q", line)
			}
		})
	}
}

func TestPlacesAreRightWhateverTheLineEndings(t *testing.T) {
	const want = "a.idem.yaml:7:13: window: 90 has no unit (did you mean 90d?)\n  7 |     window: 90\n    |             ^^\n"
	lf := strings.Replace(smallContract, "90d", "90", 1)
	for name, src := range map[string]string{"LF": lf, "CRLF": strings.ReplaceAll(lf, "\n", "\r\n"), "BOM": "\uFEFF" + lf} {
		if _, ds := Parse("a.idem.yaml", []byte(src)); ds.Text() != want {
			t.Errorf("%s: got\n%s", name, ds.Text())
		}
	}
	if _, ds := Parse("f", []byte("\uFEFFkontracts: {}\n")); ds[0].Pos != (Pos{1, 1, 9}) {
		t.Errorf("a byte order mark is counted as a column: %+v", ds[0].Pos)
	}
}

func TestBytesThatAreNoPlainTextAreRefused(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"NUL", "a: b\x00c\n", "f:1:5: a NUL byte: this is no text file\n  1 | a: b�c\n    |     ^\n"},
		{"not UTF-8", "a: x\nb: \xe4\n", "f:2:4: not UTF-8: save the file as UTF-8\n  2 | b: �\n    |    ^\n"},
		{"UTF-16", "\xff\xfea\x00", "f:1:1: not UTF-8: save the file as UTF-8\n  1 | ��a�\n    | ^\n"},
		{"a surrogate", "a: \xed\xa0\x80\n", "f:1:4: not UTF-8: save the file as UTF-8\n  1 | a: ���\n    |    ^\n"},
		{"escape", "a: \x1b[31m\n", "f:1:4: the control character U+001B: remove it\n  1 | a: �[31m\n    |    ^\n"},
		{"DEL", "a: \x7f\n", "f:1:4: the control character U+007F: remove it\n  1 | a: �\n    |    ^\n"},
		{"NEL", "a: b\u0085c: d\n", "f:1:5: the control character U+0085: remove it\n  1 | a: b�c: d\n    |     ^\n"},
		{"line separator", "a: b\u2028c: d\n", "f:1:5: the line break U+2028: end lines with LF or CRLF\n  1 | a: b\u2028c: d\n    |     ^\n"},
		{"lone CR", "a: b\rc: d\n", "f:1:5: a carriage return within a line: end lines with LF or CRLF\n  1 | a: b�c: d\n    |     ^\n"},
		{"BOM within", "a: \uFEFFb\n", "f:1:4: a byte order mark within the file: remove it\n  1 | a: \uFEFFb\n    |    ^\n"},
		{"two BOMs", "\uFEFF\uFEFFa: b\n", "f:1:1: a byte order mark within the file: remove it\n  1 | \uFEFFa: b\n    | ^\n"},
		{"reordered text", "a: b\u202Ec\n", "f:1:5: the invisible character U+202E, which changes the order in which text is shown: remove it\n  1 | a: b�c\n    |     ^\n"},
		{"no character", "a: \uFFFE\n", "f:1:4: U+FFFE is no character: remove it\n  1 | a: \uFFFE\n    |    ^\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, ds := Parse("f", []byte(test.src))
			if got := ds.Text(); got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
			if len(f.Contracts) > 0 {
				t.Error("contracts were read")
			}
			checkDiagnostics(t, []byte(test.src), ds)
		})
	}
}

func TestTheReplacementCharacterItselfIsText(t *testing.T) {
	src := strings.Replace(smallContract, "once", "\uFFFD", 1)
	if _, ds := Parse("f", []byte(src)); len(ds) > 0 {
		t.Errorf("refused:\n%s", ds.Text())
	}
}

func TestLimits(t *testing.T) {
	many := func(n int) string {
		var b strings.Builder
		b.WriteString("contracts:\n")
		for i := range n {
			b.WriteString(strings.Replace(strings.TrimPrefix(smallContract, "contracts:\n"), "order_paid", fmt.Sprintf("kind_%d", i), 1))
		}
		return b.String()
	}
	for _, test := range []struct {
		name, src string
		contracts int
		want      string
	}{
		{"a thousand contracts", many(1000), 1000, ""},
		{"one contract more", many(1001), 1000, "f:7002:3: contracts: more than 1000 entries: split the file"},
		{"a thousand fields", strings.Replace(smallContract, "PaymentID", manyFields(1000), 1), 1, ""},
		{"one field more", strings.Replace(smallContract, "PaymentID", manyFields(1001), 1), 1, "f:6:5912: identity.key: more than 1000 entries"},
		{"a full MiB", smallContract + "#" + strings.Repeat("x", maxSource-len(smallContract)-1), 1, ""},
		{"one byte more", smallContract + "#" + strings.Repeat("x", maxSource-len(smallContract)), 0, "f: the file has 1048577 bytes; at most 1048576 (1 MiB) are read: split it"},
		{"punctuation", smallContract + "#" + strings.Repeat(",", maxPunctuation), 0, "f: the file has 120029 punctuation marks, colons counted twice; at most 120000 are read: split it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, ds := Parse("f", []byte(test.src))
			got := ""
			if len(ds) > 0 {
				got = ds[0].Error()
			}
			if got != test.want || len(ds) > 1 || len(f.Contracts) != test.contracts {
				t.Errorf("got %d contracts and %d diagnostics, the first: %s", len(f.Contracts), len(ds), got)
			}
		})
	}
}

func manyFields(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("F%d", i)
	}
	return "[" + strings.Join(names, ", ") + "]"
}

func TestAFloodOfProblemsIsCutOff(t *testing.T) {
	_, ds := Parse("f", []byte(strings.Repeat("\ta: b\n", 5000)))
	if len(ds) != maxDiagnostics+1 {
		t.Fatalf("got %d diagnostics", len(ds))
	}
	last := ds[len(ds)-1]
	if !strings.HasPrefix(last.Msg, "more than 1000 problems") {
		t.Errorf("the last says %q", last.Msg)
	}
}

func TestParseKeepsNothingOfTheSource(t *testing.T) {
	src := []byte(smallContract)
	f, _ := Parse("f", src)
	for i := range src {
		src[i] = 'x'
	}
	if f.Contracts[0].Kind.V != "order_paid" || f.Line(2) != "  order_paid:" {
		t.Error("the file changed with the caller's bytes")
	}
	if f.Line(0) != "" || f.Line(100) != "" {
		t.Error("there are lines outside the file")
	}
}
