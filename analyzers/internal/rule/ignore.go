package rule

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// ignore is one comment that silences rules.
type ignore struct {
	comment  *ast.Comment
	rules    []string // empty: all
	reason   string
	own      bool // //idemlint:ignore, which must have a reason and a use
	from, to int  // lines
	last     int  // the last line of this one and those before it in their order
	used     bool
}

// ignoresOf reads the comments of a file.
func ignoresOf(fset *token.FileSet, file *ast.File) []*ignore {
	var all []*ignore
	for _, group := range file.Comments {
		for _, c := range group.List {
			if ig := parseIgnore(c); ig != nil {
				all = append(all, ig)
			}
		}
	}
	if len(all) > 0 {
		extend(fset, file, all)
	}
	slices.SortStableFunc(all, func(a, b *ignore) int { return a.from - b.from })
	last := 0
	for _, ig := range all {
		last = max(last, ig.to)
		ig.last = last
	}
	return all
}

// parseIgnore reads //idemlint:ignore RULE[,RULE] reason and //nolint[:LINTER,…].
func parseIgnore(c *ast.Comment) *ignore {
	if rest, ok := strings.CutPrefix(c.Text, "//idemlint:ignore"); ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
		names, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
		ig := &ignore{comment: c, own: true, reason: strings.TrimSpace(reason)}
		if names != "" {
			ig.rules = strings.Split(names, ",")
		}
		return ig
	}
	rest, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimPrefix(c.Text, "//"), " "), "nolint")
	if !ok || !strings.HasPrefix(c.Text, "//") {
		return nil
	}
	list, _, _ := strings.Cut(rest, "//")
	list = strings.TrimSpace(list)
	switch {
	case list == "":
		return &ignore{comment: c}
	case list[0] != ':':
		return nil
	}
	ig := &ignore{comment: c}
	for name := range strings.SplitSeq(list[1:], ",") {
		name = strings.TrimSpace(name)
		if name == "all" {
			return &ignore{comment: c}
		}
		ig.rules = append(ig.rules, name)
	}
	return ig
}

// extend finds what each comment is about: the statement, declaration, element or
// argument that begins on its line or, if it has a line of its own, on the next line of code.
func extend(fset *token.FileSet, file *ast.File, all []*ignore) {
	line := func(pos token.Pos) int { return fset.PositionFor(pos, false).Line }
	ends := map[int]int{}           // by first line: last line of the outermost node
	closes := map[int][]token.Pos{} // by line: where nodes end
	add := func(n ast.Node) {
		ends[line(n.Pos())] = max(ends[line(n.Pos())], line(n.End()))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.File, *ast.Comment, *ast.CommentGroup:
		default:
			closes[line(n.End())] = append(closes[line(n.End())], n.End())
		}
		switch n := n.(type) {
		case *ast.BlockStmt:
		case ast.Stmt, ast.Decl, ast.Spec, *ast.Field:
			add(n)
		case *ast.CompositeLit:
			for _, elt := range n.Elts {
				add(elt)
			}
		case *ast.CallExpr:
			for _, arg := range n.Args {
				add(arg)
			}
		}
		return true
	})
	lines := make([]int, 0, len(ends))
	for l := range ends {
		lines = append(lines, l)
	}
	slices.Sort(lines)
	for _, ig := range all {
		at := line(ig.comment.Pos())
		ig.from, ig.to = at, at
		i, found := slices.BinarySearch(lines, at)
		if found {
			ig.to = ends[at]
		} else if alone := !slices.ContainsFunc(closes[at], func(end token.Pos) bool { return end <= ig.comment.Pos() }); alone && i < len(lines) {
			ig.from, ig.to = lines[i], ends[lines[i]]
		}
	}
}

func (ig *ignore) covers(rule string, line int) bool {
	if line < ig.from || line > ig.to {
		return false
	}
	if ig.own {
		return ig.reason != "" && slices.Contains(ig.rules, rule)
	}
	return len(ig.rules) == 0 || slices.Contains(ig.rules, rule) || slices.Contains(ig.rules, "idemlint")
}

func (p *Pass) ignored(pos token.Pos) bool {
	line := p.Fset.PositionFor(pos, false).Line
	found := false
	i, _ := slices.BinarySearchFunc(p.ignores, line+1, func(ig *ignore, line int) int { return ig.from - line })
	for i--; i >= 0 && p.ignores[i].last >= line; i-- {
		if ig := p.ignores[i]; ig.covers(p.doc.Name, line) {
			ig.used, found = true, true
		}
	}
	return found
}

// reportIgnores reports the comments about this rule that lack a reason or a use.
func (p *Pass) reportIgnores() {
	for _, ig := range p.ignores {
		if !ig.own || !slices.Contains(ig.rules, p.doc.Name) {
			continue
		}
		var message string
		switch {
		case ig.reason == "":
			message = "an ignore needs a reason: //idemlint:ignore " + p.doc.Name + " REASON"
		case !ig.used:
			message = "this ignores nothing: " + p.doc.Name + " has nothing to report here (delete the comment)"
		default:
			continue
		}
		p.Pass.Report(analysis.Diagnostic{Pos: ig.comment.Pos(), End: ig.comment.End(), Message: message})
	}
}
