package directive

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const prefix = "//idem:"

// Fakes is the directive that people write, on a function of a package's tests: it
// builds the world in which the contract of its argument, kind, is crash tested.
const Fakes = "fakes"

// The names of directives that generated files carry.
const (
	Source     = "source"     // file, sha256, body
	Contract   = "contract"   // kind, version, digest (of the identity), handler, effects (the interface; absent without effects)
	EffectFunc = "effectfunc" // kind, effect, guard, and func, find or work
)

// The names of directives that people write, for the analyzers.
const (
	Effect   = "effect"   // of a function: it acts outside: class, repeat
	Pure     = "pure"     // of a function: it has no effect that counts
	Key      = "key"      // of a function: a parameter is a key: param; of a field: it is one
	Volatile = "volatile" // of a function or field: its value is new on every attempt: kind
	Handler  = "handler"  // of a function: work comes in through it: means
)

// ForAnalyzers tells whether people write directives of that name.
func ForAnalyzers(name string) bool {
	switch name {
	case Effect, Pure, Key, Volatile, Handler:
		return true
	}
	return false
}

// Known tells whether there are directives of that name.
func Known(name string) bool { return slices.Contains(Names(), name) }

// Names are the names of all directives, sorted.
func Names() []string {
	return []string{Contract, Effect, EffectFunc, Fakes, Handler, Key, Pure, Source, Volatile}
}

// Directive is one //idem: comment.
type Directive struct {
	Name string
	Args []Arg // in the order of the comment
}

// Arg is one name=value of a directive.
type Arg struct{ Name, Value string }

// Get is the value of the first argument of that name, or "".
func (d Directive) Get(name string) string {
	for _, a := range d.Args {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// Only is an error if the directive has an argument of another name.
func (d Directive) Only(names ...string) error {
	for _, a := range d.Args {
		if slices.Contains(names, a.Name) {
			continue
		}
		if len(names) == 0 {
			return fmt.Errorf("%s%s takes no arguments; got %s", prefix, d.Name, a.Name)
		}
		return fmt.Errorf("%s%s takes %s; got %s", prefix, d.Name, strings.Join(names, " and "), a.Name)
	}
	return nil
}

// String is the comment, with its slashes and without line break. It holds one
// line whatever the values hold.
func (d Directive) String() string {
	var b strings.Builder
	b.WriteString(prefix + d.Name)
	for _, a := range d.Args {
		b.WriteString(" " + a.Name + "=")
		if bare(a.Value) {
			b.WriteString(a.Value)
		} else {
			b.WriteString(strconv.Quote(a.Value))
		}
	}
	return b.String()
}

func bare(value string) bool {
	for _, r := range value {
		if r <= ' ' || r == '"' || !strconv.IsPrint(r) {
			return false
		}
	}
	return value != ""
}

// Parse reads a comment as go/ast has it. ok is false if it is no //idem:
// comment at all; err says what is wrong with one that is.
func Parse(comment string) (d Directive, ok bool, err error) {
	rest, ok := strings.CutPrefix(strings.TrimRight(comment, "\r\n"), prefix)
	if !ok {
		return Directive{}, false, nil
	}
	d.Name, rest, _ = strings.Cut(rest, " ")
	if d.Name == "" {
		return Directive{}, true, fmt.Errorf("directive %q: no name after %s", comment, prefix)
	}
	for rest = strings.TrimLeft(rest, " \t"); rest != ""; rest = strings.TrimLeft(rest, " \t") {
		var a Arg
		if a, rest, err = parseArg(rest); err != nil {
			return Directive{}, true, fmt.Errorf("directive %s%s: %w", prefix, d.Name, err)
		}
		d.Args = append(d.Args, a)
	}
	return d, true, nil
}

func parseArg(s string) (a Arg, rest string, err error) {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" || strings.ContainsAny(name, " \t\"") {
		return Arg{}, "", fmt.Errorf("want name=value, got %q", s)
	}
	if !strings.HasPrefix(value, `"`) {
		end := strings.IndexAny(value, " \t")
		if end < 0 {
			end = len(value)
		}
		return Arg{name, value[:end]}, value[end:], nil
	}
	quoted, err := strconv.QuotedPrefix(value)
	if err != nil {
		return Arg{}, "", fmt.Errorf("argument %s: the quoted value has no end", name)
	}
	text, err := strconv.Unquote(quoted)
	if err != nil {
		return Arg{}, "", fmt.Errorf("argument %s: %w", name, err)
	}
	return Arg{name, text}, value[len(quoted):], nil
}
