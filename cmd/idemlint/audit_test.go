package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

const posts = `go func() { _, _ = http.Post("https://hooks.example.com", "text/plain", r.Body); _ = time.Now }()`

func TestAuditWritesEachFormat(t *testing.T) {
	dir := module(t, posts)
	for format, want := range map[string]string{
		"text":     "example.com/m: ",
		"markdown": "# Audit of example.com/m\n",
		"json":     "{\n  \"version\": 1,\n",
		"html":     "<!DOCTYPE html>\n",
	} {
		code, out, stderr := lint(t, "audit", "-C", dir, "-format", format)
		if code != exitClean || !strings.HasPrefix(strings.TrimLeft(out, "\n"), want) || stderr != "" {
			t.Errorf("%s: %d\n%s%s", format, code, out, stderr)
		}
	}
}

func TestAuditWritesToAFile(t *testing.T) {
	dir := module(t, posts)
	name := filepath.Join(dir, "audit.json")
	if code, out, stderr := lint(t, "audit", "-C", dir, "-format", "json", "-o", name); code != exitClean || out+stderr != "" {
		t.Fatalf("%d\n%s%s", code, out, stderr)
	}
	if !json.Valid([]byte(readFile(t, name))) {
		t.Error("no JSON")
	}
	if code, _, stderr := lint(t, "audit", "-C", dir, "-o", filepath.Join(dir, "nosuch", "x")); code != exitErrors || !strings.Contains(stderr, "nosuch") {
		t.Errorf("%d %s", code, stderr)
	}
}

// handler is a module whose only entry point sends mail.
func handler(t *testing.T) string {
	t.Helper()
	dir := module(t, `_ = r`)
	writeFile(t, filepath.Join(dir, "sub", "h.go"), `package sub

import (
	"net/http"
	"net/smtp"
)

func Serve(w http.ResponseWriter, r *http.Request) {
	if err := smtp.SendMail("mail:25", nil, "a", nil, nil); err != nil {
		http.Error(w, "no", 500)
	}
}
`)
	return dir
}

func TestAuditFailsOnWhatCostsSoMuchAndHasNoGuard(t *testing.T) {
	dir := handler(t)
	for cost, want := range map[string]int{"money": exitClean, "inbox": exitFindings, "external": exitFindings, "internal": exitFindings, "none": exitClean} {
		if code, _, stderr := lint(t, "audit", "-C", dir, "-fail-on", cost); code != want || stderr != "" {
			t.Errorf("%s: %d %s", cost, code, stderr)
		}
	}
}

func TestAuditSaysWhatDoesNotBuildAndAuditsTheRest(t *testing.T) {
	dir := handler(t)
	writeFile(t, filepath.Join(dir, "broken", "b.go"), "package broken\n\nvar X int = \"\"\n")
	code, out, stderr := lint(t, "audit", "-C", dir)
	if code != exitErrors || !strings.Contains(stderr, "b.go:3:13") || !strings.Contains(out, "Not looked at, since it does not build") || !strings.Contains(out, "sub.Serve") {
		t.Errorf("%d\n%s%s", code, out, stderr)
	}
}

func TestWrongFlagsOfAuditSayWhatIsKnown(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-format", "xml"}, "-format xml: want text, markdown, json, html"},
		{[]string{"-fail-on", "x"}, "-fail-on x: want money, inbox, external, internal or none"},
		{[]string{"-width", "3"}, "-width 3: want 40 or more"},
		{[]string{"-nosuch"}, "flag provided but not defined: -nosuch"},
	} {
		if code, _, stderr := lint(t, append([]string{"audit"}, test.args...)...); code != exitErrors || !strings.Contains(stderr, test.want) {
			t.Errorf("%v: %d\n%s", test.args, code, stderr)
		}
	}
	if code, _, stderr := lint(t, "audit", "-h"); code != exitClean || !strings.Contains(stderr, "usage: idemlint audit") {
		t.Errorf("%d\n%s", code, stderr)
	}
}
