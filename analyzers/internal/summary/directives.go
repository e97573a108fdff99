package summary

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/internal/directive"
)

// Problem is a directive that cannot be understood.
type Problem struct {
	Pos, End token.Pos
	Message  string
}

// said is what directives say of a function, beside what its source does.
type said struct {
	effects  []Effect
	pure     bool
	volatile catalogue.Volatile
	keys     []catalogue.Place
	handler  string
}

// readDirectives reads the //idem: comments of functions, of the methods of
// interfaces and of struct fields.
func (e *engine) readDirectives() {
	for _, file := range e.pass.Files {
		read := map[*ast.Comment]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if fn, ok := e.info.Defs[n.Name].(*types.Func); ok {
					e.ofFunc(fn, n.Doc, read)
				}
			case *ast.InterfaceType:
				for _, m := range n.Methods.List {
					for _, name := range m.Names {
						if fn, ok := e.info.Defs[name].(*types.Func); ok {
							e.ofFunc(fn, m.Doc, read)
							e.ofFunc(fn, m.Comment, read)
						}
					}
				}
			case *ast.StructType:
				for _, field := range n.Fields.List {
					for _, name := range field.Names {
						if v, ok := e.info.Defs[name].(*types.Var); ok {
							e.ofField(v, field.Doc, read)
							e.ofField(v, field.Comment, read)
						}
					}
				}
			}
			return true
		})
		e.strays(file, read)
	}
}

// directives are those of a comment that speak to the analyzers.
func (e *engine) directives(doc *ast.CommentGroup, read map[*ast.Comment]bool, f func(directive.Directive) error) {
	if doc == nil {
		return
	}
	for _, c := range doc.List {
		d, ok, err := directive.Parse(c.Text)
		if !ok || err == nil && !directive.ForAnalyzers(d.Name) {
			continue
		}
		read[c] = true
		if err == nil {
			err = f(d)
		}
		if err != nil {
			e.Problems = append(e.Problems, Problem{c.Pos(), c.End(), err.Error()})
		}
	}
}

// strays reports directives that stand where they say nothing.
func (e *engine) strays(file *ast.File, read map[*ast.Comment]bool) {
	for _, group := range file.Comments {
		for _, c := range group.List {
			d, ok, err := directive.Parse(c.Text)
			if !ok || read[c] {
				continue
			}
			message := ""
			switch {
			case err != nil:
				message = err.Error()
			case directive.ForAnalyzers(d.Name):
				message = fmt.Sprintf("//idem:%s says nothing here: put it directly above a function, a method of an interface or a struct field", d.Name)
			case !directive.Known(d.Name):
				message = fmt.Sprintf("no directive //idem:%s; known are %s", d.Name, strings.Join(directive.Names(), ", "))
			default:
				continue
			}
			e.Problems = append(e.Problems, Problem{c.Pos(), c.End(), message})
		}
	}
}

func (e *engine) ofFunc(fn *types.Func, doc *ast.CommentGroup, read map[*ast.Comment]bool) {
	e.directives(doc, read, func(d directive.Directive) error {
		if e.said[fn] == nil {
			e.said[fn] = new(said)
		}
		return e.said[fn].take(fn, d)
	})
	if s := e.said[fn]; s != nil && e.byObj[fn] == nil { // nothing else is known of it
		e.own[fn] = new(Func)
		s.apply(fn, e.own[fn])
	}
}

// take reads one directive about a function.
func (s *said) take(fn *types.Func, d directive.Directive) error {
	switch d.Name {
	case directive.Effect:
		if err := d.Only("class", "repeat"); err != nil {
			return err
		}
		class := catalogue.Class(strings.ReplaceAll(d.Get("class"), "-", " "))
		if !slices.Contains(catalogue.Classes(), class) {
			return fmt.Errorf("//idem:effect: want class=money, message, queue, third-party, state or internal; got %q", d.Get("class"))
		}
		if r := d.Get("repeat"); r != "" && r != "safe" {
			return fmt.Errorf("//idem:effect: want repeat=safe or no repeat at all; got %q", r)
		}
		s.effects = append(s.effects, Effect{Class: class, Safe: d.Get("repeat") == "safe"})
	case directive.Pure:
		s.pure = true
		return d.Only()
	case directive.Volatile:
		kind, err := volatileKind(d)
		s.volatile = kind
		return err
	case directive.Key:
		return s.takeKey(fn, d)
	case directive.Handler:
		s.handler = d.Get("means")
		if s.handler == "" {
			s.handler = "call"
		}
		return d.Only("means")
	}
	return nil
}

func volatileKind(d directive.Directive) (catalogue.Volatile, error) {
	kind := catalogue.Volatile(d.Get("kind"))
	switch kind {
	case "":
		kind = catalogue.Random
	case catalogue.Random, catalogue.Clock, catalogue.Counter, catalogue.Process, catalogue.Request, catalogue.Received:
	default:
		return "", fmt.Errorf("//idem:volatile: want kind=random, clock, counter, process, request or received; got %q", kind)
	}
	return kind, d.Only("kind")
}

func (s *said) takeKey(fn *types.Func, d directive.Directive) error {
	if err := d.Only("param"); err != nil {
		return err
	}
	name := d.Get("param")
	params := fn.Signature().Params()
	var names []string
	for i := range params.Len() {
		if params.At(i).Name() == name {
			s.keys = append(s.keys, catalogue.Place(i))
			return nil
		}
		names = append(names, params.At(i).Name())
	}
	return fmt.Errorf("//idem:key: want param=NAME with the name of a parameter of %s (%s); got %q", fn.Name(), strings.Join(names, ", "), name)
}

// apply makes the summary say what the directives say. It tells whether that was
// news.
func (s *said) apply(fn *types.Func, f *Func) bool {
	changed := f.Pure != s.pure || f.Handler != s.handler
	f.Pure, f.Handler = s.pure, s.handler
	if s.pure {
		f.Effects = nil
	}
	for _, e := range s.effects {
		changed = f.addEffect(e) || changed
	}
	for _, k := range s.keys {
		changed = addReach(&f.Keys, Reach{From: k, Way: []string{fn.Signature().Params().At(int(k)).Name()}}) || changed
	}
	if s.volatile != "" {
		for i := range fn.Signature().Results().Len() {
			if !isError(fn.Signature().Results().At(i).Type()) {
				changed = f.addNew(New{To: catalogue.Result(i), Volatile: s.volatile}) || changed
			}
		}
	}
	return changed
}

func (e *engine) ofField(v *types.Var, doc *ast.CommentGroup, read map[*ast.Comment]bool) {
	e.directives(doc, read, func(d directive.Directive) error {
		f := e.fields[v]
		if f == nil {
			f = new(Field)
			e.fields[v] = f
		}
		switch d.Name {
		case directive.Key:
			f.Key = true
			return d.Only()
		case directive.Volatile:
			kind, err := volatileKind(d)
			f.Volatile = kind
			return err
		}
		return fmt.Errorf("//idem:%s says nothing of a field; key and volatile do", d.Name)
	})
}
