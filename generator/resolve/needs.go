package resolve

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"

	"github.com/idemgen/idem/contracts"
)

// needs follows the declarations that contracts need and collects what they use of
// other packages.
type needs struct {
	*index
	seen    map[string]bool
	queue   []string
	imports map[string]bool   // by path
	names   map[imported]bool // by name
}

// imported is a package by the name that a file calls it.
type imported struct {
	file *ast.File
	name string
}

// index is the declarations of a package.
type index struct {
	decls   map[string][]declared // package-scope names
	methods map[string][]declared // by name, whatever the receiver
}

// declared is a declaration and the file that it stands in.
type declared struct {
	file *ast.File
	node ast.Node // *ast.FuncDecl, *ast.TypeSpec or *ast.ValueSpec
}

// needed lists the imports that the types of the contracts need, sorted. real
// has the names of imports by path, as far as they are known.
func (s *source) needed(files []*contracts.File, real map[string]string) []string {
	if s.needs == nil {
		s.needs = s.findNeeds(files)
	}
	paths := maps.Clone(s.needs.imports)
	for n := range s.needs.names {
		for _, path := range importsNamed(n.file, n.name, real) {
			paths[path] = true
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

// findNeeds goes through all that the contracts need, once: names of imports are
// told apart by what is known of them.
func (s *source) findNeeds(files []*contracts.File) *needs {
	n := &needs{index: s.declarations(), seen: map[string]bool{}, imports: map[string]bool{}, names: map[imported]bool{}}
	for _, file := range s.files {
		n.dotImports(file) // what they bring is declared in the package's eyes
	}
	for _, cf := range files {
		for _, c := range cf.Contracts {
			n.contract(s, c)
		}
	}
	for len(n.queue) > 0 {
		name := n.queue[0]
		n.queue = n.queue[1:]
		for _, d := range n.decls[name] {
			n.follow(d)
		}
	}
	return n
}

// everything lists all imports of the package's files, sorted.
func (s *source) everything() []string {
	paths := map[string]bool{}
	for _, file := range s.files {
		for _, imp := range file.Imports {
			paths[importPathOf(imp)] = true
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

// declarations are the package's, listed once: they are asked for again when more
// is known of its imports.
func (s *source) declarations() *index {
	if s.declared == nil {
		s.declared = &index{map[string][]declared{}, map[string][]declared{}}
		for _, file := range s.files {
			s.declared.add(file)
		}
	}
	return s.declared
}

func (n *index) add(file *ast.File) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				n.methods[d.Name.Name] = append(n.methods[d.Name.Name], declared{file, d})
			} else {
				n.decls[d.Name.Name] = append(n.decls[d.Name.Name], declared{file, d})
			}
		case *ast.GenDecl:
			n.addGen(file, d)
		}
	}
}

func (n *index) addGen(file *ast.File, d *ast.GenDecl) {
	var implicit *ast.ValueSpec // of constants that repeat the one before
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			n.decls[spec.Name.Name] = append(n.decls[spec.Name.Name], declared{file, spec})
		case *ast.ValueSpec:
			from := spec
			if d.Tok == token.CONST {
				if spec.Type == nil && spec.Values == nil && implicit != nil {
					from = implicit
				}
				implicit = from
			}
			for _, name := range spec.Names {
				n.decls[name.Name] = append(n.decls[name.Name], declared{file, from})
			}
		}
	}
}

// contract follows the names that a contract holds.
func (n *needs) contract(s *source, c *contracts.Contract) {
	h, ok := contracts.ParseHandler(c.Handler.V)
	if !ok {
		return
	}
	n.function(h.Receiver, h.Name)
	if h.Receiver != "" {
		n.receiver(h.Receiver)
	}
	for _, e := range c.Effects {
		if e.Work.Set {
			continue // its types are those of another contract's handler
		}
		n.call(s, h.Receiver, e.CallName())
		if e.Find.Set {
			n.call(s, h.Receiver, e.Find.V)
		}
	}
	for _, list := range [][]contracts.Value[string]{c.Retry.Permanent, c.Retry.Transient} {
		for _, v := range list {
			n.errorName(s, v.V)
		}
	}
}

// call follows the function of an effect, or notes the package that it is of.
func (n *needs) call(s *source, receiver, name string) {
	switch f, _ := contracts.ParseFunc(name); {
	case f.Path != "" && f.Path != s.path:
		n.imports[f.Path] = true
	case f.Package != "":
		for _, file := range s.files {
			n.importNamed(file, f.Package)
		}
	default:
		n.function(receiver, f.Name)
	}
}

func (n *needs) function(receiver, name string) {
	n.want(name)
	if receiver == "" {
		return
	}
	for _, d := range n.methods[name] {
		n.follow(d)
	}
}

// receiver follows what a receiver may have its methods from. Its fields do
// not matter otherwise: what a handler works with is its own affair.
func (n *needs) receiver(name string) {
	for _, d := range n.decls[name] {
		spec, ok := d.node.(*ast.TypeSpec)
		if !ok {
			continue
		}
		st, ok := spec.Type.(*ast.StructType)
		if !ok {
			n.inspect(d.file, spec.Type)
			continue
		}
		for _, field := range st.Fields.List {
			if len(field.Names) == 0 {
				n.inspect(d.file, field.Type)
			}
		}
	}
}

// errorName follows ErrX, net.ErrClosed or *net.OpError.
func (n *needs) errorName(s *source, name string) {
	name = strings.TrimPrefix(name, "*")
	pkg, _, ok := strings.Cut(name, ".")
	if !ok {
		n.want(name)
		return
	}
	for _, file := range s.files {
		n.importNamed(file, pkg)
	}
}

func (n *needs) want(name string) {
	if !n.seen[name] {
		n.seen[name] = true
		n.queue = append(n.queue, name)
	}
}

// follow goes through a declaration. Of a variable with a type, the type is
// enough.
func (n *needs) follow(d declared) {
	switch node := d.node.(type) {
	case *ast.FuncDecl:
		n.inspect(d.file, node.Type) // not its receiver: see there
	case *ast.TypeSpec:
		if node.TypeParams != nil {
			n.inspect(d.file, node.TypeParams)
		}
		n.inspect(d.file, node.Type)
	case *ast.ValueSpec:
		if node.Type != nil {
			n.inspect(d.file, node.Type)
			return
		}
		for _, v := range node.Values {
			n.inspect(d.file, v)
		}
	}
}

// inspect collects the names that an expression uses.
func (n *needs) inspect(file *ast.File, node ast.Node) {
	ast.Inspect(node, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.FuncLit:
			n.inspect(file, x.Type)
			return false
		case *ast.Field:
			n.inspect(file, x.Type)
			return false
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); ok {
				n.importNamed(file, id.Name)
				n.want(id.Name)
				return false
			}
		case *ast.Ident:
			n.want(x.Name)
		}
		return true
	})
}

func (n *needs) dotImports(file *ast.File) {
	for _, imp := range file.Imports {
		if imp.Name != nil && imp.Name.Name == "." {
			n.imports[importPathOf(imp)] = true
		}
	}
}

// importNamed notes that an import is called by name.
func (n *needs) importNamed(file *ast.File, name string) { n.names[imported{file, name}] = true }

// importsNamed is the import that a file calls by name. If none is sure to have
// it, it is each that may have. real has the names of imports by path, as far as
// they are known.
func importsNamed(file *ast.File, name string, real map[string]string) []string {
	var maybe []string
	for _, imp := range file.Imports {
		path := importPathOf(imp)
		switch {
		case imp.Name != nil:
			if imp.Name.Name == name {
				return []string{path}
			}
		case real[path] != "":
			if real[path] == name {
				return []string{path}
			}
		default:
			maybe = append(maybe, path)
		}
	}
	for _, path := range maybe {
		if guessName(path) == name {
			return []string{path}
		}
	}
	return slices.DeleteFunc(maybe, func(path string) bool {
		first, _, _ := strings.Cut(path, "/")
		return !strings.Contains(first, ".")
	})
}
