package contracts

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what Parse gives into the archives of testdata; the run fails if anything changed, so that somebody looks at it")

// archivePath is what messages call the file.
const archivePath = "billing/orders.idem.yaml"

// Each archive in testdata/errors holds pairs of NAME.yaml and NAME.want.
func TestEachMistakeHasItsMessage(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives found: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			testArchive(t, file, func(t *testing.T, src []byte) string {
				_, ds := Parse(archivePath, src)
				if !ds.HasErrors() {
					t.Fatal("accepted")
				}
				checkDiagnostics(t, src, ds)
				return ds.Text()
			})
		})
	}
}

// What is allowed and probably not meant is told and read all the same.
func TestEachDoubtHasItsWarning(t *testing.T) {
	files, err := filepath.Glob("testdata/warnings/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives found: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			testArchive(t, file, func(t *testing.T, src []byte) string {
				f, ds := Parse(archivePath, src)
				if ds.HasErrors() || len(ds) == 0 || len(f.Contracts) == 0 {
					t.Fatalf("want warnings alone:\n%s", ds.Text())
				}
				checkDiagnostics(t, src, ds)
				return ds.Text()
			})
		})
	}
}

func testArchive(t *testing.T, file string, read func(t *testing.T, src []byte) string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(archive.Files) == 0 || len(archive.Files)%2 != 0 {
		t.Fatalf("%s: %d entries; they come in pairs", file, len(archive.Files))
	}
	changed := false
	for i := 0; i < len(archive.Files); i += 2 {
		in, want := archive.Files[i], &archive.Files[i+1]
		name, isYAML := strings.CutSuffix(in.Name, ".yaml")
		if !isYAML || want.Name != name+".want" {
			t.Fatalf("%s: %s is followed by %s", file, in.Name, want.Name)
		}
		t.Run(name, func(t *testing.T) {
			if got := read(t, in.Data); got != string(want.Data) {
				t.Errorf("(-want +got)\n%s", cmp.Diff(string(want.Data), got))
				want.Data, changed = []byte(got), true
			}
		})
	}
	if *update && changed {
		writeArchive(t, file, archive)
	}
}

// writeArchive refuses what would read back as something else.
func writeArchive(t *testing.T, file string, archive *txtar.Archive) {
	data := txtar.Format(archive)
	back := txtar.Parse(data)
	if len(back.Files) != len(archive.Files) {
		t.Fatalf("%s: a message looks like a file marker; nothing written", file)
	}
	for i := range back.Files {
		if !bytes.Equal(back.Files[i].Data, archive.Files[i].Data) {
			t.Fatalf("%s: %s would not read back; nothing written", file, back.Files[i].Name)
		}
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// checkDiagnostics holds what is true of the diagnostics of any input.
func checkDiagnostics(t testing.TB, src []byte, ds Diagnostics) {
	t.Helper()
	f := &File{lines: strings.Split(strings.ReplaceAll(string(bytes.TrimPrefix(src, []byte("\uFEFF"))), "\r\n", "\n"), "\n")}
	for i, d := range ds {
		if i > 0 && compareDiagnostics(ds[i-1], d) >= 0 {
			t.Errorf("not sorted, or twice:\n%s%s", ds[i-1].Text(), d.Text())
		}
		if d.Msg == "" || strings.ContainsAny(d.Error(), "\n\r\t\x00") {
			t.Errorf("a message of one line is wanted: %q", d.Error())
		}
		if !d.Pos.IsValid() {
			if d.Pos != (Pos{}) {
				t.Errorf("half a position: %+v", d.Pos)
			}
			continue
		}
		if d.Pos.Line > len(f.lines) {
			t.Errorf("line %d of %d: %s", d.Pos.Line, len(f.lines), d.Error())
			continue
		}
		line := f.Line(d.Pos.Line)
		if d.Pos.Column < 1 || d.Pos.Column > len(line)+1 || d.Pos.Width < 0 || d.Pos.Column-1+d.Pos.Width > len(line) {
			t.Errorf("column %d, width %d in a line of %d bytes: %s", d.Pos.Column, d.Pos.Width, len(line), d.Error())
		}
		checkCaret(t, d)
	}
}

// checkCaret makes sure that the caret line ends under the source line, or
// just behind it.
func checkCaret(t testing.TB, d *Diagnostic) {
	t.Helper()
	if d.Snippet.Source == "" {
		return // the place is on an empty line
	}
	lines := strings.Split(d.Text(), "\n")
	if len(lines) < 4 {
		t.Errorf("no source line:\n%s", d.Text())
		return
	}
	source, caret := lines[1], lines[2]
	if !strings.HasSuffix(caret, "^") || cells(caret) > cells(source)+1 {
		t.Errorf("the caret is not under the line:\n%s", d.Text())
	}
	if n := utf8.RuneCountInString(source); n > maxSnippet+30 {
		t.Errorf("a snippet of %d characters", n)
	}
}
