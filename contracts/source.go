package contracts

// File is a parsed contract file. A File that came with errors holds what
// could be read; only one without errors may be generated from.
type File struct {
	Path      string // as given to Parse; for messages only
	Contracts []*Contract

	lines []string // without line breaks and byte order mark
}

// Line returns the text of a 1-based line, without its line break, or "".
func (f *File) Line(n int) string {
	if n < 1 || n > len(f.lines) {
		return ""
	}
	return f.lines[n-1]
}

// Parse reads a contract file. Path is only used in messages. The diagnostics
// hold everything that is wrong with the file, sorted, none twice; if they
// have no errors, each contract of the file is complete: required answers are
// Set and optional ones hold their defaults. Parse never returns a nil File.
func Parse(path string, src []byte) (*File, Diagnostics) {
	f := &File{Path: path}
	return f, Diagnostics{f.Errorf(Pos{}, "", "nothing is read yet")}
}
