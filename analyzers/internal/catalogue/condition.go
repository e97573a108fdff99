package catalogue

import (
	"fmt"
	"go/constant"
	"regexp"
	"slices"
	"strings"
)

// Args are the arguments of one call.
type Args interface {
	// Const is the value of an argument that is a constant, else nil.
	Const(Place) constant.Value
}

// Condition is a test of one constant argument. An argument that is no constant
// meets none.
type Condition struct {
	Arg Place
	Op  string
	In  []string
	Min int64
	re  *regexp.Regexp
}

// The tests that a condition can make.
const (
	opIn      = "in"      // one of the strings
	opMatch   = "match"   // a regular expression
	opAtLeast = "atleast" // an integer, at least so large
	opLayout  = "layout"  // a layout of package time that shows nothing finer than minutes
	opNames   = "names"   // a string that names a deduplication key
	opSQL     = "sql"     // an SQL statement that begins with one of the verbs
)

func (c Condition) String() string {
	return fmt.Sprintf("%v %s %s %d", c.Arg, c.Op, strings.Join(c.In, "|"), c.Min)
}

// Holds tells whether a call meets all conditions of the entry.
func (e *Entry) Holds(args Args) bool {
	for _, c := range e.When {
		if args == nil || !c.holds(args.Const(c.Arg)) {
			return false
		}
	}
	return true
}

func (c Condition) holds(v constant.Value) bool {
	if v == nil {
		return false
	}
	if c.Op == opAtLeast {
		n, exact := constant.Int64Val(constant.ToInt(v))
		return exact && n >= c.Min
	}
	if v.Kind() != constant.String {
		return false
	}
	s := constant.StringVal(v)
	switch c.Op {
	case opIn:
		return slices.Contains(c.In, s)
	case opMatch:
		return c.re.MatchString(s)
	case opLayout:
		return coarse(s)
	case opNames:
		return NamesKey(s)
	case opSQL:
		return slices.Contains(c.In, SQLVerb(s))
	}
	return false
}

// coarse tells whether two times of the same minute look alike in this layout.
// Seconds are "5" or "05" anywhere, fractions follow them.
func coarse(layout string) bool {
	if layout == "" {
		return false
	}
	// "15" is the hour and "05" or a "5" of its own are seconds; "-0500" is a zone.
	rest := strings.NewReplacer("15", "", "-07:00", "", "-0700", "", "Z07:00", "", "2006", "", "MST", "").Replace(layout)
	return !strings.Contains(rest, "5") && !strings.Contains(rest, ".0") && !strings.Contains(rest, ".9")
}

// SQLVerb is the first word of a statement, in lower case, comments aside.
func SQLVerb(s string) string {
	for {
		s = strings.TrimLeft(s, " \t\r\n(;")
		if rest, ok := strings.CutPrefix(s, "--"); ok {
			_, s, _ = strings.Cut(rest, "\n")
			continue
		}
		if rest, ok := strings.CutPrefix(s, "/*"); ok {
			_, s, _ = strings.Cut(rest, "*/")
			continue
		}
		break
	}
	end := strings.IndexFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if end >= 0 {
		s = s[:end]
	}
	return strings.ToLower(s)
}
