package contracts

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFunctionsAreTakenApart(t *testing.T) {
	for text, want := range map[string]Func{
		"send":                            {Name: "send"},
		"mail.Send":                       {Package: "mail", Name: "Send"},
		"example.com/app/mail.Send":       {Path: "example.com/app/mail", Name: "Send"},
		"example.com/app/mail.v2.Send":    {Path: "example.com/app/mail.v2", Name: "Send"},
		"example.com/go/func.Send":        {Path: "example.com/go/func", Name: "Send"},
		"example.com/a_b/~c+d-e/été.Send": {},
		"":                                {},
		"mail.":                           {},
		".Send":                           {},
		"_":                               {},
		"go.Send":                         {},
		"mail/.Send":                      {},
		"/mail.Send":                      {},
		"example.com/mail":                {},
		"example.com/mail.Send.Now":       {Path: "example.com/mail.Send", Name: "Now"},
		"x/" + strings.Repeat("y", 1000) + ".Send": {},
	} {
		got, ok := ParseFunc(text)
		if got != want || ok != (want != Func{}) {
			t.Errorf("%q: %+v, %v", text, got, ok)
		}
		if ok && got.Far() != strings.Contains(text, ".") {
			t.Errorf("%q: far %v", text, got.Far())
		}
	}
}

func TestImportPathsAreThoseThatTheSchemaTakes(t *testing.T) {
	form := regexp.MustCompile("^" + pathForm + "$")
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`([a-zA-Z0-9_~+.é-]{0,3}/?){0,4}`).Draw(t, "path")
		if got, want := isImportPath(s), form.MatchString(s); got != want {
			t.Fatalf("%q: %v, want %v", s, got, want)
		}
	})
}
