package summary

import (
	"go/types"
	"reflect"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// Result answers what is known of a function: by the catalogue, from this
// package's source, or from the facts of others. It is safe for concurrent use.
type Result struct {
	Catalogue *catalogue.Catalogue

	// Problems are the directives of this package that cannot be understood.
	Problems []Problem

	pass      *analysis.Pass
	contracts []Contract
	own       map[*types.Func]*Func
	fields    map[*types.Var]*Field
	engine    *engine

	mu       sync.Mutex
	imported map[*types.Func]*Func // facts, and entries without condition
	foreign  map[*types.Package][]Contract
}

// Analyzer makes the analyzer that computes summaries by a catalogue.
func Analyzer(c *catalogue.Catalogue) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:             "idemfacts",
		Doc:              "summarise functions for the rules of idemlint\n\nIt reports nothing.",
		FactTypes:        []analysis.Fact{new(Func), new(Package), new(Field)},
		ResultType:       reflect.TypeFor[*Result](),
		Requires:         named(c.Digest()),
		RunDespiteErrors: true,
		Run: func(pass *analysis.Pass) (any, error) {
			r := &Result{Catalogue: c, pass: pass, own: map[*types.Func]*Func{}, fields: map[*types.Var]*Field{}, imported: map[*types.Func]*Func{}}
			if r.matters() {
				r.engine = newEngine(r)
				r.engine.run()
			}
			return r, nil
		},
	}
}

// named is an analyzer that does nothing, for drivers that tell results apart by the
// names of analyzers and packages, and see no file that is not Go: gopls.
func named(digest string) []*analysis.Analyzer {
	if digest == "" {
		return nil
	}
	return []*analysis.Analyzer{{
		Name: "idemcatalogue_" + digest,
		Doc:  "stand for the user's catalogue in the keys of caches\n\nIt reports nothing.",
		Run:  func(*analysis.Pass) (any, error) { return nil, nil },
	}}
}

// matters tells whether the package can hold anything to say: it is not of the
// standard library or the catalogue, and it is of the main module, or imports
// something that the catalogue or a fact speaks of.
func (r *Result) matters() bool {
	pass := r.pass
	if pass.Module == nil || pass.Module.Path == "" || r.Catalogue.Covers(pass.Pkg.Path()) {
		return false
	}
	if Own(pass.Module) {
		return true
	}
	for _, p := range pass.Pkg.Imports() {
		if Telling(r.Catalogue, p.Path()) || pass.ImportPackageFact(p, new(Package)) {
			return true
		}
	}
	return false
}

// Own tells whether a module is the one that is worked on, or one beside it in a
// workspace: those have no version.
func Own(m *analysis.Module) bool { return m != nil && m.Path != "" && m.Version == "" }

// Telling tells whether importing a package is a reason to look at what imports
// it. Everything imports time and os, directly or not.
func Telling(c *catalogue.Catalogue, path string) bool {
	switch path {
	case "time", "os", "fmt", "strings", "bytes", "strconv", "io", "slices", "maps", "sync", "encoding/binary", "sync/atomic", "net/textproto":
		return false
	}
	return c.Covers(path)
}

// Of is what is known of a call, or nil. args may be nil; then no entry with
// conditions applies.
func (r *Result) Of(fn *types.Func, args catalogue.Args) *Func {
	if fn == nil || fn.Pkg() == nil {
		return nil
	}
	fn = fn.Origin()
	if fn.Pkg() == r.pass.Pkg {
		if f := r.own[fn]; f != nil {
			return f
		}
		return byName(fn)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if f, ok := r.imported[fn]; ok {
		return f
	}
	if r.Catalogue.Covers(fn.Pkg().Path()) {
		f, always := fromEntries(fn, r.Catalogue.Func(fn), args)
		if always {
			r.imported[fn] = f
		}
		return f
	}
	f := new(Func)
	if !r.pass.ImportObjectFact(fn, f) {
		f = byName(fn)
	}
	r.imported[fn] = f
	return f
}

// byName is what the name of an interface's method says, or nil.
func byName(fn *types.Func) *Func {
	recv := fn.Signature().Recv()
	if recv == nil || !types.IsInterface(recv.Type()) {
		return nil
	}
	owner, _, _ := strings.Cut(catalogue.FuncName(fn), ".")
	if v := makes(fn.Signature(), owner, fn.Name()); v != "" {
		return &Func{New: []New{{To: catalogue.Result(0), Volatile: v}}}
	}
	return nil
}

// makes is why what a function of this name and signature gives is new, or empty.
func makes(sig *types.Signature, owner, name string) catalogue.Volatile {
	if sig.Results().Len() == 0 {
		return ""
	}
	for p := range sig.Params().Variables() {
		if !namedAs(p.Type(), "context", "Context") {
			return ""
		}
	}
	t := sig.Results().At(0).Type()
	switch v := catalogue.NamesSource(owner, name); {
	case v == catalogue.Clock && namedAs(t, "time", "Time"), v == catalogue.Random && Textual(t):
		return v
	}
	return ""
}

// MadeBy is why what a call of the function in a variable or field gives is new, by
// the name of that variable or field, or empty.
func MadeBy(name string, t types.Type) catalogue.Volatile {
	if sig, ok := types.Unalias(t).Underlying().(*types.Signature); ok {
		return makes(sig, "", name)
	}
	return ""
}

// Field is what directives say of a struct field, or nil.
func (r *Result) Field(v *types.Var) *Field {
	if v == nil || v.Pkg() == nil {
		return nil
	}
	v = v.Origin()
	r.mu.Lock()
	defer r.mu.Unlock()
	if f, ok := r.fields[v]; ok || v.Pkg() == r.pass.Pkg {
		return f
	}
	f := new(Field)
	if !r.pass.ImportObjectFact(v, f) {
		f = nil
	}
	r.fields[v] = f
	return f
}

// Volatile is why a field is volatile: a directive or its name says so.
func (r *Result) Volatile(v *types.Var) catalogue.Volatile {
	if f := r.Field(v); f != nil {
		return f.Volatile
	}
	return catalogue.VolatileField(v.Name())
}

// fromEntries says what the catalogue says. always: whatever the arguments are.
func fromEntries(fn *types.Func, entries []*catalogue.Entry, args catalogue.Args) (f *Func, always bool) {
	always = true
	name := DisplayName(fn)
	f = new(Func)
	for _, e := range entries {
		if len(e.When) > 0 {
			always = false
			if !e.Holds(args) {
				continue
			}
		}
		switch e.Kind {
		case catalogue.Sanitizer:
			f.Clean = true
		case catalogue.Source:
			for _, to := range e.Targets() {
				f.addNew(New{To: to, Volatile: e.Volatile, Way: []string{name}})
			}
		case catalogue.Flow:
			f.addEntryFlow(fn, e)
		case catalogue.Key:
			if e.At != nil && !e.Pairs {
				addReach(&f.Keys, Reach{From: *e.At, Task: e.Task, Way: []string{keyName(e, name, args)}})
			}
		case catalogue.Effect:
			f.addEffect(Effect{Class: e.Class, Safe: e.Safe, Way: []string{name}})
		case catalogue.Memory:
			f.Memory |= memoryOf(e.Does)
		case catalogue.Model:
			f.addEffect(Effect{Class: catalogue.ThirdParty, Model: true, Way: []string{name}})
		}
	}
	if f.Clean {
		f.New, f.Flow = nil, nil
	}
	if f.empty() {
		f = nil
	}
	return f, always
}

func (f *Func) addEntryFlow(fn *types.Func, e *catalogue.Entry) {
	from := e.From
	if len(from) == 0 {
		sig := fn.Signature()
		if sig.Recv() != nil {
			from = append(from, catalogue.Recv)
		}
		for i := range sig.Params().Len() {
			from = append(from, catalogue.Place(i))
		}
	}
	for _, p := range from {
		for _, to := range e.Targets() {
			f.addFlow(Flow{From: p, To: to, Hashed: e.Hash, Encoded: e.Encodes})
		}
		if e.Hash {
			addReach(&f.Hashes, Reach{From: p})
		}
	}
}

// keyName names a key sink: by the header, where there is one.
func keyName(e *catalogue.Entry, name string, args catalogue.Args) string {
	for _, c := range e.When {
		if v := args.Const(c.Arg); c.Op == "names" && v != nil {
			return constantText(v)
		}
	}
	return name
}

// DisplayName names a function in messages: pkg.Func or Type.Method.
func DisplayName(fn *types.Func) string {
	if fn.Signature().Recv() == nil && fn.Pkg() != nil {
		return fn.Pkg().Name() + "." + fn.Name()
	}
	return catalogue.FuncName(fn)
}
