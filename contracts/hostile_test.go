package contracts

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// fill repeats a text up to the size limit of a contract file.
func fill(begin, unit, end string) string {
	n := (maxSource - len(begin) - len(end)) / len(unit)
	return begin + strings.Repeat(unit, n) + end
}

// numbered repeats a text with a running number up to half the limit of
// punctuation marks, or up to the size limit.
func numbered(begin, format string, most int) string {
	var b strings.Builder
	b.WriteString(begin)
	for i := range most {
		if b.Len()+len(format)+10 > maxSource {
			break
		}
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

var hostile = map[string]func() string{
	"flow lists in lists":     func() string { return fill("", "[", "") },
	"closed lists in lists":   func() string { return strings.Repeat("[", 9000) + strings.Repeat("]", 9000) },
	"flow mappings":           func() string { return fill("", "{a: ", "") },
	"deep block lists":        func() string { return fill("", "- ", "") },
	"few block lists":         func() string { return strings.Repeat("- ", 9000) + "a" },
	"deep block mappings":     deepMappings,
	"explicit keys":           func() string { return fill("", "? ", "") },
	"many keys":               func() string { return numbered("", "k%d:\n", 1<<20) },
	"keys up to the limit":    func() string { return numbered("", "k%d:\n", maxPunctuation/2-10) },
	"the same key":            func() string { return strings.Repeat("a:\n", maxPunctuation/2-10) },
	"empty entries":           func() string { return "[" + strings.Repeat(":,", maxPunctuation/3-10) + "]" },
	"entries up to the limit": func() string { return "contracts: [" + strings.Repeat("a,", maxPunctuation-20) + "]" },
	"lists up to the limit":   func() string { return "contracts: [" + strings.Repeat("[],", maxPunctuation/2-20) + "]" },
	"quoted keys":             func() string { return "{" + strings.Repeat("'a':b,", maxPunctuation/3-20) + "}" },
	"kinds up to the limit":   func() string { return numbered("contracts: {", "k%d: ,", maxPunctuation/3-20) + "}" },
	"wide kinds": func() string {
		return numbered("contracts: {", "é%d: {é: é, é: é},", maxPunctuation/9-20) + "}"
	},
	"effects up to the limit": func() string {
		return numbered("contracts:\n  a:\n    effects: {", "e%d: {guard: read},", maxPunctuation/6-20) + "}"
	},
	"effects one per line": func() string {
		return numbered("contracts:\n  a:\n    effects:\n", "      e%d: {guard: read}\n", maxPunctuation/5-20)
	},
	"normalised fields": func() string {
		return numbered("contracts:\n  a:\n    identity: {key: X, normalize: {", "F%d: [trim],", maxPunctuation/4-20) + "}}"
	},
	"hash fields": func() string {
		return numbered("contracts:\n  a:\n    identity: {hash: {fields: [", "F%d,", maxPunctuation-100) + "]}, normalize: {A.B: [trim]}}"
	},
	"long path": func() string {
		return "contracts: {a: {identity: {key: X, normalize: {" + fill("", "A.", "A: [trim]}}}}")[100:]
	},
	"alias bomb": func() string {
		b := "a0: &a0 [x, x]\n"
		for i := range 4000 {
			b += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
		}
		return b
	},
	"alias loop":        func() string { return "contracts: &a\n  b: *a\n" },
	"merge bomb":        func() string { return "a: &a {b: c}\n" + strings.Repeat("x: {<<: *a}\n", 10000) },
	"aliases":           func() string { return "a: &a x\nb: [" + strings.Repeat("*a,", maxPunctuation/2-10) + "]" },
	"anchors":           func() string { return numbered("a: [", "&a%d x,", maxPunctuation/2-10) + "]" },
	"tags":              func() string { return "a: [" + strings.Repeat("!!a b,", maxPunctuation/3-10) + "]" },
	"long line":         func() string { return fill("contracts: ", "a", "") },
	"long quoted line":  func() string { return fill(`contracts: "`, `é`, `"`) },
	"long open quote":   func() string { return fill(`contracts: "`, `a `, ``) },
	"long words":        func() string { return fill("contracts: ", "a b ", "") },
	"long kind":         func() string { return fill("contracts:\n  ", "a", ": x") },
	"long comment":      func() string { return fill("#", "a", "\ncontracts: x") },
	"comments":          func() string { return strings.Repeat("# a\n", maxPunctuation-10) + "contracts: x" },
	"question marks":    func() string { return strings.Repeat("? a\n", maxPunctuation/2-10) },
	"lists of mappings": func() string { return strings.Repeat("- a: b\n", maxPunctuation/3-10) },
	"line comments":     func() string { return "contracts: [" + strings.Repeat("a, # b\n", maxPunctuation/2-20) + "]" },
	"split comments":    func() string { return strings.Repeat("# a\n\n", maxPunctuation-10) + "contracts: x" },
	"lines of text":     func() string { return fill("contracts:\n", " a\n", "") },
	"key then lines":    func() string { return fill("a: |\n", " a\n\n", "") },
	"comment after key": func() string { return "contracts:\n" + strings.Repeat("  a: # b\n  # c\n", maxPunctuation/4-10) },
	"block text":        func() string { return fill("contracts: |\n", "  a\n", "")[:400_000] },
	"blank lines":       func() string { return fill("", "\n", "contracts: x") },
	"blanks":            func() string { return fill("contracts:", " ", "x") },
	"blank text":        func() string { return fill("contracts: |\n", " ", "x") },
	"tabs":              func() string { return fill("", "\ta\n", "") },
	"tabs in a line":    func() string { return fill("", "\t", "a") },
	"escapes":           func() string { return fill(`contracts: "`, `\x41`, `"`) },
	"broken bytes":      func() string { return fill("", "\xff\n", "") },
	"NUL bytes":         func() string { return fill("", "\x00", "") },
	"control bytes":     func() string { return fill("", "\x01\n", "") },
	"documents":         func() string { return strings.Repeat("---\n", maxPunctuation/3-10) },
	"documents of text": func() string { return fill("a\n", "--- a\n", "")[:100_000] },
	"directives":        func() string { return fill("", "%TAG ! a\n", "")[:400_000] },
	"too large":         func() string { return strings.Repeat("a", maxSource+1) },
}

func deepMappings() string {
	var b strings.Builder
	for i := 0; b.Len() < maxSource-2000; i++ {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestHostileFilesCostLittleTimeAndMemory(t *testing.T) {
	skipIfSlow(t)
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			src := []byte(text())
			if len(src) > maxSource+1 {
				t.Fatalf("the test's file has %d bytes", len(src))
			}
			var ds Diagnostics
			took, peak := least(func() { _, ds = Parse("a.idem.yaml", src) })
			if !ds.HasErrors() {
				t.Error("a hostile file was accepted")
			}
			if len(ds.Text()) > 1<<20 {
				t.Errorf("the messages take %d bytes", len(ds.Text()))
			}
			if peak > maxMemory {
				t.Errorf("took %d MB; at most %d are allowed", peak>>20, maxMemory>>20)
			}
			if took > maxTime {
				t.Errorf("took %v; at most %v are allowed", took, maxTime)
			}
			t.Logf("%v, %d MB, %d bytes, %d diagnostics: %s", took.Round(time.Millisecond), peak>>20, len(src), len(ds), ds[0].Error())
		})
	}
}

func skipIfSlow(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("time and memory are measured in a full run without the race detector")
	}
}

// What reading one file may cost.
const (
	maxTime   = 2 * time.Second
	maxMemory = 64 << 20
)

// least measures again what seems to cost too much: a machine that is busy with
// something else adds time, and garbage that its collector is late for.
func least(f func()) (took time.Duration, peak uint64) {
	took, peak = measure(f)
	for range 5 {
		if took <= maxTime && peak <= maxMemory {
			break
		}
		again, more := measure(f)
		took, peak = min(took, again), min(peak, more)
	}
	return took, peak
}

// measure runs f and returns the time and the largest heap, garbage included,
// above that of before.
func measure(f func()) (time.Duration, uint64) {
	runtime.GC()
	heap := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	base, peak := heap(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			peak = max(peak, heap())
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	start := time.Now()
	f()
	took := time.Since(start)
	close(stop)
	<-stopped
	return took, max(peak, base) - base
}

func TestTheLargestGoodFileIsRead(t *testing.T) {
	skipIfSlow(t)
	archive, err := txtar.ParseFile("testdata/valid.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var contract string
	for _, in := range archive.Files {
		if in.Name == "everything.yaml" {
			_, contract, _ = strings.Cut(string(in.Data), "  payout:\n")
			contract = strings.TrimSuffix(contract, "...\n")
		}
	}
	var b strings.Builder
	b.WriteString("contracts:\n")
	n := 0
	for ; b.Len()+len(contract)+20 < maxSource; n++ {
		fmt.Fprintf(&b, "  payout_%d:\n%s", n, contract)
	}
	if n < 700 {
		t.Fatalf("the test's file has %d contracts", n)
	}
	var f *File
	var ds Diagnostics
	took, peak := least(func() { f, ds = Parse("a.idem.yaml", []byte(b.String())) })
	if len(ds) > 0 || len(f.Contracts) != n {
		t.Errorf("%d of %d contracts were read:\n%s", len(f.Contracts), n, ds.Text())
	}
	if peak > maxMemory {
		t.Errorf("took %d MB", peak>>20)
	}
	t.Logf("%d contracts, %v, %d MB", n, took.Round(time.Millisecond), peak>>20)
}
