package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/idemgen/idem/analyzers/driver"
)

// baselineVersion is that of the file's form.
const baselineVersion = 1

// baseline are findings that are known and left for later. They are told by what
// they say, their file and the text of their line: what stands above a line may
// change, and the order of files too.
type baseline struct {
	Version  int             `json:"version"`
	Findings []baselineEntry `json:"findings"`
}

type baselineEntry struct {
	fingerprint
	Count int `json:"count,omitempty"` // if it is there more than once
}

// WriteBaseline writes the findings to a file; they are named from its folder.
func WriteBaseline(name string, s Sources, findings []driver.Finding) error {
	root, err := folderOf(name)
	if err != nil {
		return err
	}
	counts := map[fingerprint]int{}
	for _, f := range findings {
		counts[s.fingerprint(root, f)]++
	}
	b := baseline{Version: baselineVersion, Findings: []baselineEntry{}}
	for print, n := range counts {
		e := baselineEntry{fingerprint: print}
		if n > 1 {
			e.Count = n
		}
		b.Findings = append(b.Findings, e)
	}
	slices.SortFunc(b.Findings, func(x, y baselineEntry) int {
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Code, y.Code), cmp.Compare(x.Message, y.Message))
	})
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(b); err != nil {
		return err
	}
	return os.WriteFile(name, out.Bytes(), 0o644)
}

// readBaseline reads how often each finding is known.
func readBaseline(name string) (map[fingerprint]int, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("-baseline %s: there is no such file; -write-baseline %[1]s makes it", name)
	}
	if err != nil {
		return nil, err
	}
	var b baseline
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		return nil, fmt.Errorf("-baseline %s: not a baseline: %w; -write-baseline %[1]s writes it again", name, err)
	}
	if b.Version != baselineVersion {
		return nil, fmt.Errorf("-baseline %s: version %d, and this idemlint reads version %d; -write-baseline %[1]s writes it again", name, b.Version, baselineVersion)
	}
	known := map[fingerprint]int{}
	for _, e := range b.Findings {
		known[e.fingerprint] += max(1, e.Count)
	}
	return known, nil
}

// Unknown are the findings that a baseline does not hold. Of equal ones, as many
// are known as it counts.
func Unknown(name string, s Sources, findings []driver.Finding) ([]driver.Finding, error) {
	root, err := folderOf(name)
	if err != nil {
		return nil, err
	}
	known, err := readBaseline(name)
	if err != nil {
		return nil, err
	}
	var rest []driver.Finding
	for _, f := range findings {
		print := s.fingerprint(root, f)
		if known[print] > 0 {
			known[print]--
			continue
		}
		rest = append(rest, f)
	}
	return rest, nil
}

// folderOf is the folder of a file, spelled as the go command spells it.
func folderOf(name string) (string, error) {
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return "", err
	}
	return Resolved(dir), nil
}

// Resolved is a folder as the go command spells it, without symbolic links.
func Resolved(dir string) string {
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		return r
	}
	return dir
}
