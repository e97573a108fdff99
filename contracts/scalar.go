package contracts

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// MaxDuration is the longest duration of the language: 100 years of 365.25
// days. "forever" is said in words.
const MaxDuration = 36525 * 24 * time.Hour

// text reads a text. What another YAML reader would take for a number, a
// truth value or a date has to stand in quotes.
func (p *parser) text(it item, want string) (string, bool) {
	n := it.node
	switch {
	case n.Kind != yaml.ScalarNode, isNull(n):
		p.wrongType(it, want)
	case isPlain(n) && isTruth(n.Value):
		p.errorf(it.pos, it.path, "want %s; got %s, which is a truth value to some YAML readers (put it in quotes if it is meant as text)", want, n.Value)
	case !isText(n):
		p.errorf(it.pos, it.path, "want %s; got %s (put it in quotes if it is meant as text)", want, describe(n))
	case strings.TrimSpace(n.Value) == "":
		p.errorf(it.pos, it.path, "want %s; got an empty text", want)
	default:
		return n.Value, true
	}
	return "", false
}

// isTruth tells whether YAML 1.1 reads the word as true or false.
func isTruth(s string) bool {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false":
		return true
	}
	return false
}

// matching reads a text of a given form.
func (p *parser) matching(it item, want string, ok func(string) bool) (Value[string], bool) {
	s, isText := p.text(it, want)
	if !isText {
		return Value[string]{Pos: it.pos}, false
	}
	if !ok(s) {
		p.errorf(it.pos, it.path, "want %s; got %q", want, clip(s))
		return Value[string]{Pos: it.pos}, false
	}
	return Value[string]{V: s, Pos: it.pos, Set: true}, true
}

// word reads one of several words; later are words that the language has and
// this version of the tool does not.
func word[T ~string](p *parser, it item, dst *Value[T], words []T, later ...string) {
	wordWanting(p, it, dst, orList(namesOf(words)), words, later...)
}

// wordWanting is word with its own account of what is wanted, for a question
// that has answers besides words.
func wordWanting[T ~string](p *parser, it item, dst *Value[T], want string, words []T, later ...string) {
	names := namesOf(words)
	n := it.node
	if n.Kind != yaml.ScalarNode || isNull(n) {
		p.wrongType(it, want)
		return
	}
	switch all := slices.Concat(names, later); {
	case slices.Contains(names, n.Value):
		*dst = Value[T]{V: T(n.Value), Pos: it.pos, Set: true}
	case slices.Contains(later, n.Value):
		p.errorf(it.pos, it.path, "%s is not supported yet", n.Value)
	case isPlain(n) && isTruth(n.Value):
		p.errorf(it.pos, it.path, "want %s; got %s, which is a truth value to some YAML readers%s", want, n.Value, DidYouMean(n.Value, all))
	default:
		p.errorf(it.pos, it.path, "want %s; got %s%s", want, describe(n), DidYouMean(n.Value, all))
	}
}

func namesOf[T ~string](words []T) []string {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = string(w)
	}
	return names
}

func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

var (
	wholeForm      = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)
	underscoreForm = regexp.MustCompile(`^[0-9]+(_[0-9]+)+$`)
	zeroForm       = regexp.MustCompile(`^0[0-9]+$`)
	decimalForm    = regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]+)?$`)
)

// whole reads a whole number in the one way that all YAML readers agree on.
func (p *parser) whole(it item, dst *Value[int], low, high int) {
	want := "a whole number from " + strconv.Itoa(low) + " to " + strconv.Itoa(high)
	n := it.node
	if n.Kind != yaml.ScalarNode || isNull(n) {
		p.wrongType(it, want)
		return
	}
	if hint, ok := numberHint(n); !ok {
		p.errorf(it.pos, it.path, "want %s; got %s%s", want, describe(n), hint)
		return
	}
	v, err := strconv.Atoi(n.Value)
	if err != nil || v < low || v > high {
		p.errorf(it.pos, it.path, "want %s; got %s", want, clip(n.Value))
		return
	}
	*dst = Value[int]{V: v, Pos: it.pos, Set: true}
}

// numberHint tells whether a scalar is a plain decimal whole number, and if
// not, how the number that was probably meant is written.
func numberHint(n *yaml.Node) (hint string, ok bool) {
	s := n.Value
	switch {
	case wholeForm.MatchString(s) && !isPlain(n):
		return ", a text (did you mean " + clip(s) + " without quotes?)", false
	case wholeForm.MatchString(s):
		return "", true
	case underscoreForm.MatchString(s):
		return " (did you mean " + clip(strings.ReplaceAll(s, "_", "")) + "? write digits only)", false
	case zeroForm.MatchString(s):
		decimal := strings.TrimLeft(s, "0")
		if decimal == "" {
			decimal = "0"
		}
		if octal, err := strconv.ParseInt(s, 8, 64); err == nil {
			return ", which is octal for " + strconv.FormatInt(octal, 10) + " to some YAML readers (did you mean " + clip(decimal) + "?)", false
		}
		return " (did you mean " + clip(decimal) + "?)", false
	}
	if v, err := strconv.ParseInt(s, 0, 64); err == nil && v >= 0 {
		return " (did you mean " + strconv.FormatInt(v, 10) + "? write decimal digits only)", false
	}
	return "", false
}

// multiplier reads a decimal number from 1 to 10.
func (p *parser) multiplier(it item, dst *Value[float64]) {
	const want = "a number from 1 to 10 such as 2 or 1.5"
	n := it.node
	if n.Kind != yaml.ScalarNode || isNull(n) {
		p.wrongType(it, want)
		return
	}
	if !isPlain(n) || !decimalForm.MatchString(n.Value) {
		hint, _ := numberHint(n)
		p.errorf(it.pos, it.path, "want %s; got %s%s", want, describe(n), hint)
		return
	}
	v, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || v < 1 || v > 10 {
		p.errorf(it.pos, it.path, "want %s; got %s", want, clip(n.Value))
		return
	}
	*dst = Value[float64]{V: v, Pos: it.pos, Set: true}
}

// duration reads a duration between low and high. The unit is the one that a
// bare number was probably meant in.
func (p *parser) duration(it item, dst *Value[time.Duration], unit string, low, high time.Duration) {
	want := "a duration such as 30" + unit
	n := it.node
	if n.Kind != yaml.ScalarNode || isNull(n) {
		p.wrongType(it, want)
		return
	}
	d, why := parseDuration(n.Value)
	switch {
	case why == noUnit:
		p.errorf(it.pos, it.path, "%s has no unit (did you mean %s%s?)", clip(n.Value), clip(n.Value), unit)
	case why == tooLong && high == MaxDuration:
		p.errorf(it.pos, it.path, "%s is longer than 100 years", clip(n.Value))
	case why == tooLong, why == "" && d > high:
		p.errorf(it.pos, it.path, "%s is too long: want %s at most", clip(n.Value), FormatDuration(high))
	case why == "" && d <= 0:
		p.errorf(it.pos, it.path, "want a duration longer than zero; got %s", clip(n.Value))
	case why != "":
		p.errorf(it.pos, it.path, "want %s; got %s%s", want, describe(n), why)
	case d < low:
		p.errorf(it.pos, it.path, "%s is too short: want %s at least", clip(n.Value), FormatDuration(low))
	default:
		*dst = Value[time.Duration]{V: d, Pos: it.pos, Set: true}
	}
}

const (
	noUnit  = "no unit"
	tooLong = "too long"
)

// units are those of Go and days and weeks, the longest first.
var units = []struct {
	name string
	size time.Duration
}{
	{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second},
	{"ms", time.Millisecond}, {"us", time.Microsecond}, {"µs", time.Microsecond}, {"μs", time.Microsecond}, {"ns", time.Nanosecond},
}

var (
	durationForm = regexp.MustCompile(`^(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|µs|μs|ms|s|m|h|d|w))+$`)
	durationPart = regexp.MustCompile(`([0-9]+)(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h|d|w)`)
	bareNumber   = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
	longUnit     = regexp.MustCompile(`(?i)^([0-9]+) *([a-z]+)$`)
)

// parseDuration reads a duration with Go's units and d (24h) and w (7d), such
// as 90d, 1d12h or 1.5h. Why is empty if it could be read, noUnit or tooLong, or
// else a hint that may follow a message. The result may be zero, and never exceeds
// MaxDuration.
func parseDuration(s string) (d time.Duration, why string) {
	switch {
	case len(s) > 100:
		return 0, " (too many characters)"
	case bareNumber.MatchString(s):
		return 0, noUnit
	case !durationForm.MatchString(s):
		return 0, durationHint(s)
	}
	for _, part := range durationPart.FindAllStringSubmatch(s, -1) {
		size := unitSize(part[3])
		n, err := strconv.ParseInt(part[1], 10, 64)
		if err != nil || n > int64(MaxDuration/size) {
			return 0, tooLong
		}
		d += time.Duration(n) * size
		if part[2] != "" {
			fraction, err := strconv.ParseFloat("0"+part[2], 64)
			if err != nil {
				return 0, durationHint(s)
			}
			d += time.Duration(fraction * float64(size))
		}
		if d > MaxDuration {
			return 0, tooLong
		}
	}
	return d, ""
}

func unitSize(name string) time.Duration {
	for _, u := range units {
		if u.name == name {
			return u.size
		}
	}
	return 0
}

// durationHint guesses what was meant by 30 days, 90D, 1_000s or 3 months.
func durationHint(s string) string {
	if rest, negative := strings.CutPrefix(s, "-"); negative && durationForm.MatchString(rest) {
		return " (durations are positive)"
	}
	if plain := strings.ReplaceAll(s, "_", ""); plain != s && durationForm.MatchString(plain) {
		return " (did you mean " + plain + "?)"
	}
	m := longUnit.FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	switch strings.ToLower(m[2]) {
	case "d", "day", "days":
		return " (did you mean " + m[1] + "d?)"
	case "w", "week", "weeks":
		return " (did you mean " + m[1] + "w?)"
	case "h", "hr", "hrs", "hour", "hours":
		return " (did you mean " + m[1] + "h?)"
	case "m", "min", "mins", "minute", "minutes":
		return " (did you mean " + m[1] + "m?)"
	case "s", "sec", "secs", "second", "seconds":
		return " (did you mean " + m[1] + "s?)"
	case "ms", "millis", "milliseconds":
		return " (did you mean " + m[1] + "ms?)"
	case "mo", "month", "months", "y", "yr", "year", "years":
		return " (months and years differ in length: say it in d or w)"
	}
	return " (units: w, d, h, m, s, ms, us, ns)"
}

// FormatDuration writes a duration in the units of the language, without
// parts that are zero: 1d12h, 90d, 2m30s. A contract may say it that way.
func FormatDuration(d time.Duration) string {
	if d <= 0 {
		return d.String()
	}
	var b strings.Builder
	for _, u := range units {
		if u.name == "w" || u.name == "us" || u.name == "μs" {
			continue
		}
		if n := d / u.size; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10) + u.name)
			d -= n * u.size
		}
	}
	return b.String()
}
