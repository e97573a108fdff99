package driver

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"go/types"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/objectpath"
)

// facts are those of a package and of what it imports. Those of imports stay
// encoded until somebody asks for one, which few do.
type facts struct {
	files   map[string]string            // fact file, by import path
	read    map[string]bool              // files read
	known   map[string]map[string][]byte // by package path, then by object and type of fact
	paths   objectpath.Encoder
	failure error
}

func newFacts(files map[string]string) *facts {
	return &facts{files: files, read: map[string]bool{}, known: map[string]map[string][]byte{}}
}

// factID names a fact within a package: the object's path, empty for the package
// itself, and the fact's type.
func factID(object objectpath.Path, f analysis.Fact) string {
	return string(object) + "\x00" + reflect.TypeOf(f).Elem().String()
}

func (s *facts) export(path string, object objectpath.Path, f analysis.Fact) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(f); err != nil {
		s.failure = fmt.Errorf("fact %v: %w", f, err)
		return
	}
	if s.known[path] == nil {
		s.known[path] = map[string][]byte{}
	}
	s.known[path][factID(object, f)] = b.Bytes()
}

func (s *facts) exportObject(pkg *types.Package) func(types.Object, analysis.Fact) {
	return func(o types.Object, f analysis.Fact) {
		if path, err := s.paths.For(o); err == nil { // else no other package can name it
			s.export(pkg.Path(), path, f)
		}
	}
}

func (s *facts) importObject(o types.Object, f analysis.Fact) bool {
	if o.Pkg() == nil || !s.has(o.Pkg().Path()) {
		return false
	}
	path, err := s.paths.For(o)
	return err == nil && s.decode(o.Pkg().Path(), path, f)
}

func (s *facts) importPackage(p *types.Package, f analysis.Fact) bool {
	return s.has(p.Path()) && s.decode(p.Path(), "", f)
}

func (s *facts) decode(path string, object objectpath.Path, f analysis.Fact) bool {
	data, ok := s.known[path][factID(object, f)]
	if !ok {
		return false
	}
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(f); err != nil {
		s.failure = fmt.Errorf("fact about %s %s: %w", path, object, err)
		return false
	}
	return true
}

// has reads the fact files, on the first question for another package: facts about
// a package may be in the file of another, which passes them on.
func (s *facts) has(path string) bool {
	for _, imported := range slices.Sorted(maps.Keys(s.files)) {
		if !s.read[imported] {
			s.read[imported] = true
			if err := s.readFile(s.files[imported]); err != nil {
				s.failure = fmt.Errorf("facts of %s: %w", imported, err)
			}
		}
	}
	return s.known[path] != nil
}

// The file is a sequence of records of three texts: package, object with fact
// type, and the fact. Each is preceded by its length.
func (s *facts) readFile(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for len(data) > 0 {
		var record [3][]byte
		for i := range record {
			n, size := binary.Uvarint(data)
			if size <= 0 || n > uint64(len(data)-size) {
				return fmt.Errorf("%s is damaged", name)
			}
			record[i], data = data[size:size+int(n)], data[size+int(n):]
		}
		path, id := string(record[0]), string(record[1])
		if s.known[path] == nil {
			s.known[path] = map[string][]byte{}
		}
		s.known[path][id] = record[2]
	}
	return nil
}

// write writes the facts of a package, and of those whose types it shows to others:
// who imports it may call their methods without importing them.
func (s *facts) write(name string, pkg *types.Package) error {
	if s.failure != nil {
		return s.failure
	}
	if name == "" {
		return nil
	}
	var out []byte
	text := func(b []byte) {
		out = binary.AppendUvarint(out, uint64(len(b)))
		out = append(out, b...)
	}
	for _, path := range s.shown(pkg) {
		for _, id := range slices.Sorted(maps.Keys(s.known[path])) {
			object, _, _ := strings.Cut(id, "\x00")
			if path != pkg.Path() && !strings.Contains(object, ".") {
				continue // a function: callable only by who imports its package
			}
			text([]byte(path))
			text([]byte(id))
			text(s.known[path][id])
		}
	}
	return os.WriteFile(name, out, 0o666)
}

// shown are the packages with facts whose types the exported names of a package
// lead to, the package itself included, sorted.
func (s *facts) shown(pkg *types.Package) []string {
	s.has(pkg.Path()) // reads what nobody has asked for
	w := &walker{facts: s, seen: map[types.Type]bool{}, packages: map[string]bool{pkg.Path(): true}}
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		if o := scope.Lookup(name); o.Exported() {
			w.visit(o.Type())
		}
	}
	var paths []string
	for path := range w.packages {
		if s.known[path] != nil {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// walker collects the packages of the named types that a type leads to.
type walker struct {
	facts    *facts
	seen     map[types.Type]bool
	packages map[string]bool
}

func (w *walker) visit(t types.Type) {
	t = types.Unalias(t)
	if w.seen[t] {
		return
	}
	w.seen[t] = true
	switch t := t.(type) {
	case *types.Named:
		w.named(t)
	case *types.Signature:
		w.tuple(t.Params())
		w.tuple(t.Results())
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() || f.Embedded() {
				w.visit(f.Type())
			}
		}
	case *types.Map:
		w.visit(t.Key())
		w.visit(t.Elem())
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		w.visit(t.Elem())
	}
}

func (w *walker) tuple(t *types.Tuple) {
	for v := range t.Variables() {
		w.visit(v.Type())
	}
}

// named does not look into types of packages without facts: most are the standard
// library's, which lead nowhere and would have to be read from export data.
func (w *walker) named(t *types.Named) {
	path := ""
	if o := t.Obj(); o.Pkg() != nil {
		path = o.Pkg().Path()
	}
	inside := w.packages[path] || w.facts.known[path] != nil
	if inside {
		w.packages[path] = true
	}
	for a := range t.TypeArgs().Types() {
		w.visit(a)
	}
	if !inside {
		return
	}
	for m := range t.Methods() {
		if m.Exported() {
			w.visit(m.Type())
		}
	}
	w.visit(t.Underlying())
}
