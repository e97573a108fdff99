// Package rule is what all rules of idemlint share: which code they look at, what
// they know of it, how they report, and what silences them.
//
// A rule is a Doc and a function that looks at one function of the program at a
// time:
//
//	func New(base rule.Base) *analysis.Analyzer {
//		return rule.New(doc, base, check)
//	}
//
//	func check(p *rule.Pass, fn *rule.Function) {
//		for _, sink := range p.Facts.Sinks(p.TypesInfo, fn.Decl.Body) { … }
//	}
//
// The function is called for code of the main module that people have written:
// never for tests (unless -tests is given), generated files, fixtures and
// migrations. A panic in it becomes a note on the function that it was looking at;
// the others are looked at all the same.
package rule
