package canon

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// skipUnderRace is for tests of one goroutine that take many steps or measure
// time: the race detector finds nothing there and takes minutes.
func skipUnderRace(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("one goroutine, many steps")
	}
}

// golden calls f with the two sides of every line of a file in testdata.
func golden(t *testing.T, path, separator string, f func(in, want string)) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := 0
	for scan := bufio.NewScanner(file); scan.Scan(); {
		if strings.HasPrefix(scan.Text(), "#") {
			continue
		}
		in, want, ok := strings.Cut(scan.Text(), separator)
		if !ok {
			t.Fatalf("%s: line %q", path, scan.Text())
		}
		f(in, want)
		lines++
	}
	if lines == 0 {
		t.Fatalf("%s: no lines", path)
	}
}

func codePoints(t *testing.T, s string) string {
	t.Helper()
	var out []rune
	for _, field := range strings.Fields(s) {
		r, err := strconv.ParseInt(field, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rune(r))
	}
	return string(out)
}

func TestNFCIsThatOfAnotherImplementation(t *testing.T) {
	golden(t, "testdata/nfc.txt", " = ", func(in, want string) {
		in, want = codePoints(t, in), codePoints(t, want)
		if got := nfc(in); got != want {
			t.Errorf("NFC of %+q is %+q, want %+q", in, got, want)
		}
		if got := composeRunes(decompose(in)); got != want {
			t.Errorf("the way of long runs makes %+q of %+q, want %+q", got, in, want)
		}
	})
}

// x/text alone would insert U+034F after 30 marks, and these two would meet.
func TestLongRunsOfMarksGetNoJoiner(t *testing.T) {
	marks := strings.Repeat("\u0316", 31)
	without, with := "a"+marks, "a"+marks[:60]+"\u034f"+marks[60:]
	if got := nfc(without); got != without {
		t.Errorf("%+q became %+q", without, got)
	}
	if nfc(without) == nfc(with) {
		t.Error("a string with a joiner is the same as the one without")
	}
}
