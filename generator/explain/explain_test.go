package explain

import (
	"encoding/json"
	"flag"
	"math"
	"os"
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

func TestEveryGuardHasItsWords(t *testing.T) {
	words := wordsOf(t, "$defs", "effect", "properties", "guard", "enum")
	for _, g := range words {
		if _, ok := guards[contracts.Guard(g)]; !ok {
			t.Errorf("guard %s is not explained", g)
		}
	}
	if len(guards) != len(words) {
		t.Errorf("%d guards are explained and the language has %d", len(guards), len(words))
	}
}

func TestEveryNormaliserHasItsWords(t *testing.T) {
	names := []contracts.NormalizerName{contracts.MinorUnits}
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
		"ErrDone": idem.ErrDone, "ErrDead": idem.ErrDead, "ErrResultDropped": idem.ErrResultDropped, "ErrRunning": idem.ErrRunning,
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
			optional := []string{"ErrDone", "ErrPayloadMismatch"} // if the contract says so
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
