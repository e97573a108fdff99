package contracts

import (
	"fmt"
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

// truth reads true or false, in the one way that all YAML readers agree on.
func (p *parser) truth(it item, dst *Value[bool]) {
	n := it.node
	switch {
	case n.Kind != yaml.ScalarNode, isNull(n):
		p.wrongType(it, "true or false")
	case n.Tag == "!!bool":
		*dst = Value[bool]{V: strings.EqualFold(n.Value, "true"), Pos: it.pos, Set: true}
	default:
		p.errorf(it.pos, it.path, "want true or false; got %s%s", describe(n), truthHint(n))
	}
}

// truthHint says how a truth value that only some YAML readers know is written.
func truthHint(n *yaml.Node) string {
	switch strings.ToLower(n.Value) {
	case "true", "false":
		return fmt.Sprintf(" (did you mean %s without quotes?)", strings.ToLower(n.Value))
	case "y", "yes", "on":
		return " (did you mean true?)"
	case "n", "no", "off":
		return " (did you mean false?)"
	}
	return ""
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
		p.errorf(it.pos, it.path, "%s", notYet(n.Value))
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

func andList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
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

// durationRange is what a duration may be, and what is said of it.
type durationRange struct {
	want      string // a duration such as 30s
	unit      string // in which a bare number was probably meant
	low, high time.Duration
}

// anyDuration is every positive duration.
func anyDuration(example, unit string) durationRange {
	return durationRange{want: "a duration such as " + example, unit: unit, low: 1, high: MaxDuration}
}

// duration reads a positive duration within a range.
func (p *parser) duration(it item, dst *Value[time.Duration], r durationRange) {
	n := it.node
	if n.Kind != yaml.ScalarNode || isNull(n) {
		p.wrongType(it, r.want)
		return
	}
	d, fault := parseDuration(n.Value)
	text := clip(n.Value)
	switch {
	case fault == noUnit && r.unit == "m":
		p.errorf(it.pos, it.path, "%s has no unit (did you mean %ss or %sm?)", text, text, text)
	case fault == noUnit:
		p.errorf(it.pos, it.path, "%s has no unit (did you mean %s%s?)", text, text, r.unit)
	case fault == malformed:
		p.errorf(it.pos, it.path, "want %s; got %s%s", r.want, describe(n), durationHint(n.Value))
	case fault == tooLong && r.high == MaxDuration:
		p.errorf(it.pos, it.path, "%s is longer than 100 years", text)
	case fault == tooLong, d > r.high:
		p.errorf(it.pos, it.path, "%s is too long: want %s at most", text, FormatDuration(r.high))
	case d <= 0:
		p.errorf(it.pos, it.path, "want a duration longer than zero; got %s", text)
	case d < r.low:
		p.errorf(it.pos, it.path, "%s is too short: want %s at least", text, FormatDuration(r.low))
	default:
		*dst = Value[time.Duration]{V: d, Pos: it.pos, Set: true}
	}
}

// durationFault is why a text is no duration.
type durationFault int

const (
	noFault   durationFault = iota
	malformed               // no numbers with units
	noUnit                  // a bare number
	tooLong                 // over MaxDuration
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
	bareNumber   = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
	longUnit     = regexp.MustCompile(`(?i)^([0-9]+) *([a-z]+)$`)
)

// parseDuration reads a duration with Go's units and d (24h) and w (7d), such
// as 90d, 1d12h or 1.5h. It may be zero, and never exceeds MaxDuration.
func parseDuration(s string) (time.Duration, durationFault) {
	switch {
	case len(s) > maxDurationText:
		return 0, malformed
	case bareNumber.MatchString(s):
		return 0, noUnit
	case !durationForm.MatchString(s):
		return 0, malformed
	}
	var d time.Duration
	for rest := s; rest != ""; {
		var part [3]string // as in 1.5h: the whole number, what follows it, the unit
		part, rest = cutDuration(rest)
		size := unitSize(part[2])
		n, err := strconv.ParseInt(part[0], 10, 64)
		if err != nil || n > int64(MaxDuration/size) {
			return 0, tooLong
		}
		d += time.Duration(n) * size
		if part[1] != "" {
			fraction, err := strconv.ParseFloat("0"+part[1], 64)
			if err != nil {
				return 0, malformed
			}
			d += time.Duration(fraction * float64(size))
		}
		if d > MaxDuration {
			return 0, tooLong
		}
	}
	return d, noFault
}

// cutDuration cuts the first number with its unit off what has the form of a
// duration.
func cutDuration(s string) (part [3]string, rest string) {
	for i, set := range []string{"0123456789", ".0123456789"} {
		end := len(s) - len(strings.TrimLeft(s, set))
		part[i], s = s[:end], s[end:]
	}
	end := strings.IndexAny(s, "0123456789")
	if end < 0 {
		end = len(s)
	}
	part[2] = s[:end]
	return part, s[end:]
}

// maxDurationText is the longest text, in bytes, that may be a duration.
const maxDurationText = 100

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
	if len(s) > maxDurationText {
		return " (too many characters)"
	}
	if rest, negative := strings.CutPrefix(s, "-"); negative && durationForm.MatchString(rest) {
		return " (durations are positive)"
	}
	if plain := strings.NewReplacer("_", "", " ", "").Replace(s); plain != s && durationForm.MatchString(plain) {
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
	case "mo", "mon", "month", "months", "y", "yr", "year", "years":
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
