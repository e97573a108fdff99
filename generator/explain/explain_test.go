package explain

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/idemgen/idem/contracts"
	idem "github.com/idemgen/idem/runtime"
)

var update = flag.Bool("update", false, "write the explanations into testdata; the run fails if any changed, so that somebody reads them")

const archivePath = "testdata/contracts.txtar"

// archive reads pairs of NAME.yaml and NAME.want.
func archive(t *testing.T) *txtar.Archive {
	t.Helper()
	a, err := txtar.ParseFile(archivePath)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Files) == 0 || len(a.Files)%2 != 0 {
		t.Fatalf("%d entries; they come in pairs", len(a.Files))
	}
	return a
}

// parse reads the one contract of a file.
func parse(t *testing.T, src []byte) *contracts.Contract {
	t.Helper()
	file, ds := contracts.Parse("shop/payout.idem.yaml", src)
	if ds.HasErrors() || len(file.Contracts) != 1 {
		t.Fatalf("%d contracts\n%s", len(file.Contracts), ds.Text())
	}
	return file.Contracts[0]
}

func TestContractsAreExplained(t *testing.T) {
	a := archive(t)
	changed := false
	for i := 0; i < len(a.Files); i += 2 {
		want := &a.Files[i+1]
		t.Run(strings.TrimSuffix(a.Files[i].Name, ".yaml"), func(t *testing.T) {
			c := parse(t, a.Files[i].Data)
			got := Contract(c, "shop/payout.idem.yaml:2")
			if got != string(want.Data) {
				t.Errorf("(-want +got)\n%s", cmp.Diff(string(want.Data), got))
				want.Data, changed = []byte(got), true
			}
			for line := range strings.Lines(got) {
				if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > width && !strings.HasPrefix(line, "      ") {
					t.Errorf("wider than %d characters: %s", width, line)
				}
				if strings.TrimRight(line, " ") != line || strings.Contains(line, "%!") {
					t.Errorf("ends with blanks, or was formatted wrongly: %q", line)
				}
			}
			if again := Contract(c, "shop/payout.idem.yaml:2"); again != got {
				t.Errorf("not the same when asked again:\n%s", cmp.Diff(got, again))
			}
		})
	}
	if *update && changed {
		if err := os.WriteFile(archivePath, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// words of the language that have to be explained, as the schema lists them.
func wordsOf(t *testing.T, path ...string) []string {
	t.Helper()
	src, err := contracts.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var at any
	if err := json.Unmarshal(src, &at); err != nil {
		t.Fatal(err)
	}
	for _, name := range path {
		m, ok := at.(map[string]any)
		if !ok {
			t.Fatalf("the schema has no %v", path)
		}
		at = m[name]
	}
	list, ok := at.([]any)
	if !ok || len(list) == 0 {
		t.Fatalf("the schema has no words at %v", path)
	}
	var words []string
	for _, w := range list {
		words = append(words, w.(string))
	}
	return words
}

// The texts that are said to be hashed are those of the vectors that another
// program in another language has made.
func TestTextsThatAreHashedAreThoseOfTheVectors(t *testing.T) {
	src, err := os.ReadFile("../../runtime/canon/testdata/key-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		WorkIDs []struct{ Name, Preimage string } `json:"work_ids"`
		Effects []struct {
			Name, Preimage string
			WorkID         string `json:"work_id"`
		}
	}
	if err := json.Unmarshal(src, &vectors); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, v := range vectors.WorkIDs {
		texts[v.Name] = v.Preimage
	}
	for _, v := range vectors.Effects {
		texts[v.Name] = strings.ReplaceAll(v.Preimage, v.WorkID, "<work ID>")
	}
	const rest = "    statement: It is done.\n    handler: F\n    window: 1d\n    response: {when_done: error, while_running: error, other_payload: error}\n"
	for name, test := range map[string]struct {
		kind, identity, effects string
		values                  []string // of the placeholders
	}{
		"single string key":            {"invoice", "{key: OrderID}", "", []string{"<OrderID>", "450789469"}},
		"single int key":               {"invoice", "{key: Number}", "", []string{"<Number>", "1001"}},
		"list key":                     {"lab_notification", "{key: [PatientID, ReportID, Type]}", "", []string{"<PatientID>", `"p-17"`, "<ReportID>", `"r-2209"`, "<Type>", `"lab_results_ready"`}},
		"scope and single key":         {"invoice", "{key: OrderID, scope: TenantID}", "", []string{"<TenantID>", `"acme"`, "<OrderID>", `"450789469"`}},
		"partition and offset zero":    {"consume", "{key: [Topic, Partition, Offset]}", "", []string{"<Topic>", `"orders"`, "<Partition>", "0", "<Offset>", "0"}},
		"hash, members sorted":         {"form", "{hash: {}}", "", []string{"{every exported field of the input, by its JSON name}", `{"a":1,"b":2}`}},
		"hash with scope":              {"form", "{hash: {fields: [A]}, scope: T}", "", []string{"<T>", `"acme"`, "{the JSON names and values of A}", `{"a":1}`}},
		"effect key":                   {"invoice", "{key: OrderID}", "create_payment_intent: {guard: upsert}", nil},
		"effect key, per recipient":    {"invoice", "{key: OrderID}", "notify: {guard: upsert, once_per: [Chat]}", []string{"<Chat>", `"chat-9"`}},
		"single string key, version 2": {"invoice", "{key: OrderID}\n    version: 2", "", []string{"<OrderID>", "450789469"}},
	} {
		want, ok := texts[name]
		if !ok {
			t.Errorf("there is no vector %s", name)
			continue
		}
		source := "contracts:\n  " + test.kind + ":\n    identity: " + test.identity + "\n" + rest
		if !strings.Contains(source, "version") {
			source += "    version: 1\n"
		}
		if test.effects != "" {
			source += "    effects:\n      " + test.effects + "\n"
		}
		text := strings.NewReplacer(test.values...).Replace(Contract(parse(t, []byte(source)), ""))
		if test.effects == "" {
			want = "      " + want + "\n"
		} else {
			want = "the SHA-256 of " + want + "."
			text = strings.Join(strings.Fields(text), " ")
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q is not in\n%s", name, want, text)
		}
	}
}

// A word that no contract here has is a word that nobody has explained.
func TestEveryWordOfTheLanguageIsExplained(t *testing.T) {
	src, err := contracts.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	if err := json.Unmarshal(src, &schema); err != nil {
		t.Fatal(err)
	}
	var used strings.Builder
	a := archive(t)
	for i := 0; i < len(a.Files); i += 2 {
		used.Write(a.Files[i].Data)
	}
	seen := 0
	var visit func(v any)
	visit = func(v any) {
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		words, _ := m["properties"].(map[string]any)
		for word := range words {
			seen++
			if !regexp.MustCompile(`(?m)(^|[ {])` + word + `:`).MatchString(used.String()) {
				t.Errorf("%s stands in no contract of %s: add one, and explain it", word, archivePath)
			}
		}
		for _, v := range m {
			visit(v)
		}
	}
	visit(schema)
	if seen < 40 {
		t.Errorf("only %d words were looked at", seen)
	}
}

func TestEveryGuardHasItsWords(t *testing.T) {
	words := wordsOf(t, "$defs", "effect", "properties", "guard", "enum")
	for _, g := range words {
		if _, ok := guards[contracts.Guard(g)]; !ok {
			t.Errorf("guard %s is not explained", g)
		}
	}
	if _, ok := guards[contracts.ChildWork]; !ok {
		t.Error("work as an effect is not explained")
	}
	if words = append(words, string(contracts.ChildWork)); len(guards) != len(words) {
		t.Errorf("%d guards are explained and the language has %d", len(guards), len(words))
	}
}

func TestEveryNormaliserHasItsWords(t *testing.T) {
	names := []contracts.NormalizerName{contracts.MinorUnits, contracts.DropParams}
	src, err := os.ReadFile("../../docs/contract.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []contracts.NormalizerName{contracts.Exact, contracts.Trim, contracts.Lower, contracts.CollapseSpace, contracts.Digits, contracts.Email,
		contracts.URL, contracts.Second, contracts.Millisecond, contracts.Microsecond, contracts.Nanosecond} {
		if !strings.Contains(string(src), `"`+string(n)+`"`) {
			t.Errorf("%s is no word of the schema", n)
		}
		names = append(names, n)
	}
	for _, n := range names {
		if s := step(contracts.Normalizer{Name: n, Digits: 2}); strings.HasPrefix(s, "the normaliser") {
			t.Errorf("%s is not explained", n)
		}
	}
}

// The pauses that are named and the schedule that is named are one figure.
func TestPausesAddUpToTheSchedule(t *testing.T) {
	a := archive(t)
	for i := 0; i < len(a.Files); i += 2 {
		c := parse(t, a.Files[i].Data)
		n := c.Retry.MaxAttempts.V
		sum := time.Duration(n)*c.Timeout.V + time.Duration(n-1)*c.Lease.V
		for k := 2; k <= n; k++ {
			sum += pause(c, k)
		}
		if off := (sum - c.RetrySchedule()).Abs(); off > time.Microsecond {
			t.Errorf("%s: the pauses make %s, the schedule is %s", a.Files[i].Name, sum, c.RetrySchedule())
		}
	}
}

func TestAcknowledgeTableIsTheRuntimes(t *testing.T) {
	reasons := map[string]error{
		"ErrDone": idem.ErrDone, "ErrDead": idem.ErrDead, "ErrSuperseded": idem.ErrSuperseded, "ErrResultDropped": idem.ErrResultDropped, "ErrUnreadable": idem.ErrUnreadable, "ErrRunning": idem.ErrRunning,
		"ErrRetryLater": idem.ErrRetryLater, "ErrOutcomeUnknown": idem.ErrOutcomeUnknown, "ErrEffectDiverged": idem.ErrEffectDiverged,
		"ErrAwaitingApproval": idem.ErrAwaitingApproval, "ErrPayloadMismatch": idem.ErrPayloadMismatch, "ErrIdentity": idem.ErrIdentity,
		"ErrLeaseLost": idem.ErrLeaseLost, "ErrLedger": idem.ErrLedger, "ErrSchema": idem.ErrSchema, "ErrClosed": idem.ErrClosed, "ErrContract": idem.ErrContract,
	}
	a := archive(t)
	for i := 0; i < len(a.Files); i += 2 {
		_, table, ok := strings.Cut(Contract(parse(t, a.Files[i].Data), ""), "WHEN TO ACKNOWLEDGE A DELIVERY")
		if !ok {
			t.Fatal("no table")
		}
		told := map[string]bool{}
		answer := ""
		for line := range strings.Lines(table) {
			if strings.Contains(line, "acknowledged") || !strings.HasPrefix(line, "    ") {
				continue
			}
			fields := strings.Fields(line)
			if last := fields[len(fields)-1]; last == "yes" || last == "no" {
				answer = last
			}
			for _, f := range fields {
				reason := reasons[strings.TrimSuffix(f, ",")]
				if reason == nil {
					continue
				}
				told[strings.TrimSuffix(f, ",")] = true
				if want := idem.ShouldAck(&idem.Error{Reason: reason}); want != (answer == "yes") {
					t.Errorf("%s: %s is explained with %s, and ShouldAck says %v", a.Files[i].Name, f, answer, want)
				}
			}
		}
		for name := range reasons {
			optional := []string{"ErrDone", "ErrPayloadMismatch", "ErrSuperseded"} // if the contract says so
			if name == "ErrSuperseded" && told[name] != parse(t, a.Files[i].Data).Latest.Set {
				t.Errorf("%s: %s is explained: %t", a.Files[i].Name, name, told[name])
			}
			if !told[name] && !slices.Contains(optional, name) {
				t.Errorf("%s: %s is missing", a.Files[i].Name, name)
			}
		}
	}
}

func TestDurationsInWords(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		90 * 24 * time.Hour:     {"90 days", "90 days"},
		36 * time.Hour:          {"1 day 12 hours", "1 day 12 hours"},
		time.Second:             {"1 second", "1 second"},
		1500 * time.Millisecond: {"1 second 500 milliseconds", "1 second 500 milliseconds"},
		24*time.Hour + 1:        {"1 day 1 nanosecond", "1 day 1 hour"},
		2*time.Minute - 1:       {"1 minute 59 seconds 999 milliseconds 999 microseconds 999 nanoseconds", "2 minutes"},
		5:                       {"5 nanoseconds", "5 nanoseconds"},
		0:                       {"0 seconds", "0 seconds"},
	} {
		if got := [2]string{span(d), about(d)}; got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
	}
	if got := about(math.MaxInt64); got != "more than 290 years" {
		t.Errorf("the longest schedule is %s", got)
	}
}
