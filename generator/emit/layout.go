package emit

import (
	"math"
	"strings"
)

// indented appends code with its indentation. A line that ends with an opening
// brace or parenthesis has one level inside, down to the line that begins with
// the closing one; of other brackets none is open at the end of a line.
func indented(dst []byte, code string) []byte {
	depth := 0
	for len(code) > 0 {
		var line string
		line, code, _ = strings.Cut(code, "\n")
		if len(line) > 0 {
			if line[0] == '}' || line[0] == ')' {
				depth--
			}
			for range depth {
				dst = append(dst, '\t')
			}
			dst = append(dst, line...)
			if last := line[len(line)-1]; (last == '{' || last == '(') && !strings.HasPrefix(line, "//") {
				depth++
			}
		}
		dst = append(dst, '\n')
	}
	return dst
}

// keySizes are the sizes of the keys in a column, by which gofmt judges whether the
// next one shares it.
type keySizes struct {
	last  int
	count int     // of keys
	logs  float64 // the sum of their logarithms
}

// smallKey is the size up to which keys share a column whatever their ratio.
const smallKey = 40

// fits tells whether the next key shares the column, and if so adds it: if both
// it and the last are small, or it is not far from the geometric mean.
func (s *keySizes) fits(size int) bool {
	if s.count > 0 && (s.last > smallKey || size > smallKey) {
		const threshold = 2.5
		ratio := float64(size) / math.Exp(s.logs/float64(s.count))
		if threshold*ratio <= 1 || threshold <= ratio {
			return false
		}
	}
	s.last = size
	s.count++
	s.logs += math.Log(float64(size))
	return true
}
