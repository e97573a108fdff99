package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"

	"github.com/idemgen/idem/analyzers/driver"
)

// Sources are the texts of the files that findings are in, read once.
type Sources map[string][]byte

// read gives the text of a file, or nothing if it cannot be read: what needs the
// text of a line can do without.
func (s Sources) read(file string) []byte {
	text, ok := s[file]
	if !ok {
		text, _ = os.ReadFile(file)
		s[file] = text
	}
	return text
}

// line is a line of a file, from 1, without the space around it.
func (s Sources) line(file string, n int) string {
	for i, line := range bytes.Split(s.read(file), []byte("\n")) {
		if i == n-1 {
			return strings.TrimSpace(string(line))
		}
	}
	return ""
}

// column is a column as other tools count: in UTF-16 code units and not in bytes.
func (s Sources) column(p driver.Position) int {
	lines := bytes.Split(s.read(p.File), []byte("\n"))
	if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column-1 > len(lines[p.Line-1]) {
		return p.Column
	}
	return utf16Length(lines[p.Line-1][:p.Column-1]) + 1
}

// position is the place of a byte of a file.
func (s Sources) position(file string, offset int) driver.Position {
	text := s.read(file)
	before := text[:max(0, min(offset, len(text)))]
	return driver.Position{File: file, Line: bytes.Count(before, []byte("\n")) + 1, Column: len(before) - bytes.LastIndexByte(before, '\n')}
}

func utf16Length(text []byte) int {
	n := 0
	for _, r := range string(text) {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// fingerprint says what a finding is, whatever line it is on.
type fingerprint struct {
	Rule    string `json:"rule"`
	File    string `json:"file"`
	Message string `json:"message"`
	Code    string `json:"code"` // the line that it is on
}

func (s Sources) fingerprint(root string, f driver.Finding) fingerprint {
	return fingerprint{f.Rule, filepath.ToSlash(driver.Relative(root, f.Pos.File)), f.Message, s.line(f.Pos.File, f.Pos.Line)}
}

// Repository is the folder that files are named from where a whole repository is
// meant: the one that a workflow names, or the nearest that holds a repository.
func Repository(dir string) string {
	if root := os.Getenv("GITHUB_WORKSPACE"); root != "" {
		return root
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
