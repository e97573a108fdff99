package rule

import (
	"go/ast"
	"go/constant"
	"go/token"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// Exclusive tells whether a function keeps others from doing the same at the same
// time, or lets the database decide: by a transaction, a lock, a claim, or by taking
// care of what is there already.
func (p *Pass) Exclusive(fn *Function) bool {
	found := false
	p.Inspect(fn.Decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			found = found || excludesOthers(n.Name)
		case *ast.BasicLit:
			found = found || n.Kind == token.STRING && containsAny(strings.ToLower(n.Value), exclusiveSQL)
		}
		return !found
	})
	return found
}

// Transactional tells whether a function takes what it has written back when it
// fails: by a transaction.
func (p *Pass) Transactional(fn *Function) bool {
	found := false
	p.Inspect(fn.Decl, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			found = found || slices.ContainsFunc(catalogue.Words(id.Name), func(w string) bool {
				return slices.Contains([]string{"tx", "txn", "trx", "transactional", "begin", "rollback", "savepoint", "atomically"}, w)
			}) || containsAny(strings.ToLower(id.Name), []string{"intransaction", "withtransaction", "runtransaction", "begintransaction"}) || id.Name == "Transaction"
		}
		return !found
	})
	return found
}

// Claims tells whether a call claims work so that one only has it: in a store, and
// not by a lock of this process.
func (p *Pass) Claims(call *ast.CallExpr) bool {
	callee := summary.Callee(p.TypesInfo, call)
	if callee == nil || p.Logs(call) {
		return false
	}
	if slices.ContainsFunc(catalogue.Words(callee.Name()), func(w string) bool { return slices.Contains(claimWords, w) }) ||
		containsAny(strings.ToLower(callee.Name()), exclusiveNames) {
		return true
	}
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		v := p.TypesInfo.Types[arg].Value
		return v != nil && v.Kind() == constant.String && containsAny(strings.ToLower(constant.StringVal(v)), exclusiveSQL)
	})
}

var claimWords = []string{"nx", "claim", "acquire", "reserve", "upsert", "lease", "cas"}

func excludesOthers(name string) bool {
	return slices.ContainsFunc(catalogue.Words(name), func(w string) bool { return slices.Contains(exclusiveWords, w) }) ||
		containsAny(strings.ToLower(strings.ReplaceAll(name, "_", "")), exclusiveNames)
}

func containsAny(s string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

var (
	exclusiveWords = []string{
		"tx", "txn", "trx", "transactional", "begin", "rollback", "lock", "locked", "unlock", "locker", "mutex", "mu", "nx", "claim", "claimed", "acquire", "acquired",
		"reserve", "reserved", "singleflight", "lease", "violation", "duplicated", "upsert", "semaphore", "cas", "rlock", "atomically", "savepoint",
	}
	exclusiveNames = []string{
		"onconflict", "isconflict", "errconflict", "intransaction", "withtransaction", "runtransaction", "begintransaction", "isduplicate", "errduplicate",
		"compareandswap", "trylock", "firstorcreate", "insertornothing", "insertignore", "ifnotexist", "ifabsent",
	}
	exclusiveSQL = []string{
		"on conflict", "insert ignore", "or ignore", "or replace", "for update", "on duplicate", "23505", "unique constraint", "unique violation", "unique_",
		"duplicate key", "duplicate entry", "not exists", "advisory", "merge into",
	}
)
