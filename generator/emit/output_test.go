package emit_test

import (
	"bytes"
	"fmt"
	"go/format"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/idemgen/idem/generator/emit"
	"github.com/idemgen/idem/internal/directive"
)

func TestOutputIsWhatItWrote(t *testing.T) {
	outputs, err := emit.Package(billing())
	if err != nil {
		t.Fatal(err)
	}
	content, err := outputs[0].Content()
	if err != nil {
		t.Fatal(err)
	}
	if !outputs[0].Is(content) {
		t.Error("the file that was just written would be formatted again")
	}
	if outputs[0].Is(bytes.Replace(content, []byte("return"), []byte("panic"), 1)) {
		t.Error("a file that was edited by hand would be kept")
	}
	if outputs[0].Is(bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n"))) {
		t.Error("a file with the line ends of another system would be kept")
	}
}

// TestOutputIsNoOtherCode takes characters out of the file, or puts blanks in,
// and seals it, so that it looks like the work of another version of idemgen.
func TestOutputIsNoOtherCode(t *testing.T) {
	outputs, err := emit.Package(billing())
	if err != nil {
		t.Fatal(err)
	}
	content, err := outputs[0].Content()
	if err != nil {
		t.Fatal(err)
	}
	src, ok := directive.Unseal(content)
	if !ok {
		t.Fatal("the output is not sealed")
	}
	random := rand.New(rand.NewPCG(1, 2))
	kept := 0
	for range 3000 {
		i := random.IntN(len(src))
		changed := bytes.Clone(src)
		if i%2 == 0 {
			changed = append(changed[:i], changed[i+1:]...)
		} else {
			changed = fmt.Appendf(nil, "%s%c%s", src[:i], " \n"[random.IntN(2)], src[i:])
		}
		if !outputs[0].Is(directive.Seal(changed)) {
			continue
		}
		kept++
		if formatted, err := format.Source(changed); err != nil || !bytes.Equal(formatted, src) {
			t.Fatalf("kept, but not the same code (%v), around %q", err, src[max(0, i-40):min(len(src), i+40)])
		}
	}
	if kept == 0 {
		t.Error("no change of blanks was seen through: the test is of no use")
	}
}

func TestOutputMindsBlanksThatMean(t *testing.T) {
	p := billing()
	p.Files[0].Contracts[0].Spec.Statement.V = "A B."
	outputs, err := emit.Package(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"AB.", "A  B."} {
		p := billing()
		p.Files[0].Contracts[0].Spec.Statement.V = other
		file := render(t, p)
		if !strings.Contains(string(file), other) {
			t.Fatalf("the statement %q is not in the file", other)
		}
		if outputs[0].Is(file) {
			t.Errorf("a file with %q would be kept for one with %q", other, "A B.")
		}
	}
}
