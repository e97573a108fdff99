package survey

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/rule"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// registrations finds where a function registers others that work comes in through,
// or takes in work itself.
func (s *surveyor) registrations(fn *rule.Function, obj *types.Func) {
	s.commands(fn, fn.Decl.Body)
	s.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		callee := summary.Callee(s.TypesInfo, call)
		if callee == nil || callee.Pkg() == nil {
			return true
		}
		args := summary.Args{Info: s.TypesInfo, Call: call}
		for _, e := range s.Catalogue.Func(callee) {
			if e.Kind != catalogue.EntryKind || !e.Holds(args) {
				continue
			}
			if e.Pulls {
				s.pulls(fn, obj, call, callee, e)
			} else if e.At != nil {
				s.register(fn, call, callee, e.Means, summary.Operands(s.TypesInfo, call, *e.At))
			}
		}
		if strings.HasPrefix(callee.Name(), "Register") && strings.HasSuffix(callee.Name(), "Server") && len(call.Args) == 2 {
			s.services(fn, call, callee)
		}
		return true
	})
}

func (s *surveyor) entry(n ast.Node, means, system string) Entry {
	p := s.Fset.Position(n.Pos())
	return Entry{Means: means, System: system, File: p.Filename, Line: p.Line, Column: p.Column}
}

// register records an entry for the functions that an argument stands for. A route
// with several handlers runs them one after the other.
func (s *surveyor) register(fn *rule.Function, call *ast.CallExpr, callee *types.Func, means string, operands []ast.Expr) {
	e := s.entry(call, means, callee.Pkg().Path())
	e.Route = s.route(fn, call, callee)
	sig := callee.Signature()
	for _, op := range operands {
		var want types.Type
		if n := sig.Params().Len(); n > 0 {
			want = sig.Params().At(n - 1).Type()
			for i, arg := range call.Args {
				if arg == op && i < n {
					want = sig.Params().At(i).Type()
				}
			}
		}
		e.Funcs = append(e.Funcs, s.funcs(fn, op, want, 0)...)
		e.Ledger = s.contractIn(op)
	}
	if len(e.Funcs) > 0 {
		s.record.Entries = append(s.record.Entries, e)
	}
}

// services records an entry for each method of a gRPC service.
func (s *surveyor) services(fn *rule.Function, call *ast.CallExpr, callee *types.Func) {
	params := callee.Signature().Params()
	if params.Len() != 2 {
		return
	}
	iface, ok := params.At(1).Type().Underlying().(*types.Interface)
	if !ok {
		return
	}
	service := strings.TrimSuffix(strings.TrimPrefix(callee.Name(), "Register"), "Server")
	for m := range iface.Methods() {
		method, _, _ := types.LookupFieldOrMethod(s.TypesInfo.TypeOf(call.Args[1]), true, s.Pkg, m.Name())
		impl, ok := method.(*types.Func)
		if !ok || !s.mine(impl) || types.IsInterface(impl.Signature().Recv().Type()) || impl.Signature().Params().Len() == 0 {
			continue
		}
		e := s.entry(call, "rpc", "google.golang.org/grpc")
		e.Route, e.Funcs = service+"/"+m.Name(), []string{id(impl)}
		s.record.Entries = append(s.record.Entries, e)
	}
}

// pulls records that a function takes in work itself. A ticker counts only if the
// function loops over it.
func (s *surveyor) pulls(fn *rule.Function, obj *types.Func, call *ast.CallExpr, callee *types.Func, e *catalogue.Entry) {
	if callee.Pkg().Path() == "time" && !receives(fn.Decl.Body) {
		return
	}
	entry := s.entry(call, e.Means, callee.Pkg().Path())
	entry.Pulls, entry.Funcs, entry.Route = true, []string{id(obj)}, s.constants(call.Args)
	s.record.Entries = append(s.record.Entries, entry)
}

// receives tells whether there is a loop in which something is received from a
// channel of times.
func receives(body ast.Node) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			ast.Inspect(n.Body, func(n ast.Node) bool {
				u, ok := n.(*ast.UnaryExpr)
				found = found || ok && u.Op == token.ARROW
				return !found
			})
		case *ast.RangeStmt:
			if sel, ok := ast.Unparen(n.X).(*ast.SelectorExpr); ok && sel.Sel.Name == "C" {
				found = true
			}
			if c, ok := ast.Unparen(n.X).(*ast.CallExpr); ok && rule.CallName(c) == "time.Tick" {
				found = true
			}
		}
		return !found
	})
	return found
}

// loops records a function that does something, sleeps, and does it again.
func (s *surveyor) loops(fn *rule.Function, self string) {
	s.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		loop, ok := n.(*ast.ForStmt)
		if !ok || loop.Cond != nil || loop.Init != nil {
			return true
		}
		for _, stmt := range loop.Body.List {
			x, ok := stmt.(*ast.ExprStmt)
			if !ok {
				continue
			}
			if call, ok := x.X.(*ast.CallExpr); ok && rule.CallName(call) == "time.Sleep" {
				e := s.entry(call, "schedule", "time")
				e.Pulls, e.Funcs = true, []string{self}
				s.record.Entries = append(s.record.Entries, e)
			}
		}
		return true
	})
}

// commands finds the fields in which libraries for command lines are told what to
// run.
func (s *surveyor) commands(fn *rule.Function, n ast.Node) {
	s.Inspect(n, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		named, ok := types.Unalias(s.TypesInfo.TypeOf(lit)).(*types.Named)
		if !ok || named.Obj().Pkg() == nil || named.Obj().Name() != "Command" && named.Obj().Name() != "App" {
			return true
		}
		path := named.Obj().Pkg().Path()
		if path != "github.com/spf13/cobra" && !strings.HasPrefix(path, "github.com/urfave/cli") {
			return true
		}
		e := s.entry(lit, "call", path)
		for _, elt := range lit.Elts {
			kv, ok := elt.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			key, _ := kv.Key.(*ast.Ident)
			if key == nil {
				continue
			}
			switch key.Name {
			case "Use", "Name":
				if v := s.TypesInfo.Types[kv.Value].Value; v != nil && v.Kind() == constant.String {
					e.Route, _, _ = strings.Cut(printable(constant.StringVal(v)), " ")
				}
			case "Run", "RunE", "Action":
				e.Funcs = append(e.Funcs, s.funcs(fn, kv.Value, nil, 0)...)
			}
		}
		if len(e.Funcs) > 0 {
			s.record.Entries = append(s.record.Entries, e)
		}
		return true
	})
}

// route says what work a registration is for: the method and the constants beside
// the function.
func (s *surveyor) route(fn *rule.Function, call *ast.CallExpr, callee *types.Func) string {
	var parts []string
	switch name := strings.ToUpper(callee.Name()); name {
	case "GET", "POST", "PUT", "PATCH", "DELETE":
		parts = append(parts, name)
	}
	if text := s.constants(call.Args); text != "" {
		parts = append(parts, text)
	} else if len(call.Args) > 1 {
		if b, ok := s.TypesInfo.TypeOf(call.Args[0]).Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
			parts = append(parts, short(call.Args[0]))
		}
	}
	// r.HandleFunc("/x", f).Methods("POST")
	if sel, ok := fn.Parent(call).(*ast.SelectorExpr); ok && sel.Sel.Name == "Methods" {
		if outer, ok := fn.Parent(sel).(*ast.CallExpr); ok {
			if text := s.constants(outer.Args); text != "" {
				parts = append([]string{text}, parts...)
			}
		}
	}
	return strings.Join(parts, " ")
}

// constants are the constant texts among arguments; the name of a constant stands
// for one that is empty or long.
func (s *surveyor) constants(args []ast.Expr) string {
	var parts []string
	for _, arg := range args {
		v := s.TypesInfo.Types[arg].Value
		if v == nil || v.Kind() != constant.String {
			continue
		}
		if text := constant.StringVal(v); text != "" && len(text) <= 80 && !strings.ContainsAny(text, "\n\r") {
			parts = append(parts, printable(text))
		}
	}
	return strings.Join(parts, " ")
}

// maxWrap is how many calls may be around a function that is registered.
const maxWrap = 4

// funcs are the IDs of the functions that an expression stands for: a function, a
// method, a literal, one in a conversion or handed to a wrapper, what a function of
// this program returns, or the methods of a value that want has.
func (s *surveyor) funcs(fn *rule.Function, e ast.Expr, want types.Type, depth int) []string {
	e = ast.Unparen(e)
	if depth > maxWrap || e == nil {
		return nil
	}
	switch x := e.(type) {
	case *ast.FuncLit:
		if s.literals[x] == "" {
			s.literals[x] = s.literalID(x)
		}
		return []string{s.literals[x]}
	case *ast.CallExpr:
		return s.made(fn, x, want, depth)
	}
	if f := s.named1(e); f != nil {
		s.registered[e] = true
		if recv := f.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
			return []string{s.anyOf(f, recv.Type())}
		}
		return []string{id(f)}
	}
	if ident, ok := e.(*ast.Ident); ok {
		if def := s.definition(fn, ident); def != nil {
			if all := s.funcs(fn, def, want, depth+1); len(all) > 0 {
				return all
			}
		}
	}
	return s.methods(e, want)
}

// made are the functions that a call stands for.
func (s *surveyor) made(fn *rule.Function, call *ast.CallExpr, want types.Type, depth int) []string {
	var all []string
	if callee := summary.Callee(s.TypesInfo, call); callee != nil && s.mine(callee) && len(call.Args) == 0 {
		if _, isFunc := s.TypesInfo.TypeOf(call).Underlying().(*types.Signature); isFunc {
			return []string{id(callee)} // what it returns is part of it
		}
	}
	for _, arg := range call.Args {
		t := s.TypesInfo.TypeOf(arg)
		if t == nil {
			continue
		}
		if _, isFunc := t.Underlying().(*types.Signature); isFunc || types.IsInterface(t) || s.methodNamed(arg, want) {
			all = append(all, s.funcs(fn, arg, want, depth+1)...)
		}
	}
	if len(all) > 0 {
		return all
	}
	if found := s.methods(call, want); len(found) > 0 {
		return found
	}
	callee := summary.Callee(s.TypesInfo, call)
	if callee == nil || !s.mine(callee) {
		return nil
	}
	t := s.TypesInfo.TypeOf(call)
	if _, isFunc := t.Underlying().(*types.Signature); isFunc || types.IsInterface(t) {
		return []string{id(callee)} // what it returns is part of it
	}
	return nil
}

// anyOf stands for the methods of all types that implement an interface.
func (s *surveyor) anyOf(f *types.Func, t types.Type) string {
	name := s.ifaceKey(t)
	return AnyOf + name + " " + f.Name()
}

func (s *surveyor) methodNamed(e ast.Expr, want types.Type) bool { return len(s.methods(e, want)) > 0 }

// named1 is the declared function that an expression names.
func (s *surveyor) named1(e ast.Expr) *types.Func {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		f, _ := s.TypesInfo.Uses[x].(*types.Func)
		return f
	case *ast.SelectorExpr:
		f, _ := s.TypesInfo.Uses[x.Sel].(*types.Func)
		return f
	case *ast.IndexExpr:
		return s.named1(x.X)
	}
	return nil
}

// definition is the only value that a variable of the function gets, or nil.
func (s *surveyor) definition(fn *rule.Function, ident *ast.Ident) ast.Expr {
	obj := s.TypesInfo.ObjectOf(ident)
	if obj == nil {
		return nil
	}
	var found ast.Expr
	count := 0
	s.Inspect(fn.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if id, ok := lhs.(*ast.Ident); ok && s.TypesInfo.ObjectOf(id) == obj {
					count++
					if len(n.Lhs) == len(n.Rhs) {
						found = n.Rhs[i]
					} else if i == 0 {
						found = n.Rhs[0]
					}
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if s.TypesInfo.ObjectOf(name) == obj && i < len(n.Values) {
					count++
					found = n.Values[i]
				}
			}
		}
		return true
	})
	if count != 1 {
		return nil
	}
	return found
}

// works are the methods by which libraries hand in work, where an interface says
// nothing more.
var works = []string{
	"ServeHTTP", "ProcessTask", "Work", "Run", "Handle", "HandleMessage", "ConsumeClaim", "Process", "Execute", "Consume", "Receive", "Invoke", "Do",
}

// methods are those of a value by which it is handed work.
func (s *surveyor) methods(e ast.Expr, want types.Type) []string {
	t := s.TypesInfo.TypeOf(e)
	if t == nil || types.IsInterface(t) {
		return nil
	}
	var names []string
	if want != nil {
		if iface, ok := want.Underlying().(*types.Interface); ok {
			for m := range iface.Methods() {
				names = append(names, m.Name())
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	if known := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !slices.Contains(works, n) }); len(known) > 0 {
		names = known
	}
	var all []string
	for _, name := range names {
		obj, _, _ := types.LookupFieldOrMethod(t, true, s.Pkg, name)
		if f, ok := obj.(*types.Func); ok && s.mine(f) && !types.IsInterface(f.Signature().Recv().Type()) {
			all = append(all, id(f))
		}
	}
	return all
}
