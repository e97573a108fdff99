package contracts

import (
	"regexp"
	"strings"
)

// Func is a Go function that a contract names, taken apart. At most one of Path
// and Package is set; without either it is a method of the handler's receiver or
// a function of the package beside the contract.
type Func struct {
	Path    string // of another package, such as example.com/app/mail
	Package string // the name by which a Go file of the package imports another
	Name    string
}

// Far tells whether the function is one of another package.
func (f Func) Far() bool { return f.Path != "" || f.Package != "" }

const (
	identForm = `[\pL_][\pL_\p{Nd}]*`
	// pathForm is an import path of several elements: with one alone nobody could
	// tell mail.Send of the import called mail from that of a module called mail.
	pathForm = `[A-Za-z0-9_~+-][A-Za-z0-9_~+.-]*(?:/[A-Za-z0-9_~+-][A-Za-z0-9_~+.-]*)+`
)

// maxFunc is how long the name of a function may be, its package's path included.
const maxFunc = 1000

// ParseFunc takes send, mail.Send or example.com/app/mail.Send apart; ok is false
// for any other text.
func ParseFunc(s string) (f Func, ok bool) {
	if len(s) > maxFunc {
		return Func{}, false
	}
	from, name := "", s
	if dot := strings.LastIndexByte(s, '.'); dot >= 0 {
		from, name = s[:dot], s[dot+1:]
	}
	switch {
	case !usableIdent(name):
		return Func{}, false
	case name == s:
		return Func{Name: name}, true
	case strings.Contains(from, "/"):
		if isImportPath(from) {
			return Func{Path: from, Name: name}, true
		}
	case usableIdent(from):
		return Func{Package: from, Name: name}, true
	}
	return Func{}, false
}

// isImportPath tells what pathForm does, which is asked of every effect, several
// times, and faster here.
func isImportPath(s string) bool {
	for elem := range strings.SplitSeq(s, "/") {
		if elem == "" || elem[0] == '.' {
			return false
		}
		for _, c := range []byte(elem) {
			if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("_~+.-", c) >= 0) {
				return false
			}
		}
	}
	return strings.Contains(s, "/")
}

const wantFunc = "a method of the handler's receiver or a function of this package by its name, or a function of another package such as mail.Send or example.com/app/mail.Send"

// function reads the name of a Go function.
func (p *parser) function(it item, dst *Value[string]) {
	s, ok := p.text(it, wantFunc)
	if !ok {
		return
	}
	if _, ok := ParseFunc(s); !ok {
		p.errorf(it.pos, it.path, "want %s; got %q%s", wantFunc, clip(s), funcHint(s))
		return
	}
	*dst = Value[string]{V: s, Pos: it.pos, Set: true}
}

var (
	methodForm = regexp.MustCompile(`^(?:[*&]?` + identForm + `\.|\(\*?` + identForm + `\)\.)(` + identForm + `)$`)
	farMethod  = regexp.MustCompile(`^` + identForm + `\.` + identForm + `\.` + identForm + `$`)
)

// funcHint guesses what was meant by (*T).Send, ./mail.Send, Send() and
// mail.Client.Send.
func funcHint(s string) string {
	if bare, ok := strings.CutSuffix(s, "()"); ok {
		if _, ok := ParseFunc(bare); ok {
			return " (did you mean " + clip(bare) + "?)"
		}
	}
	switch m := methodForm.FindStringSubmatch(s); {
	case m != nil && usableIdent(m[1]):
		return " (a method of the handler's receiver is written by its name: " + m[1] + ")"
	case strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../"):
		return " (write the package's import path, not its folder)"
	case farMethod.MatchString(s):
		return " (a method of another package's type is called by a method or function of this one)"
	}
	return ""
}
