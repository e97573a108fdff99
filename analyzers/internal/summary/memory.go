package summary

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Memory is what a function does with marks that it keeps in the memory of the
// process.
type Memory uint8

// What can be done with marks; a claim is a check and a mark in one.
const (
	Checks Memory = 1 << iota
	Marks
	Releases
)

// Has tells whether all of the other is done.
func (m Memory) Has(other Memory) bool { return m&other == other }

func (m Memory) String() string {
	var parts []string
	for i, name := range []string{"checks", "marks", "releases"} {
		if m&(1<<i) != 0 {
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, " ")
}

// memory records what a function does with marks itself; what the functions that it
// calls do is for those who call them.
func (f *function) memory(s *Func) bool {
	if KeepsFile(f.obj) {
		return false
	}
	var m Memory
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		did, store := f.MemoryOf(f.info, n)
		if did != 0 && !f.persisted(f.info, store) {
			m |= did
		}
		return true
	})
	changed := s.Memory != m
	s.Memory = m
	return changed
}

// MemoryOf is what a node does with marks in the memory of the process, and what
// holds them: a map or a list in a field or a global variable whose values are
// marks, or a cache that the catalogue knows.
func (r *Result) MemoryOf(info *types.Info, n ast.Node) (Memory, ast.Expr) {
	return r.MemoryIn(info, n, func(e ast.Expr) bool { return longLived(info, e) })
}

// MemoryIn is as MemoryOf, for what outlives a call as lives says.
func (r *Result) MemoryIn(info *types.Info, n ast.Node, lives func(ast.Expr) bool) (Memory, ast.Expr) {
	marks := func(e ast.Expr) bool { return markMap(info, e) && lives(e) }
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			if len(n.Lhs) != len(n.Rhs) || n.Tok != token.ASSIGN {
				break
			}
			if ix, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok && marks(ix.X) && !isFalse(info, n.Rhs[i]) {
				return Marks, ix.X
			}
			if list := appended(info, lhs, n.Rhs[i]); list != nil && lives(list) {
				return Marks, list
			}
		}
		for _, rhs := range n.Rhs {
			if ix, ok := ast.Unparen(rhs).(*ast.IndexExpr); ok && marks(ix.X) {
				return Checks, ix.X
			}
		}
	case *ast.IfStmt:
		if ix, ok := indexed(n.Cond); ok && marks(ix.X) {
			return Checks, ix.X
		}
	case *ast.ReturnStmt:
		for _, e := range n.Results {
			if ix, ok := indexed(e); ok && marks(ix.X) {
				return Checks, ix.X
			}
		}
	case *ast.CallExpr:
		if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok && id.Name == "delete" && len(n.Args) == 2 && marks(n.Args[0]) {
			return Releases, n.Args[0]
		}
		if list := contained(info, n); list != nil && lives(list) {
			return Checks, list
		}
		return r.cacheCall(info, n, lives)
	}
	return 0, nil
}

// memoryOf is what a catalogue entry says.
func memoryOf(does string) Memory {
	switch does {
	case "check":
		return Checks
	case "mark":
		return Marks
	case "claim":
		return Checks | Marks
	case "release":
		return Releases
	}
	return 0
}
