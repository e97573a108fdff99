package emit

import "github.com/idemgen/idem/internal/directive"

// Output is one generated file.
type Output struct {
	Name    string // base name
	Content []byte
}

// output seals the source of a file.
func output(name string, src []byte) Output { return Output{name, directive.Seal(src)} }
