package generate

import (
	"bytes"
	"context"
	"flag"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var full = flag.Bool("full", false, "measure modules of full size, the first with pgx, gRPC and an AWS client, which the first run downloads and compiles")

// BenchmarkModule is a module of 200 contracts in 20 packages. The ways take
// turns; each figure is a ratio of total CPU times.
func BenchmarkModule(b *testing.B) {
	m := module{packages: 2, files: 2, contracts: 5}
	if *full {
		m = module{packages: 20, files: 2, contracts: 5, heavy: true}
	}
	t := newTools(b)
	dir := t.newModule(b, m)
	t.run(b, dir, "go", "build", "./...") // or nothing that follows means anything
	var goList, fresh, upToDate, again, check, loadAll usage
	n := 0
	for b.Loop() {
		goList.add(t.run(b, dir, "go", append([]string{"list", "-export", "-f", "{{.Export}}", "--"}, m.needed()...)...))
		removeGenerated(b, dir)
		fresh.add(t.idemgen(b, dir, m, "generate", looks))
		upToDate.add(t.idemgen(b, dir, m, "generate", remembers))
		t.touch(b, dir)
		again.add(t.idemgen(b, dir, m, "generate", looks))
		check.add(t.idemgen(b, dir, m, "check", looks))
		loadAll.add(t.run(b, dir, t.path("loadall"), "./..."))
		n++
	}
	b.ReportMetric(goList.cpu.Seconds()*1000/float64(n), "golist-cpu-ms/op")
	b.ReportMetric(fresh.over(goList), "fresh/golist")
	b.ReportMetric(upToDate.over(goList), "uptodate/golist")
	b.ReportMetric(again.over(goList), "again/golist")
	b.ReportMetric(check.over(goList), "check/golist")
	b.ReportMetric(loadAll.over(fresh), "loadall/fresh")
	// That of the process that has most, children included: with idemgen that is
	// idemgen itself, as far as it is above that of go list alone.
	b.ReportMetric(max(fresh.peakMB, upToDate.peakMB, again.peakMB, check.peakMB), "peak-MB")
	b.ReportMetric(goList.peakMB, "golist-peak-MB")
	b.ReportMetric(loadAll.peakMB, "loadall-peak-MB")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPackage is one package of 2,000 contracts.
func BenchmarkPackage(b *testing.B) {
	m := module{packages: 1, files: 40, contracts: 5}
	if *full {
		m.contracts = 50
	}
	benchmarkPackage(b, m)
}

// BenchmarkFile is one file of 1,000 contracts.
func BenchmarkFile(b *testing.B) {
	m := module{packages: 1, files: 1, contracts: 100}
	if *full {
		m.contracts = 1000
	}
	benchmarkPackage(b, m)
}

func benchmarkPackage(b *testing.B, m module) {
	t := newTools(b)
	dir := t.newModule(b, m)
	var fresh, upToDate, again usage
	n := 0
	for b.Loop() {
		removeGenerated(b, dir)
		fresh.add(t.idemgen(b, dir, m, "generate", looks))
		upToDate.add(t.idemgen(b, dir, m, "generate", remembers))
		t.touch(b, dir)
		again.add(t.idemgen(b, dir, m, "generate", looks))
		n++
	}
	b.ReportMetric(fresh.cpu.Seconds()/float64(n), "fresh-cpu-s/op")
	b.ReportMetric(fresh.wall.Seconds()/float64(n), "fresh-s/op")
	b.ReportMetric(upToDate.cpu.Seconds()/float64(n), "uptodate-cpu-s/op")
	b.ReportMetric(again.cpu.Seconds()/float64(n), "again-cpu-s/op")
	b.ReportMetric(max(fresh.peakMB, upToDate.peakMB, again.peakMB), "peak-MB")
	b.ReportMetric(0, "ns/op")
}

// usage is what runs of one way took.
type usage struct {
	cpu, wall time.Duration // total
	peakMB    float64       // the largest resident set of any process of any run
}

func (u *usage) add(v usage) {
	u.cpu += v.cpu
	u.wall += v.wall
	u.peakMB = max(u.peakMB, v.peakMB)
}

func (u usage) over(v usage) float64 { return float64(u.cpu) / float64(v.cpu) }

// tools are the programs that are measured.
type tools struct{ dir, repo string }

func newTools(b *testing.B) *tools {
	repo, err := filepath.Abs("../..")
	if err != nil {
		b.Fatal(err)
	}
	t := &tools{dir: b.TempDir(), repo: repo}
	t.run(b, repo, "go", "build", "-o", t.path("idemgen"), "./cmd/idemgen")
	t.run(b, filepath.Join(repo, "bench"), "go", "build", "-o", t.path("loadall"), "./generate/loadall")
	return t
}

func (t *tools) path(name string) string { return filepath.Join(t.dir, name) }

// newModule writes a module, compiles what it needs, so that the build cache is
// warm, and generates for it.
func (t *tools) newModule(b *testing.B, m module) string {
	dir := b.TempDir()
	if err := m.write(dir, t.repo); err != nil {
		b.Fatal(err)
	}
	t.run(b, dir, "go", append([]string{"build", "--"}, m.needed()...)...)
	t.idemgen(b, dir, m, "generate", looks)
	formatted(b, dir)
	return dir
}

// formatted makes sure that what was measured left nothing for gofmt to do.
func formatted(b *testing.B, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*_idem*.go"))
	if err != nil || len(files) == 0 {
		b.Fatalf("no generated files: %v", err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		if want, err := format.Source(src); err != nil || !bytes.Equal(src, want) {
			b.Fatalf("%s is not as gofmt has it (%v)", file, err)
		}
	}
}

var asked = regexp.MustCompile(`(\d+) contracts in .* for (\d+) packages`)

// Whether a run of idemgen knows from the one before that there is nothing to do.
const (
	looks     = false
	remembers = true
)

// touch changes a Go file in a way that no contract depends on, after which a run
// has to look at everything again, to find that nothing is left to write.
func (t *tools) touch(b *testing.B, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "orders00.go"))
	if err != nil || len(files) == 0 {
		b.Fatalf("no Go files: %v", err)
	}
	src, err := os.ReadFile(files[0])
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(files[0], append(src, "// Changed.\n"...), 0o644); err != nil {
		b.Fatal(err)
	}
}

// idemgen runs a verb, and makes sure that it did what the figure is about.
func (t *tools) idemgen(b *testing.B, dir string, m module, verb string, remembered bool) usage {
	b.Helper()
	var stderr bytes.Buffer
	u := t.runTo(b, &stderr, dir, t.path("idemgen"), verb, "-v", "./...")
	want := []string{strconv.Itoa(m.total()), strconv.Itoa(len(m.needed()))}
	if got := asked.FindStringSubmatch(stderr.String()); got == nil || got[1] != want[0] || got[2] != want[1] {
		b.Fatalf("want %s contracts and %s packages asked for, got: %s", want[0], want[1], stderr.String())
	}
	if got := strings.Contains(stderr.String(), "nothing has changed"); got != remembered {
		b.Fatalf("remembered: %v, want %v: %s", got, remembered, stderr.String())
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*_idem.go"))
	if err != nil || len(files) != m.packages*m.files {
		b.Fatalf("%d generated files (%v), want %d", len(files), err, m.packages*m.files)
	}
	return u
}

func removeGenerated(b *testing.B, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*_idem.go"))
	if err != nil || len(files) == 0 {
		b.Fatalf("no generated files: %v", err)
	}
	for _, file := range append(files, filepath.Join(dir, "idem.lock")) {
		if err := os.Remove(file); err != nil {
			b.Fatal(err)
		}
	}
}

func (t *tools) run(b *testing.B, dir, name string, args ...string) usage {
	b.Helper()
	return t.runTo(b, new(bytes.Buffer), dir, name, args...)
}

// runTo runs a command and gives what it and its children took.
func (t *tools) runTo(b *testing.B, stderr *bytes.Buffer, dir, name string, args ...string) usage {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "IDEMGEN_CACHE="+t.path("memory"))
	cmd.Stderr = stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s %s: %v\n%.2000s", name, strings.Join(args, " "), err, stderr)
	}
	s := cmd.ProcessState
	return usage{cpu: s.UserTime() + s.SystemTime(), wall: time.Since(began), peakMB: peakMB(s)}
}

// peakMB is the largest resident set among a process and its children.
func peakMB(s *os.ProcessState) float64 {
	r, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	unit := 1024.0
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return float64(r.Maxrss) * unit / 1e6
}
