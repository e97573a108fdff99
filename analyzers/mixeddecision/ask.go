package mixeddecision

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/summary"
)

// maxAsk is how many calls deep a question may be.
const maxAsk = 3

// asks tells whether what a call gives is the answer of a model: it is one by the
// catalogue, or is of a function that asks one, acts on nothing and saves nothing; or
// it is of a method that nothing but names is known of, which are those of a model.
func (c *checker) asks(call *ast.CallExpr) (way []string, ok bool) {
	callee := summary.Callee(c.TypesInfo, call)
	if callee == nil || callee.Pkg() == nil || !givesAnswer(callee) {
		return nil, false
	}
	if way, ok := c.model(callee, summary.Args{Info: c.TypesInfo, Call: call}); ok {
		return way, true
	}
	recv := callee.Signature().Recv()
	if recv == nil || !types.IsInterface(recv.Type()) {
		return nil, false
	}
	impls := c.Implementations(recv.Type(), callee.Name())
	for _, impl := range impls {
		if way, ok := c.model(impl, nil); ok {
			return append(way, catalogue.FuncName(callee)), true
		}
	}
	if len(impls) == 0 && namesModel(callee) {
		return []string{catalogue.FuncName(callee)}, true
	}
	return nil, false
}

func (c *checker) model(fn *types.Func, args catalogue.Args) (way []string, ok bool) {
	s := c.Facts.Of(fn, args)
	if s == nil || s.Pure {
		return nil, false
	}
	for _, e := range s.Effects {
		switch {
		case e.Model && len(e.Way) <= maxAsk:
			way, ok = slices.Clone(e.Way), true
		case e.Class.Outward() && !e.Model || e.Class == catalogue.State:
			return nil, false // it acts, or saves the answer, itself
		}
	}
	slices.Reverse(way)
	if hop := c.Facts.Hop(fn); ok && hop != "" {
		way = append(way, hop)
	}
	return way, ok
}

// givesAnswer tells whether a function gives more than an error, and is none that
// makes something to ask with.
func givesAnswer(fn *types.Func) bool {
	if words := catalogue.Words(fn.Name()); len(words) > 0 && (words[0] == "new" && len(words) > 1 || words[0] == "make" || words[0] == "open") {
		return false
	}
	for v := range fn.Signature().Results().Variables() {
		if !types.Identical(v.Type(), types.Universe.Lookup("error").Type()) {
			return true
		}
	}
	return false
}

// namesModel tells whether the interface of a method is named like a model, and the
// method like a question.
func namesModel(fn *types.Func) bool {
	recv, method, _ := strings.Cut(catalogue.FuncName(fn), ".")
	return slices.ContainsFunc(append(catalogue.Words(recv), catalogue.Words(fn.Pkg().Name())...), func(w string) bool { return slices.Contains(models, w) }) &&
		slices.ContainsFunc(catalogue.Words(method), func(w string) bool { return slices.Contains(questions, w) })
}

var (
	models    = []string{"llm", "openai", "gpt", "chatgpt", "anthropic", "claude", "gemini", "ollama", "bedrock", "deepseek", "mistral", "ai"}
	questions = []string{"complete", "completion", "generate", "chat", "ask", "prompt", "classify", "summarize", "summarise", "extract", "infer", "predict", "analyze", "analyse", "decide", "judge", "score"}
)

// records tells whether a call writes an answer, or something that one is part of,
// somewhere: by the catalogue, a summary, or its name.
func (c *checker) records(call *ast.CallExpr) bool {
	callee := summary.Callee(c.TypesInfo, call)
	if callee == nil || callee.Pkg() == nil || c.Logs(call) {
		return false
	}
	if _, f, ok := c.Routed(call); ok && f.Guard != "read" && f.Guard != "transaction" {
		return false
	}
	if c.fed(call) == nil {
		return false
	}
	s := c.Facts.Of(callee, summary.Args{Info: c.TypesInfo, Call: call})
	if s != nil && slices.ContainsFunc(s.Effects, func(e summary.Effect) bool { return e.Class == catalogue.State && !e.Model }) {
		return true
	}
	words := catalogue.Words(callee.Name())
	if len(words) == 0 {
		return false
	}
	return slices.Contains(saves, words[0]) && !builds(callee) || words[0] == "create" && aboutState(callee)
}

var saves = []string{"save", "store", "insert", "update", "upsert", "persist", "record", "put", "set", "add", "append", "write", "cache", "remember", "log", "commit", "exec", "mark", "checkpoint", "enqueue"}

// builds tells whether a method adds to a value in memory: to a text, a buffer.
func builds(fn *types.Func) bool {
	switch fn.Pkg().Path() {
	case "strings", "bytes", "bufio", "fmt", "io", "net/http", "net/url", "net/textproto", "encoding/json", "time", "math/big":
		return true
	}
	return false
}

func aboutState(fn *types.Func) bool {
	recv, _, _ := strings.Cut(catalogue.FuncName(fn), ".")
	words := append(catalogue.Words(recv), catalogue.Words(fn.Pkg().Name())...)
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"repo", "repository", "store", "storage", "db", "dao", "queries", "querier", "cache", "database", "tx", "ent", "model", "models"}, w)
	})
}
