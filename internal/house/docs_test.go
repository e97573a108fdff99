package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idemgen/idem/contracts"
	idem "github.com/idemgen/idem/runtime"
)

const root = "../.."

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks are the fenced code blocks of a language, in order.
func blocks(text, language string) []string {
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// section is the text below a heading, up to the next heading of any level.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, after, found := strings.Cut("\n"+text, "\n"+heading+"\n")
	if !found {
		t.Fatalf("no heading %q", heading)
	}
	if end := regexp.MustCompile(`(?m)^#+ `).FindStringIndex(outsideCode(after)); end != nil {
		after = after[:end[0]]
	}
	return after
}

// outsideCode blanks code blocks, whose comments look like headings.
func outsideCode(text string) string {
	return regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
}

var code = regexp.MustCompile("`([^`]+)`")

// rows are the body rows of the tables of a text, cell by cell.
func rows(text string) [][]string {
	var found [][]string
	body := false
	for line := range strings.Lines(outsideCode(text)) {
		line = strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(line, "|"):
			body = false
		case strings.HasPrefix(line, "| ---"):
			body = true
		case body:
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			found = append(found, cells)
		}
	}
	return found
}

// firstWords are the words of code in the first column.
func firstWords(text string) []string {
	var words []string
	for _, row := range rows(text) {
		for _, m := range code.FindAllStringSubmatch(row[0], -1) {
			words = append(words, m[1])
		}
	}
	slices.Sort(words)
	return words
}

// sample is a contract into which one line is put at a time.
const sample = `contracts:
  k:
    version: 1
    statement: S.
    handler: H
    CONTRACT
    identity: {IDENTITY}
    window: 1d
    response: {RESPONSE}
    retry: {RETRY}
    effects: {e: {EFFECT}}
`

// fill makes a contract file of sample, with other text in one place.
func fill(place, text string) string {
	usual := map[string]string{
		"CONTRACT": "lease: 2m", "IDENTITY": "key: F", "RESPONSE": "when_done: error, while_running: error, other_payload: error",
		"RETRY": "by: redelivery", "EFFECT": "guard: read",
	}
	usual[place] = text
	src := sample
	for name, value := range usual {
		src = strings.Replace(src, name, value, 1)
	}
	return src
}

func diagnose(src string) string {
	_, diagnostics := contracts.Parse("a.idem.yaml", []byte(src))
	var all strings.Builder
	for _, d := range diagnostics {
		all.WriteString(d.Msg + "\n")
	}
	return all.String()
}

func TestTheSampleIsAValidContract(t *testing.T) {
	if msg := diagnose(fill("", "")); msg != "" {
		t.Fatal(msg)
	}
}

// known are the words that the parser offers when it gets a wrong one.
func known(t *testing.T, place, text, before string) []string {
	t.Helper()
	msg := diagnose(fill(place, text))
	_, list, found := strings.Cut(msg, before)
	list, _, ended := strings.Cut(list, "\n")
	if !found || !ended {
		t.Fatalf("no list of words in %q", msg)
	}
	list, _, _ = strings.Cut(list, "; got")
	words := strings.Split(strings.NewReplacer(" or ", ", ").Replace(list), ", ")
	slices.Sort(words)
	return words
}

func TestTheContractPageNamesWhatTheParserTakes(t *testing.T) {
	page := read(t, "docs/contract.md")
	cases := []struct{ heading, table, place, text, before string }{
		{"## Contract", "key", "CONTRACT", "nosuch: 1", "known here: "},
		{"## Identity", "key", "IDENTITY", "key: F, nosuch: 1", "known here: "},
		{"## Identity", "normaliser", "IDENTITY", "key: F, normalize: {F: [nosuch]}", "want "},
		{"## Latest", "key", "CONTRACT", "latest: {nosuch: 1}", "known here: "},
		{"## Window", "key", "CONTRACT", "window: {nosuch: 1}", "known here: "},
		{"## Response", "key", "RESPONSE", "nosuch: 1, when_done: error, while_running: error, other_payload: error", "known here: "},
		{"## Retry", "key", "RETRY", "nosuch: 1", "known here: "},
		{"## Effects", "key", "EFFECT", "guard: read, nosuch: 1", "known here: "},
		{"### Guards", "guard", "EFFECT", "guard: nosuch", "want "},
	}
	for _, c := range cases {
		t.Run(c.heading+" "+c.table, func(t *testing.T) {
			text := section(t, page, c.heading)
			start := strings.Index(text, "| "+c.table+" |")
			if start < 0 {
				t.Fatalf("no table of each %s", c.table)
			}
			table, _, _ := strings.Cut(text[start:], "\n\n")
			if got, want := firstWords(table), known(t, c.place, c.text, c.before); !slices.Equal(got, want) {
				t.Errorf("the page names %v\nthe parser takes %v", got, want)
			}
		})
	}
}

func TestTheContractPageNamesWhatIsNotSupportedYet(t *testing.T) {
	var page []string
	for _, row := range rows(section(t, read(t, "docs/contract.md"), "## Not supported yet")) {
		// What stands in brackets is what to use instead.
		for _, m := range code.FindAllStringSubmatch(regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(row[1], ""), -1) {
			page = append(page, m[1])
		}
	}
	slices.Sort(page)
	words := unsupportedWords(t)
	if page = slices.Compact(page); !slices.Equal(page, words) {
		t.Errorf("the page names %v\nthe parser refuses %v", page, words)
	}
}

// unsupportedWords are the literals that the parser passes to unsupported, and
// those after the supported ones that it passes to word.
func unsupportedWords(t *testing.T) []string {
	t.Helper()
	var words []string
	parsed, err := filepath.Glob(filepath.Join(root, "contracts", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range parsed {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if name, ok := call.Fun.(*ast.Ident); !ok || name.Name != "unsupported" && name.Name != "word" {
				return true
			}
			for _, arg := range call.Args {
				if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					word, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					words = append(words, word)
				}
			}
			return true
		})
	}
	slices.Sort(words)
	return slices.Compact(words)
}

func TestContractsInTheDocsAreValid(t *testing.T) {
	for _, page := range []string{"README.md", "docs/contract.md"} {
		found := blocks(read(t, page), "yaml")
		if len(found) == 0 {
			t.Errorf("%s has no contract", page)
		}
		for i, block := range found {
			if msg := diagnose(block); msg != "" {
				t.Errorf("%s, contract %d: %s", page, i+1, msg)
			}
		}
	}
}

// errs are the package's errors; TestTheErrorsPageHoldsAllErrors holds them to
// be all.
var errs = map[string]error{
	"ErrRunning": idem.ErrRunning, "ErrDone": idem.ErrDone, "ErrRetryLater": idem.ErrRetryLater, "ErrDead": idem.ErrDead, "ErrSuperseded": idem.ErrSuperseded,
	"ErrOutcomeUnknown": idem.ErrOutcomeUnknown, "ErrAwaitingApproval": idem.ErrAwaitingApproval,
	"ErrPayloadMismatch": idem.ErrPayloadMismatch, "ErrEffectDiverged": idem.ErrEffectDiverged,
	"ErrEffectRefused": idem.ErrEffectRefused, "ErrEffectFailed": idem.ErrEffectFailed, "ErrGivenUp": idem.ErrGivenUp,
	"ErrLeaseLost": idem.ErrLeaseLost, "ErrResultDropped": idem.ErrResultDropped, "ErrIdentity": idem.ErrIdentity,
	"ErrInTransaction": idem.ErrInTransaction, "ErrRunOver": idem.ErrRunOver, "ErrLedger": idem.ErrLedger,
	"ErrSchema": idem.ErrSchema, "ErrClosed": idem.ErrClosed, "ErrContract": idem.ErrContract,
	"ErrKey": idem.ErrKey, "ErrKindTaken": idem.ErrKindTaken,
	"ErrUnreadable": idem.ErrUnreadable, "ErrTampered": idem.ErrTampered,
	"ErrNoWork": idem.ErrNoWork, "ErrChanged": idem.ErrChanged, "ErrTooEarly": idem.ErrTooEarly, "ErrDecision": idem.ErrDecision,
}

func TestTheErrorsPageHoldsAllErrors(t *testing.T) {
	page := read(t, "docs/errors.md")
	var named []string
	for _, heading := range []string{"## What Do returns", "## Deciding about unknown work", "## What the effects return inside the handler"} {
		named = append(named, firstWords(section(t, page, heading))...)
	}
	slices.Sort(named)
	var declared []string
	for _, m := range regexp.MustCompile(`(?m)^\t(Err\w+) += errors\.New`).FindAllStringSubmatch(read(t, "runtime/errors.go"), -1) {
		declared = append(declared, m[1])
		if errs[m[1]] == nil {
			t.Errorf("the test does not know %s", m[1])
		}
	}
	slices.Sort(declared)
	if named = slices.Compact(named); !slices.Equal(named, declared) {
		t.Errorf("the page names %v\nthe package has %v", named, declared)
	}
}

func TestTheErrorsPageSaysWhatIsAcknowledged(t *testing.T) {
	seen := 0
	for _, row := range rows(section(t, read(t, "docs/errors.md"), "## What Do returns")) {
		var err error
		if m := code.FindStringSubmatch(row[0]); m != nil {
			err = &idem.Error{Reason: errs[m[1]]}
		}
		seen++
		if want := map[string]bool{"yes": true, "no": false}[row[2]]; idem.ShouldAck(err) != want {
			t.Errorf("%s: the page says %s", row[0], row[2])
		}
		if acked := strings.HasPrefix(row[3], "2"); acked != idem.ShouldAck(err) {
			t.Errorf("%s: the page answers %s", row[0], row[3])
		}
	}
	if seen < 10 {
		t.Errorf("only %d rows were seen", seen)
	}
}

func TestAnExplanationNamesAllErrorsOfDo(t *testing.T) {
	explained := read(t, "generator/explain/testdata/contracts.txtar")
	for _, name := range firstWords(section(t, read(t, "docs/errors.md"), "## What Do returns")) {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(explained) {
			t.Errorf("no explanation names %s", name)
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
)

func TestLinksInTheDocsLeadSomewhere(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	readmes, err := filepath.Glob(filepath.Join(root, "*", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, readmes...)
	pages = append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "examples", "invoicing", "README.md"))
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(outsideCode(string(text)), "code"), -1) {
			if !strings.Contains(m[1], "://") {
				follow(t, page, m[1])
			}
		}
	}
}

// follow looks for the file and the heading that a link leads to.
func follow(t *testing.T, page, target string) {
	t.Helper()
	file, anchor, _ := strings.Cut(target, "#")
	path := page
	if file != "" {
		path = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
	}
	text, err := os.ReadFile(path)
	if anchor == "" {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: the link %s leads nowhere", page, target)
		}
		return
	}
	for _, m := range heading.FindAllStringSubmatch(outsideCode(string(text)), -1) {
		if anchorOf(m[1]) == anchor {
			return
		}
	}
	t.Errorf("%s: the link %s leads to no heading (%v)", page, target, err)
}

// anchorOf is the anchor that a heading gets on a web page.
func anchorOf(heading string) string {
	heading = regexp.MustCompile(`[^\p{L}\p{Nd} _-]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(heading, " ", "-")
}
