package retry

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// maxCalls is how many calls deep a key is looked for.
const maxCalls = 3

// Keyed tells whether the code around a retry, or what it calls, speaks of a key
// by which the other side could recognise a repetition, or takes the answer that
// the work has been done already for success. Any mention will do: whether it is
// the right key is for other rules.
func Keyed(p *rule.Pass, fn *rule.Function, r Retry) bool {
	l := &look{p: p, seen: map[*ast.FuncDecl]bool{}}
	if l.function(fn.Decl, 0) || r.Inner != nil && l.function(r.Inner, 1) {
		return true
	}
	for _, arg := range r.Act.Call.Args {
		if identified(p.TypesInfo.TypeOf(arg)) || workID(arg) {
			return true
		}
		if keyField(p, p.TypesInfo.TypeOf(arg), 0) && !writtenHere(p, fn, arg) {
			return true
		}
	}
	return false
}

// workID tells whether an argument is by its name the ID of the very thing that is
// done: of a run, a job, a transaction.
func workID(arg ast.Expr) bool {
	name := ""
	switch e := ast.Unparen(arg).(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	}
	words := catalogue.Words(name)
	return len(words) > 1 && words[len(words)-1] == "id" && slices.Contains(works, words[len(words)-2])
}

var works = []string{"run", "job", "task", "execution", "message", "msg", "event", "workflow", "transaction", "txn", "tx", "payment", "operation", "reference", "request", "delivery", "notification"}

// identified tells whether a value is a message that carries an ID of its own, by
// which who receives it can tell that it has come before.
func identified(t types.Type) bool {
	if t == nil {
		return false
	}
	t = types.Unalias(t)
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = types.Unalias(ptr.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok || !slices.ContainsFunc(catalogue.Words(named.Obj().Name()), func(w string) bool { return slices.Contains(carriers, w) }) {
		return false
	}
	st, ok := named.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range st.Fields() {
		if n := f.Name(); n == "ID" || n == "Id" || n == "UUID" || slices.ContainsFunc(carriers, func(w string) bool { return strings.EqualFold(n, w+"id") }) {
			return true
		}
	}
	return false
}

// carriers are what messages are called.
var carriers = []string{"event", "events", "message", "msg", "envelope", "webhook", "delivery", "notification", "task", "job", "record", "letter", "command"}

// writtenHere tells whether a value is a composite literal of the function: then it
// is seen that its key is not set.
func writtenHere(p *rule.Pass, fn *rule.Function, arg ast.Expr) bool {
	e := ast.Unparen(arg)
	if u, ok := e.(*ast.UnaryExpr); ok {
		e = ast.Unparen(u.X)
	}
	if _, ok := e.(*ast.CompositeLit); ok {
		return true
	}
	id, ok := e.(*ast.Ident)
	if !ok {
		return false
	}
	obj := p.TypesInfo.ObjectOf(id)
	here, other := false, false
	p.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			return true
		}
		for i, lhs := range a.Lhs {
			if l, ok := lhs.(*ast.Ident); !ok || obj == nil || p.TypesInfo.ObjectOf(l) != obj {
				continue
			}
			rhs := ast.Unparen(a.Rhs[i])
			if u, ok := rhs.(*ast.UnaryExpr); ok {
				rhs = ast.Unparen(u.X)
			}
			_, lit := rhs.(*ast.CompositeLit)
			here, other = here || lit, other || !lit
		}
		return true
	})
	return here && !other
}

// look goes through functions of the package.
type look struct {
	p    *rule.Pass
	seen map[*ast.FuncDecl]bool
}

func (l *look) function(decl *ast.FuncDecl, depth int) bool {
	if decl == nil || l.seen[decl] || depth > maxCalls {
		return false
	}
	l.seen[decl] = true
	if decl.Body != nil && len(l.p.Facts.Sinks(l.p.TypesInfo, decl.Body)) > 0 {
		return true
	}
	found := false
	var next []*ast.FuncDecl
	l.p.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			found = found || keyWord(n.Name)
		case *ast.BasicLit:
			found = found || n.Value == "409" || len(n.Value) < 80 && keyWord(n.Value)
		case *ast.CallExpr:
			callee := summary.Callee(l.p.TypesInfo, n)
			if callee == nil {
				break
			}
			if s := l.p.Facts.Of(callee, summary.Args{Info: l.p.TypesInfo, Call: n}); s != nil && len(s.Keys) > 0 {
				found = true
			}
			if inner := l.p.Function(callee); inner != nil {
				next = append(next, inner.Decl)
			}
		}
		return !found
	})
	return found || slices.ContainsFunc(next, func(d *ast.FuncDecl) bool { return l.function(d, depth+1) })
}

var separators = strings.NewReplacer("-", "", "_", "", " ", "")

// keyWord tells whether a name is of a key, or of the answer that the work has been
// done already.
func keyWord(name string) bool {
	if catalogue.NamesKey(name) {
		return true
	}
	n := strings.ToLower(separators.Replace(name))
	for _, w := range []string{"idempot", "dedup", "duplicate", "conflict", "alreadyexist", "clienttoken", "clientrequesttoken", "clientorderid", "uniquekey", "externalid", "x-request-id", "xrequestid", "already"} {
		if strings.Contains(n, w) {
			return true
		}
	}
	return false
}

// keyField tells whether a value has a field that is a key.
func keyField(p *rule.Pass, t types.Type, depth int) bool {
	if t == nil || depth > 2 {
		return false
	}
	t = types.Unalias(t)
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = types.Unalias(ptr.Elem())
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range st.Fields() {
		if keyWord(f.Name()) || f.Embedded() && keyField(p, f.Type(), depth+1) {
			return true
		}
		named, ok := t.(*types.Named)
		if ok && slices.ContainsFunc(p.Catalogue.Field(named.Obj(), f.Name()), func(e *catalogue.Entry) bool { return e.Kind == catalogue.Key }) {
			return true
		}
	}
	return false
}

// MadeInside is a key that each attempt makes anew: where it comes from, and the
// way to where it becomes a key.
func MadeInside(p *rule.Pass, fn *rule.Function, r Retry) (ast.Node, []string, error) {
	if r.Inner != nil || r.Once {
		return nil, nil, nil
	}
	for _, sink := range p.Facts.Sinks(p.TypesInfo, r.Body) {
		os, err := p.Flow.Origins(fn.Decl, sink.Expr, sink.Result, sink.Field)
		if err != nil {
			return nil, nil, err
		}
		for _, o := range os {
			if o.New() && !o.Entity && !o.Partial && r.Body.Pos() <= o.Pos && o.Pos < r.Body.End() {
				return sink.Expr, slices.Concat(o.Way, sink.Way), nil
			}
		}
	}
	return nil, nil, nil
}
