package contracts

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	"gopkg.in/yaml.v3"
)

// testdata/valid.txtar holds pairs of NAME.yaml and NAME.want: what is read,
// and where each answer stands.
func TestEachAnswerIsReadWithItsPlace(t *testing.T) {
	testArchive(t, "testdata/valid.txtar", func(t *testing.T, src []byte) string {
		f, ds := Parse(archivePath, src)
		if len(ds) > 0 {
			t.Fatalf("refused:\n%s", ds.Text())
		}
		var b strings.Builder
		for _, c := range f.Contracts {
			dump(&b, "", "contract", reflect.ValueOf(*c))
		}
		return b.String()
	})
}

// dump writes a value of the model: answers that are in the file with their
// places, others as defaults.
func dump(b *strings.Builder, indent, name string, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Pointer:
		dump(b, indent, name, v.Elem())
	case v.Type() == reflect.TypeFor[Pos]():
	case strings.HasPrefix(v.Type().Name(), "Value["):
		pos := v.FieldByName("Pos").Interface().(Pos)
		place := "absent"
		if v.FieldByName("Set").Bool() {
			place = fmt.Sprintf("%d:%d+%d", pos.Line, pos.Column, pos.Width)
		}
		text := fmt.Sprintf("%v", v.FieldByName("V").Interface())
		if s, ok := v.FieldByName("V").Interface().(string); ok {
			text = fmt.Sprintf("%q", s)
		}
		fmt.Fprintf(b, "%s%s: %s (%s)\n", indent, name, text, place)
	case v.Kind() == reflect.Struct:
		fmt.Fprintf(b, "%s%s:\n", indent, name)
		for i := range v.NumField() {
			dump(b, indent+"  ", v.Type().Field(i).Name, v.Field(i))
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			dump(b, indent, fmt.Sprintf("%s[%d]", name, i), v.Index(i))
		}
	default:
		fmt.Fprintf(b, "%s%s: %v\n", indent, name, v.Interface())
	}
}

func TestNoSlipIsSeenInGoodYAML(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/valid.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range archive.Files {
		if strings.HasSuffix(in.Name, ".yaml") {
			checkNoSlip(t, string(in.Data))
		}
	}
	for _, src := range []string{
		"a:\n- b\n- c\nd: e\n", "a:\n  - b: c\n    d: e\n  - f\n", "a:\n  b\n  c\nd: e\n", "a: b\n  c\n  d\ne: f\n",
		"a: |\n   b: c: d\n\n     e\nf: g\n", "a: >-\n\n  ]\nb: 'c''d'\n", "a: \"b\n  c: d\n  e\"\nf: g\n", "- - a\n  - b\n- c\n", "a: b#c\n", "a: b # c: d\n",
		"\"a: b\": c\n", "a: [b, 'c]', \"d\\\"]\"]\n", "a: {b: c, d: [e,\n f]}\ng: h\n", "a:\n  b:\n    c: d\ne: f\n", "# a: b: c\na: b\n", "a: it's\n", "a: b, c]\n", "--- \na: b\n...\n", "a: http://b\n",
	} {
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(src), &n); err != nil {
			t.Fatalf("the test's own YAML is broken: %v\n%s", err, src)
		}
		checkNoSlip(t, src)
	}
}

func TestThePlaceOfAnAnswerHoldsItsText(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/valid.txtar")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, in := range archive.Files {
		if !strings.HasSuffix(in.Name, ".yaml") || in.Name == "quoted.yaml" {
			continue
		}
		f, _ := Parse(in.Name, in.Data)
		eachString(reflect.ValueOf(f.Contracts), func(v Value[string]) {
			line := f.Line(v.Pos.Line)
			got := line[v.Pos.Column-1 : v.Pos.Column-1+v.Pos.Width]
			if strings.Contains(v.V, "\n") || strings.Contains(got, `"`) {
				return
			}
			if checked++; got != v.V {
				t.Errorf("%s: %q stands at %+v, where the file has %q", in.Name, v.V, v.Pos, got)
			}
		})
	}
	if checked < 100 {
		t.Errorf("only %d answers were looked at", checked)
	}
}

// eachString calls f with the texts of the model that are in the file.
func eachString(v reflect.Value, f func(Value[string])) {
	if s, ok := v.Interface().(Value[string]); ok {
		if s.Set {
			f(s)
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		eachString(v.Elem(), f)
	case reflect.Slice:
		for i := range v.Len() {
			eachString(v.Index(i), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			eachString(v.Field(i), f)
		}
	}
}

func TestNoDefaultIsZero(t *testing.T) {
	var c Contract
	c.defaults()
	for name, zero := range map[string]bool{
		"max_attempts":       c.Retry.MaxAttempts.V == 0,
		"backoff.initial":    c.Retry.Backoff.Initial.V == 0,
		"backoff.max":        c.Retry.Backoff.Max.V == 0,
		"backoff.multiplier": c.Retry.Backoff.Multiplier.V == 0,
		"lease":              c.Lease.V == 0,
		"timeout":            c.Timeout.V == 0,
		"by":                 c.Retry.By.V == "",
	} {
		if zero {
			t.Errorf("the default of %s is zero, which somebody will take for no limit", name)
		}
	}
}

func TestRetryScheduleIsTheLongestPossible(t *testing.T) {
	contract := func(attempts int, initial, limit time.Duration, multiplier float64, lease, timeout time.Duration) *Contract {
		var c Contract
		c.Retry.MaxAttempts.V, c.Lease.V, c.Timeout.V = attempts, lease, timeout
		c.Retry.Backoff.Initial.V, c.Retry.Backoff.Max.V, c.Retry.Backoff.Multiplier.V = initial, limit, multiplier
		return &c
	}
	var defaults Contract
	defaults.defaults()
	for _, test := range []struct {
		name string
		c    *Contract
		want time.Duration
	}{
		{"one attempt", contract(1, time.Second, time.Minute, 2, time.Hour, time.Second), time.Second},
		{"two attempts", contract(2, time.Second, time.Minute, 2, time.Minute, time.Second), 2*time.Second + time.Minute + time.Second},
		{"defaults", &defaults, 50*time.Minute + 8*time.Minute + 15*time.Second},
		{"capped backoff", contract(5, time.Second, 3*time.Second, 2, time.Second, time.Second), 5*time.Second + 4*time.Second + (1+2+3+3)*time.Second},
		{"steady backoff", contract(1000, time.Second, time.Minute, 1, time.Second, time.Second), 1000*time.Second + 2*999*time.Second},
		{"steep backoff does not overflow", contract(1000, time.Second, time.Minute, 10, time.Second, time.Second), (1000 + 999 + 1 + 10 + 60*997) * time.Second},
		{"too long for a duration", contract(1000, MaxDuration, MaxDuration, 10, time.Hour, MaxDuration), math.MaxInt64},
		{"no attempt", contract(0, time.Second, time.Minute, 2, time.Second, time.Second), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.c.RetrySchedule(); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestHandlersAreTakenApart(t *testing.T) {
	for text, want := range map[string]Handler{
		"MarkPaid":           {Name: "MarkPaid"},
		"markPaid":           {Name: "markPaid"},
		"(*Orders).MarkPaid": {Receiver: "Orders", Pointer: true, Name: "MarkPaid"},
		"(Orders).MarkPaid":  {Receiver: "Orders", Name: "MarkPaid"},
		"(*größe).Über":      {Receiver: "größe", Pointer: true, Name: "Über"},
	} {
		got, ok := ParseHandler(text)
		if !ok || got != want {
			t.Errorf("%s: got %+v, %v", text, got, ok)
		}
		if got.String() != text {
			t.Errorf("%s is written as %s", text, got)
		}
	}
	for _, text := range []string{"", "Orders.MarkPaid", "*Orders.MarkPaid", "(Orders)MarkPaid", "(**Orders).MarkPaid", "(*).MarkPaid", "(*Orders).", "func", "(*type).F", "_", "F()", "(*a.Orders).F", "F\n", " F"} {
		if h, ok := ParseHandler(text); ok {
			t.Errorf("%q was read as %+v", text, h)
		}
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90d": 90 * 24 * time.Hour, "1w": 7 * 24 * time.Hour, "1d12h": 36 * time.Hour, "1.5h": 90 * time.Minute, "1w2d3h4m5s6ms7us8ns": 219*time.Hour + 4*time.Minute + 5*time.Second + 6*time.Millisecond + 7*time.Microsecond + 8,
		"0s": 0, "36525d": MaxDuration, "0.5d": 12 * time.Hour, "2µs": 2000, "2μs": 2000, "1m1h": 61 * time.Minute,
	} {
		if got, fault := parseDuration(text); fault != noFault || got != want {
			t.Errorf("%s: got %v, %v; want %v", text, got, fault, want)
		}
	}
	for text, want := range map[string]durationFault{
		"": malformed, "d": malformed, "90": noUnit, "1.5": noUnit, "-1d": malformed, "+1d": malformed, "1y": malformed, "1 d": malformed, "1d 2h": malformed, ".5d": malformed, "1.d": malformed, "1e3s": malformed, "1_0s": malformed, "1D": malformed, "٣d": malformed,
		"36525d1ns": tooLong, "99999999999999999999d": tooLong, "876601h": tooLong, "36525d36525d36525d": tooLong, "5217.8w": noFault, "5218w": tooLong,
		strings.Repeat("1h", 51): malformed,
	} {
		if got, fault := parseDuration(text); fault != want {
			t.Errorf("%q: got %v, fault %v; want fault %v", text, got, fault, want)
		}
	}
}

func TestEffectsAreFoundByNameAndMethod(t *testing.T) {
	c := &Contract{Effects: []*Effect{{Name: Value[string]{V: "crm_id"}}, {Name: Value[string]{V: "send_receipt"}}}}
	if e := c.Effect("send_receipt"); e == nil || c.EffectByMethod("SendReceipt") != e {
		t.Errorf("send_receipt and SendReceipt are not the same effect: %v", e)
	}
	if e := c.EffectByMethod("CRMID"); e == nil || e.Name.V != "crm_id" || e.CallName() != "crmID" {
		t.Errorf("CRMID is not crm_id: %v", e)
	}
	if c.Effect("SendReceipt") != nil || c.EffectByMethod("send_receipt") != nil || c.EffectByMethod("CrmId") != nil {
		t.Error("an effect was found under a name that is not its own")
	}
}
