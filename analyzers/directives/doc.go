// Package directives finds comments to idemlint that say nothing.
package directives

import "github.com/idemgen/idem/analyzers/internal/rule"

// Doc is the rule's page.
var Doc = rule.Doc{
	Name:  "directives",
	Title: "find comments to idemlint that it cannot understand",
	What: `
An //idem: directive that does not exist, has a wrong argument or stands where it
says nothing, and an //idemlint:ignore without rule or of a rule that does not exist.
(An ignore that has no reason, or nothing to ignore, is reported by the rule that it
names.)`,
	Why: `
A comment that is silently not understood looks as if it held: an effect is taken
for harmless, or a finding for a false one, that nobody has looked at.`,
	Silent: `
Directives of generated files, and //nolint, which belongs to others.`,
	Fails: `
//idem:effect class=cash
func charge() {}`,
	Passes: `
//idem:effect class=money
func charge() {}`,
	Fix: `
Write it as the message says, directly above the function, the method of an
interface or the struct field that it is about.`,
}
