package explain

import (
	"github.com/idemgen/idem/contracts"
)

func window(w *writer, c *contracts.Contract) {
	const after = "The same input after that is new work, and all of it is done again. Work on which a person has to decide is not forgotten."
	switch until := c.Window.Until; {
	case c.Window.Forever:
		w.para("For ever: work that was done or given up never becomes new again.")
	case until.Set:
		w.para("Until work of the kind %s has succeeded that was delivered first after this work was done or given up, and for %s in any case. %s", until.V, span(c.Window.Duration), after)
		w.para("What counts is when that work was first tried, not when it succeeded: what it read before this work was done may be out of date. Where it has a scope, only its success for the same one counts%s. As long as none succeeds, nothing is forgotten.", sameScope(&c.Identity))
	default:
		w.para("For %s from the moment at which the work was done or given up. %s", span(c.Window.Duration), after)
	}
}

func sameScope(id *contracts.Identity) string {
	if !id.Scope.Set {
		return ""
	}
	return " (" + id.Scope.V + ")"
}

// latest says what becomes of work that is older than what is done.
func latest(w *writer, c *contracts.Contract) {
	l := &c.Latest
	if !l.Set {
		return
	}
	w.heading("Which of two is the newer one")
	about := paths(l.Of)
	if c.Identity.Scope.Set {
		about = append([]string{c.Identity.Scope.V}, about...)
	}
	w.para("Of works with the same %s, the one with the higher %s is newer. Work that comes when a newer one is done is not run any more: it is done without a result, as superseded, and so are its duplicates. The same %s is not older.", and(about), l.By.V, l.By.V)
	w.para("Two of them may run at the same moment, and their effects may then happen in any order. Once the newer one is done, the older one starts no more effects, and ends as superseded. What it has done by then stays done, and a call that was on its way may arrive after what the newer one did.")
	if !c.Window.Forever {
		w.para("This is known for as long as the newest work itself is remembered. Older work that comes later than that is run.")
	}
	w.para("Only what is done with the same %s counts: where it gets another name in JSON, or its time another precision, all begins anew.", l.By.V)
}
