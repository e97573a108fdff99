package driver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idemgen/idem/analyzers"
)

// giants are files such as programs write, n lines or more each.
var giants = map[string]func(w io.Writer, n int){
	"many functions": func(w io.Writer, n int) {
		for i := range n / 6 {
			fmt.Fprintf(w, "func f%d(r *http.Request, m mailer, id string) error {\n\tkey := id + uuidNew()\n\tr.Header.Set(\"Idempotency-Key\", key)\n\treturn m.Send(key)\n}\n\n", i)
		}
	},
	"functions that all call the next": func(w io.Writer, n int) {
		k := n / 8
		for i := range k {
			last := ""
			if i == k-1 {
				last = "\tif id == \"\" {\n\t\treturn id + uuidNew()\n\t}\n"
			}
			fmt.Fprintf(w, "func f%d(r *http.Request, m mailer, id string) string {\n%s\tr.Header.Set(\"Idempotency-Key\", id)\n\treturn f%d(r, m, id)\n}\n\n", i, last, (i+1)%k)
		}
	},
	"functions that all call the one before": func(w io.Writer, n int) {
		k := n / 5
		for i := range k {
			fmt.Fprintf(w, "func f%d(r *http.Request, m mailer, id string) string {\n\tr.Header.Set(\"Idempotency-Key\", id)\n\treturn f%d(r, m, id)\n}\n\n", i, (i+k-1)%k)
		}
	},
	"comments that silence": func(w io.Writer, n int) {
		for i := range n / 6 {
			fmt.Fprintf(w, "func f%d(r *http.Request) {\n\t//nolint:all\n\tr.Header.Set(\"Idempotency-Key\", uuidNew())\n\t//idemlint:ignore randomkey generated\n\tr.Header.Set(\"Idempotency-Key\", uuidNew())\n}\n", i)
		}
	},
	"a function that sets keys": func(w io.Writer, n int) {
		fmt.Fprint(w, "func f(r *http.Request, m mailer, id string) string {\n\tkey := id\n")
		for i := range n / 2 {
			fmt.Fprintf(w, "\tkey += uuidNew() + \"%d\"\n\tr.Header.Set(\"Idempotency-Key\", key)\n", i)
		}
		fmt.Fprint(w, "\treturn key\n}\n")
	},
	"a function that acts": func(w io.Writer, n int) {
		fmt.Fprint(w, "func f(s store, m mailer, id string) error {\n")
		for i := range n / 8 {
			fmt.Fprintf(w, "\tif seen, err := s.Seen(id + \"%d\"); err != nil || seen {\n\t\treturn err\n\t}\n\tif err := m.Send(id); err != nil {\n\t\tlog.Print(err)\n\t}\n\tif err := s.MarkSent(id + \"%d\"); err != nil { log.Print(err) }\n\tsent[id] = true\n", i, i)
		}
		fmt.Fprint(w, "\treturn nil\n}\n")
	},
	"a function that tries again": func(w io.Writer, n int) {
		fmt.Fprint(w, "func f(m mailer, id string) (err error) {\n")
		for range n / 6 {
			fmt.Fprint(w, "\tfor {\n\t\tif err = m.Send(id); err == nil {\n\t\t\tbreak\n\t\t}\n\t\ttime.Sleep(1)\n\t}\n")
		}
		fmt.Fprint(w, "\treturn err\n}\n")
	},
	"a function that hashes": func(w io.Writer, n int) {
		fmt.Fprint(w, "func dedupKey(id string) []byte {\n\th := sha256.New()\n")
		for i := range n {
			fmt.Fprintf(w, "\tfmt.Fprintf(h, \"%%s%%v\", id, time.Now().Add(%d))\n", i)
		}
		fmt.Fprint(w, "\treturn h.Sum(nil)\n}\n")
	},
	"a literal": func(w io.Writer, n int) {
		fmt.Fprint(w, "type order struct{ ID, IdempotencyKey string }\n\nfunc f(id string) []order {\n\treturn []order{\n")
		for i := range n {
			fmt.Fprintf(w, "\t\t{ID: \"%d\", IdempotencyKey: id + uuidNew()},\n", i)
		}
		fmt.Fprint(w, "\t}\n}\n")
	},
	"a chain of calls": func(w io.Writer, n int) {
		fmt.Fprint(w, "type b struct{ key string }\n\nfunc (x *b) With(key string) *b { x.key += key; return x }\n\nfunc f(id string) *b {\n\treturn new(b)")
		for range n {
			fmt.Fprint(w, ".\n\t\tWith(id)")
		}
		fmt.Fprint(w, "\n}\n")
	},
	"a sum": func(w io.Writer, n int) {
		fmt.Fprint(w, "func f(r *http.Request, id string) {\n\tr.Header.Set(\"Idempotency-Key\", id")
		for range n {
			fmt.Fprint(w, " +\n\t\tuuidNew()")
		}
		fmt.Fprint(w, ")\n}\n")
	},
	"nested functions": func(w io.Writer, n int) {
		fmt.Fprint(w, "func f(r *http.Request, m mailer, id string) {\n")
		n = min(n, 3000) / 3
		for range n {
			fmt.Fprint(w, "func() {\n\tid += uuidNew()\n\tr.Header.Set(\"Idempotency-Key\", id)\n")
		}
		fmt.Fprint(w, strings.Repeat("}()\n", n)+"}\n")
	},
}

const giantHead = `package m

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"log"
	"net/http"
	"time"
)

type mailer interface{ Send(string) error }

type store interface {
	Seen(string) (bool, error)
	MarkSent(string) error
}

var (
	sent = map[string]bool{}
	_    = sha256.New
	_    = log.Print
	_    = time.Now
	_    = fmt.Sprint
	_    http.Request
)

func uuidNew() string { return rand.Text() }

`

// giant loads a package of one file of n lines, as the go command would have it.
func giant(t testing.TB, fill func(io.Writer, int), n int) *runner {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "m.go")
	var b strings.Builder
	b.WriteString(giantHead)
	fill(&b, n)
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	files, err := exports()
	if err != nil {
		t.Fatal(err)
	}
	u := &unit{Dir: dir, ImportPath: "example.com/m", ModulePath: "example.com/m", GoVersion: "go1.26", GoFiles: []string{file}, ImportMap: map[string]string{}, PackageFile: files}
	for path := range u.PackageFile {
		u.ImportMap[path] = path
	}
	r, err := load(u)
	if err != nil || len(r.typeErrors) > 0 {
		t.Fatal(err, r.typeErrors)
	}
	return r
}

// exports are the files of what giants import.
var exports = sync.OnceValues(func() (map[string]string, error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", "crypto/rand", "crypto/sha256", "fmt", "log", "net/http", "time").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	files := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p struct{ ImportPath, Export string }
		if err := dec.Decode(&p); err != nil {
			return nil, err
		}
		files[p.ImportPath] = p.Export
	}
	return files, nil
})

// TestTheWorkOnAGiantGrowsWithItsLength goes by what is allocated, which is the same
// under any load. What takes no memory is bounded by each rule's count of nodes.
func TestTheWorkOnAGiantGrowsWithItsLength(t *testing.T) {
	const n, times = 1000, 4
	for name, fill := range giants {
		t.Run(name, func(t *testing.T) {
			short, long := allocated(t, fill, n), allocated(t, fill, times*n)
			if long > short*times*3/2 {
				t.Errorf("%d times the length takes %.1f times the memory: %d MB", times, float64(long)/float64(short), long>>20)
			}
		})
	}
}

// allocated is what all rules allocate on a giant.
func allocated(t *testing.T, fill func(io.Writer, int), n int) uint64 {
	t.Helper()
	r := giant(t, fill, n)
	all, err := analyzers.New(analyzers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r.run(all)
	runtime.ReadMemStats(&after)
	for _, f := range r.findings {
		if f.Category == analyzers.NoteCategory {
			t.Fatal(f.Message)
		}
	}
	return after.TotalAlloc - before.TotalAlloc
}

// BenchmarkGiant takes files of 50,000 lines.
func BenchmarkGiant(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(giants)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				n := 50_000
				if name == "a chain of calls" {
					n = 10_000 // go/types takes a minute for more
				}
				r := giant(b, giants[name], n)
				all, err := analyzers.New(analyzers.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				r.run(all)
			}
		})
	}
}
