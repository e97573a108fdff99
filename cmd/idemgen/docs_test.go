package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idemgen/idem/generator/migrate"
)

func TestDocsHaveEveryVerb(t *testing.T) {
	src, err := os.ReadFile("../../docs/idemgen.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented, have []string
	for _, m := range regexp.MustCompile("(?m)^\\| `idemgen \\[?([a-z]+)").FindAllStringSubmatch(string(src), -1) {
		documented = append(documented, m[1])
	}
	for _, v := range verbs() {
		have = append(have, v.name)
		if v.short == "" || v.long == "" {
			t.Errorf("verb %s has no help", v.name)
		}
	}
	if diff := cmp.Diff(have, documented); diff != "" {
		t.Errorf("verbs of the command and of docs/idemgen.md (-command +docs)\n%s", diff)
	}
	var formats []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)`").FindAllStringSubmatch(string(src), -1) {
		formats = append(formats, m[1])
	}
	formats = slices.DeleteFunc(formats, func(f string) bool { return strings.HasPrefix(f, "-") })
	if diff := cmp.Diff(migrate.Formats(), formats); diff != "" {
		t.Errorf("formats of migrations, and of docs/idemgen.md (-command +docs)\n%s", diff)
	}
}
