package emit

import (
	"strings"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

const idemtestPath = idemPath + "/idemtest"

// crashTest declares the test that stops a contract's work at every point, in the
// world that a function of the package's tests builds.
func (f *file) crashTest(c *model.Contract) {
	k, t := f.kinds[c], f.v("t")
	name := f.names.declare("Test"+k.word+"CrashEverywhere", "Test"+k.word+"IdemCrashEverywhere")
	play := generic(f.q(idemtestPath, "CrashEverywhere"), f.typ(c.In), f.result(c))
	body := call(play, t, c.Fakes)
	if promises := f.promises(c, "", map[*model.Contract]bool{c: true}); len(promises) > 0 {
		body = play + "(\n" + t + ", " + c.Fakes + ",\n" + strings.Join(promises, ",\n") + ",\n)"
	}
	f.declare(name+" stops "+c.Spec.Kind.V+" wherever a process can die, and has another one do the rest.",
		block("func "+name+"("+t+" *"+f.q("testing", "T")+")", body))
}

// promises are the effects of a contract with what their guards promise, those of
// its children included, each contract once.
func (f *file) promises(c *model.Contract, prefix string, seen map[*model.Contract]bool) (list []string) {
	for _, e := range c.Effects {
		list = append(list, f.promised(e.Spec, prefix))
	}
	for _, child := range c.Children() {
		if !seen[child] {
			seen[child] = true
			list = append(list, f.promises(child, child.Spec.Kind.V+".", seen)...)
		}
	}
	return list
}

var guardNames = map[contracts.Guard]string{
	contracts.Transaction: "GuardTransaction", contracts.IdempotencyKey: "GuardIdempotencyKey", contracts.Upsert: "GuardUpsert",
	contracts.FindFirst: "GuardFindFirst", contracts.Once: "GuardOnce", contracts.Repeatable: "GuardRepeatable",
	contracts.Read: "GuardRead", contracts.ChildWork: "GuardWork",
}

func (f *file) promised(e *contracts.Effect, prefix string) string {
	fields := []string{"Name: " + str(prefix+e.Name.V)}
	if e.Was.Set {
		fields = append(fields, "Was: "+str(prefix+e.Was.V))
	}
	fields = append(fields, "Guard: "+f.idem(guardNames[e.Guard.V]))
	switch e.Guard.V {
	case contracts.IdempotencyKey:
		fields = append(fields, "RemembersFor: "+f.duration(e.RemembersFor.V))
	case contracts.Once:
		fields = append(fields, "IfUnknown: "+f.idem(ifUnknown[e.IfUnknown.V]))
	}
	return list(f.q(idemtestPath, "Effect"), "{", "}", fields)
}
