package resolve

import (
	"slices"
	"testing"
)

func TestTagsAreReadFromGoFlagsAsTheGoCommandReadsThem(t *testing.T) {
	for flags, want := range map[string]string{
		"":                            "",
		"-mod=mod":                    "",
		"-tags=a":                     "a",
		"--tags=a,b -v":               "a,b",
		"-mod=mod '-tags=a b' -trim":  "a b",
		"\t\"-tags=a b\"\n":           "a b",
		"-tags=a -tags=b":             "b",
		"'-tags=never closed":         "never closed",
		"-ldflags=-X=main.a=-tags=no": "",
	} {
		if got := tagsOf(flags); got != want {
			t.Errorf("tagsOf(%q) = %q, want %q", flags, got, want)
		}
	}
}

func TestReleaseTagsAreThoseOfTheGoCommand(t *testing.T) {
	own := []string{"go1.1", "go1.2", "go1.3"}
	for version, want := range map[string]int{
		"go1.2": 2, "go1.2.7": 2, "go1.3rc1": 3, "go1.5-custom": 5, "devel +abc": 3, "go1.99999": 3,
	} {
		tags := releaseTags(version, own)
		if len(tags) != want || tags[len(tags)-1] != slices.Max(tags) {
			t.Errorf("releaseTags(%s) = %v, want %d", version, tags, want)
		}
	}
}
