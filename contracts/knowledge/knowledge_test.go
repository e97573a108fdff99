package knowledge

import (
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

var wellFormed = regexp.MustCompile(`^[a-z][a-z0-9_]{1,30}$`)

// compiled is the day before which no source of these tables was read.
var compiled = time.Date(2026, time.November, 29, 0, 0, 0, 0, time.UTC)

func checkNames(t *testing.T, names []string) {
	t.Helper()
	if !slices.IsSorted(names) {
		t.Errorf("names are not in order: %v", names)
	}
	for i, name := range names {
		if !wellFormed.MatchString(name) {
			t.Errorf("%q is no well-formed name", name)
		}
		if i > 0 && names[i-1] == name {
			t.Errorf("%s has two rows", name)
		}
	}
}

// checkSources reports whether one of them was read.
func checkSources(t *testing.T, name string, sources []Source) bool {
	t.Helper()
	if len(sources) == 0 {
		t.Errorf("%s: no source", name)
	}
	wasRead := false
	seen := map[string]bool{}
	for _, s := range sources {
		u, err := url.Parse(s.URL)
		if err != nil || u.Scheme != "https" || !strings.Contains(u.Host, ".") || u.RawQuery != "" || u.User != nil {
			t.Errorf("%s: %q is no plain https address", name, s.URL)
		}
		if seen[s.URL] {
			t.Errorf("%s: %s is given twice", name, s.URL)
		}
		seen[s.URL] = true
		if s.Read == "" {
			continue
		}
		wasRead = true
		on, err := time.Parse(time.DateOnly, s.Read)
		if err != nil || on.Before(compiled) {
			t.Errorf("%s: %q is no day on which %s can have been read", name, s.Read, s.URL)
		}
	}
	return wasRead
}

// checkText holds prose to what a Markdown table can show.
func checkText(t *testing.T, name, what, text string, required bool) {
	t.Helper()
	if required && text == "" {
		t.Errorf("%s: %s is empty", name, what)
	}
	if strings.TrimSpace(text) != text || strings.ContainsAny(text, "|\n\t<>") {
		t.Errorf("%s: %s has characters that a table cannot hold: %q", name, what, text)
	}
	for _, r := range text {
		if unicode.IsControl(r) || r == utf8.RuneError {
			t.Errorf("%s: %s has %q", name, what, r)
		}
	}
}

func checkSpan(t *testing.T, name, what string, s Span, least, most time.Duration) {
	t.Helper()
	d, stated := s.Get()
	if stated && !s.Endless() && (d < least || d > most) {
		t.Errorf("%s: %s of %s is not within %s and %s", name, what, s, least, most)
	}
}

func TestEveryDeliverySystemIsCompleteAndSane(t *testing.T) {
	names := DeliveryNames()
	checkNames(t, names)
	for i, d := range Deliveries() {
		if d.Name != names[i] {
			t.Errorf("row %d is %s, want %s", i, d.Name, names[i])
		}
		checkText(t, d.Name, "title", d.Title, true)
		checkText(t, d.Name, "what", d.What, true)
		checkText(t, d.Name, "schedule", d.Schedule, true)
		checkText(t, d.Name, "acknowledged", d.Acknowledged, true)
		checkText(t, d.Name, "notes", d.Notes, false)
		checkSpan(t, d.Name, "horizon", d.Horizon, time.Minute, 31*day)
		checkSpan(t, d.Name, "ack_within", d.AckWithin, time.Second, 15*time.Minute)
		if d.Horizon.Endless() || d.AckWithin.Endless() {
			t.Errorf("%s: nothing is delivered or awaited for ever", d.Name)
		}
		if !checkSources(t, d.Name, d.Sources) && (d.Horizon.Stated() || d.AckWithin.Stated()) {
			t.Errorf("%s: figures without a page that was read", d.Name)
		}
		if !d.Horizon.Stated() && !strings.Contains(d.Notes, "set") && !strings.Contains(d.Notes, "redelivers_for") {
			t.Errorf("%s: no horizon, and the notes do not say what decides it", d.Name)
		}
	}
}

func TestEveryProviderIsCompleteAndSane(t *testing.T) {
	names := ProviderNames()
	checkNames(t, names)
	guards := []Guard{IdempotencyKey, Upsert, FindFirst, Once, Repeatable, Read}
	for i, p := range Providers() {
		if p.Name != names[i] {
			t.Errorf("row %d is %s, want %s", i, p.Name, names[i])
		}
		checkText(t, p.Name, "title", p.Title, true)
		checkText(t, p.Name, "what", p.What, true)
		checkText(t, p.Name, "unique", p.Unique, false)
		checkText(t, p.Name, "search", p.Search, false)
		checkText(t, p.Name, "notes", p.Notes, false)
		checkText(t, p.Name, "charset", p.Key.Charset, false)
		if p.Moves == 0 || p.Moves > Money|Inbox|State {
			t.Errorf("%s: it is not said what it moves", p.Name)
		}
		if !slices.Contains(guards, p.Guard) {
			t.Errorf("%s: %q is no guard", p.Name, p.Guard)
		}
		checkSpan(t, p.Name, "memory", p.Key.Remembered, time.Minute, 365*day)
		checkSpan(t, p.Name, "lag of the search", p.SearchLag, time.Second, time.Hour)
		k := p.Key
		figures := k.Remembered.Stated() || k.MinLength > 0 || k.MaxLength > 0 || k.Errors != ReplaysNotStated || p.SearchLag.Stated()
		if !checkSources(t, p.Name, p.Sources) && figures {
			t.Errorf("%s: figures without a page that was read", p.Name)
		}
		checkKey(t, p)
		checkGuard(t, p)
	}
}

func checkKey(t *testing.T, p Provider) {
	t.Helper()
	k := p.Key
	if !p.HasKey() {
		if k != (Key{}) {
			t.Errorf("%s: facts about a key that does not exist: %+v", p.Name, k)
		}
		return
	}
	if k.Name == "" {
		t.Errorf("%s: the key has no name", p.Name)
	}
	n, ok := k.Format.Length()
	switch {
	case !ok:
		t.Errorf("%s: %q is no key_format", p.Name, k.Format)
	case k.MaxLength > 0 && n > k.MaxLength:
		t.Errorf("%s: a key of format %s has %d characters, more than %d", p.Name, k.Format, n, k.MaxLength)
	case k.Format == "hex" && k.MaxLength == 0:
		t.Errorf("%s: hex is long; without a stated maximum a uuid is the safe format", p.Name)
	case n < k.MinLength:
		t.Errorf("%s: a key of format %s has %d characters, fewer than %d", p.Name, k.Format, n, k.MinLength)
	case strings.HasPrefix(string(k.Format), "base62:") && n < 20:
		t.Errorf("%s: %d characters of base62 are fewer than 119 bits", p.Name, n)
	}
}

// checkGuard holds the advice to what the row knows.
func checkGuard(t *testing.T, p Provider) {
	t.Helper()
	switch p.Guard {
	case IdempotencyKey:
		if !p.HasKey() {
			t.Errorf("%s: the guard needs a key", p.Name)
		}
		if d, stated := p.Key.Remembered.Get(); stated && d < 30*time.Minute {
			t.Errorf("%s: a memory of %s cannot carry the guard", p.Name, p.Key.Remembered)
		}
	case Upsert:
		if p.Unique == "" {
			t.Errorf("%s: the guard needs a unique field", p.Name)
		}
	case FindFirst:
		if p.Search == "" {
			t.Errorf("%s: the guard needs a search", p.Name)
		}
	case Repeatable, Read:
		if p.Moves != State {
			t.Errorf("%s: what moves %s is not harmless to repeat", p.Name, p.Moves)
		}
	}
}

func TestWhatPaysIsMarkedAsMoney(t *testing.T) {
	paying := []string{
		"adyen", "amazon_pay", "braintree", "checkout", "column", "fintoc", "gocardless", "increase", "lob",
		"mangopay", "modern_treasury", "mollie", "paypal", "plaid", "qonto", "razorpay", "shopify", "square",
		"stripe", "truelayer", "wise", "worldline",
	}
	var marked []string
	for _, p := range Providers() {
		if p.MovesMoney() {
			marked = append(marked, p.Name)
			// give_up is refused for money: only these three leave no payment undecided.
			if p.Guard != IdempotencyKey && p.Guard != Upsert && p.Guard != FindFirst {
				t.Errorf("%s: %s could lose or repeat a payment", p.Name, p.Guard)
			}
		}
	}
	if !slices.Equal(marked, paying) {
		t.Errorf("marked as money:\n%v\nwant:\n%v", marked, paying)
	}
}

func TestRequiredRowsAreThere(t *testing.T) {
	for _, name := range []string{
		"stripe", "shopify", "github", "slack", "sqs", "pubsub", "telegram", "twilio", "svix", "sendgrid",
		"paddle", "cron", "manual", "kafka", "rabbitmq", "nats",
	} {
		if d, ok := DeliveryNamed(name); !ok || d.Name != name {
			t.Errorf("no delivery system %s", name)
		}
	}
	if n := len(Providers()); n < 30 {
		t.Errorf("%d providers, want at least 30", n)
	}
	for _, name := range []string{"Stripe", "", "stripe ", "nobody"} {
		if _, ok := DeliveryNamed(name); ok {
			t.Errorf("there is a delivery system %q", name)
		}
		if _, ok := ProviderNamed(name); ok {
			t.Errorf("there is a provider %q", name)
		}
	}
}

func TestBrokersHaveNoKnownHorizonAndAPersonHasThirtyDays(t *testing.T) {
	for _, name := range []string{"kafka", "rabbitmq", "nats"} {
		if d, _ := DeliveryNamed(name); d.Horizon.Stated() {
			t.Errorf("%s has a horizon of %s; its retention is set by whoever runs it", name, d.Horizon)
		}
	}
	for _, d := range Deliveries() {
		if byDesign := d.Name == "manual" || d.Name == "cron"; d.ByDesign != byDesign {
			t.Errorf("%s: ByDesign is %t", d.Name, d.ByDesign)
		}
	}
	manual, _ := DeliveryNamed("manual")
	if h, ok := manual.Horizon.Get(); !ok || h != 30*day {
		t.Errorf("manual has a horizon of %s", manual.Horizon)
	}
}

// Figures that hold somebody's money are written here a second time, so that a
// slip in the table does not pass.
func TestMemoriesAreThoseOfTheSources(t *testing.T) {
	want := map[string]string{
		"adyen": "7d", "amazon_pay": "forever", "brevo": "30m", "checkout": "1d", "cloudtasks": "1h", "courier": "1d",
		"dropbox_sign": "1d", "dynamodb": "10m", "emailit": "1d", "fintoc": "1d", "mangopay": "1d",
		"modern_treasury": "1d", "paypal": "3h", "plaid": "1d", "qonto": "30m", "resend": "1d", "sns": "5m",
		"sqs": "5m", "stepfunctions": "90d", "stripe": "1d", "truelayer": "30d", "worldline": "1d",
	}
	for _, p := range Providers() {
		stated, known := want[p.Name]
		if !known {
			stated = "not stated"
		}
		if got := p.Key.Remembered.String(); got != stated {
			t.Errorf("%s remembers %s, want %s", p.Name, got, stated)
		}
	}
}

// A row that is too generous here loses work: nobody would have its input.
func TestSourcesKeepTryingAsLongAsTheirSourcesSay(t *testing.T) {
	want := map[string]string{
		"adyen": "30d", "brevo": "0s", "circle": "1d12h", "cron": "0s", "eventbridge": "1d", "eventgrid": "1d", "github": "0s",
		"lambda": "3m", "mailgun": "7h", "manual": "0s", "paddle": "3d", "postmark": "10h", "pubsub": "7d", "razorpay": "1d",
		"recurly": "3d", "resend": "1d3h", "sendgrid": "1d", "shopify": "4h", "slack": "6m", "sqs": "4d", "square": "1d",
		"stripe": "3d", "svix": "1d3h", "whatsapp": "7d", "wix": "1d",
	}
	for _, d := range Deliveries() {
		stated, known := want[d.Name]
		if !known {
			stated = "not stated"
		}
		if got := d.Keeps.String(); got != stated {
			t.Errorf("%s keeps trying for %s, want %s", d.Name, got, stated)
		}
		keeps, _ := d.Keeps.Get()
		if horizon, _ := d.Horizon.Get(); keeps > horizon {
			t.Errorf("%s keeps trying for %s, which is longer than its horizon of %s", d.Name, d.Keeps, d.Horizon)
		}
		if d.ByDesign && (keeps != 0 || !d.Keeps.Stated()) {
			t.Errorf("%s is a person or a clock, and keeps trying for %s", d.Name, d.Keeps)
		}
	}
}

func TestHorizonsAreThoseOfTheSources(t *testing.T) {
	want := map[string][2]string{ // horizon, ack_within
		"adyen": {"30d", "10s"}, "brevo": {"12h", "not stated"}, "circle": {"1d13h", "not stated"},
		"cloudtasks": {"not stated", "10m"}, "cron": {"2d", "not stated"}, "eventbridge": {"1d", "not stated"},
		"eventgrid": {"1d", "30s"}, "github": {"7d", "10s"}, "kafka": {"not stated", "not stated"},
		"lambda": {"6h", "not stated"}, "mailgun": {"8h", "not stated"}, "manual": {"30d", "not stated"},
		"nats": {"not stated", "30s"}, "paddle": {"3d", "5s"}, "postmark": {"11h", "not stated"},
		"pubsub": {"31d", "10s"}, "rabbitmq": {"not stated", "not stated"}, "razorpay": {"1d", "not stated"},
		"recurly": {"4d", "not stated"}, "resend": {"1d4h", "not stated"}, "sendgrid": {"3d", "not stated"},
		"servicebus": {"not stated", "1m"}, "shopify": {"4h", "5s"}, "slack": {"1d1h", "3s"},
		"sns": {"23d", "not stated"}, "sqs": {"14d", "30s"}, "square": {"3d", "10s"},
		"stripe": {"3d", "not stated"}, "svix": {"1d4h", "15s"}, "telegram": {"1d", "not stated"},
		"twilio": {"4h", "15s"}, "whatsapp": {"7d", "not stated"}, "wix": {"2d", "1.25s"},
	}
	for _, d := range Deliveries() {
		if got := [2]string{d.Horizon.String(), d.AckWithin.String()}; got != want[d.Name] {
			t.Errorf("%s: horizon and ack_within are %v, want %v", d.Name, got, want[d.Name])
		}
		delete(want, d.Name)
	}
	for name := range want {
		t.Errorf("no row %s", name)
	}
}

func TestSumsOfSchedulesFitTheirHorizons(t *testing.T) {
	h, m, s := time.Hour, time.Minute, time.Second
	recurly := time.Duration(0)
	for x := range 10 {
		recurly += time.Duration(10+x*(1<<(x+5))) * s
	}
	for name, gaps := range map[string][]time.Duration{
		"brevo":    {10 * m, h, 2 * h, 8 * h},
		"circle":   {s, 10 * s, 30 * s, m, 15 * m, h, 3 * h, 5 * h, 6 * h, 10 * h, 11 * h},
		"mailgun":  {5 * m, 10 * m, 15 * m, h, 2 * h, 4 * h},
		"postmark": {m, 5 * m, 10 * m, 10 * m, 10 * m, 15 * m, 30 * m, h, 2 * h, 6 * h},
		"recurly":  {recurly},
		"resend":   {5 * s, 5 * m, 30 * m, 2 * h, 5 * h, 10 * h, 10 * h},
		"svix":     {5 * s, 5 * m, 30 * m, 2 * h, 5 * h, 10 * h, 10 * h},
		"wix":      {m, 10 * m, h, 2 * h, 2 * h, 2 * h, 4 * h, 4 * h, 4 * h, 8 * h, 8 * h, 12 * h},
	} {
		var sum time.Duration
		for _, g := range gaps {
			sum += g
		}
		d, _ := DeliveryNamed(name)
		horizon, ok := d.Horizon.Get()
		if !ok || horizon <= sum {
			t.Errorf("%s: a horizon of %s does not cover a schedule of %s", name, d.Horizon, sum)
		}
	}
}

func TestCallersCannotChangeTheTables(t *testing.T) {
	d := Deliveries()
	d[0].Name, d[0].Sources[0].URL = "changed", "changed"
	p := Providers()
	p[0].Name, p[0].Sources[0].URL = "changed", "changed"
	if got := Deliveries()[0]; got.Name == "changed" || got.Sources[0].URL == "changed" {
		t.Error("a caller changed the delivery systems")
	}
	if got := Providers()[0]; got.Name == "changed" || got.Sources[0].URL == "changed" {
		t.Error("a caller changed the providers")
	}
}

func TestASpanThatIsNotStatedIsNoTime(t *testing.T) {
	for _, tc := range []struct {
		span   Span
		want   string
		stated bool
	}{
		{Span{}, "not stated", false},
		{endless(), "forever", true},
		{lasting(3 * day), "3d", true},
		{lasting(25 * time.Hour), "1d1h", true},
		{lasting(90 * time.Minute), "1h30m", true},
		{lasting(10 * time.Hour), "10h", true},
		{lasting(time.Minute), "1m", true},
		{lasting(1250 * time.Millisecond), "1.25s", true},
		{lasting(day + 5*time.Second), "1d5s", true},
	} {
		if got := tc.span.String(); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
		if d, ok := tc.span.Get(); ok != tc.stated || tc.span.Stated() != tc.stated || ok && d <= 0 {
			t.Errorf("%s: Get gives %d, %t", tc.want, d, ok)
		}
	}
}

func TestKeyFormatsAreThoseOfTheLanguage(t *testing.T) {
	for format, want := range map[KeyFormat]int{
		"hex": 64, "uuid": 36, "base62:25": 25, "": 0, "base62": 0, "base62:": 0, "base62:0": 0, "base62:-3": 0, "HEX": 0,
	} {
		if n, ok := format.Length(); ok != (want > 0) || ok && n != want {
			t.Errorf("%q: %d, %t; want %d", format, n, ok, want)
		}
	}
}

func TestThePackageImportsTheStandardLibraryAlone(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(string(out)); len(got) != 1 {
		t.Errorf("besides the standard library it imports %v", got)
	}
}
