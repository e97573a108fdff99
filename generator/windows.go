package generator

import (
	"maps"
	"slices"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/contracts/lock"
)

// checkWindows reports windows that no work of the module can end: they wait for
// a kind that is not there, or for a success that never counts. Elsewhere are the
// kinds that the run may not have looked at.
func checkWindows(elsewhere []lock.Kind, now []lock.Contract) contracts.Diagnostics {
	kinds := map[string]*lock.Identity{}
	for _, k := range elsewhere {
		if !k.Retired && len(k.Versions) > 0 {
			kinds[k.Name] = &k.Versions[len(k.Versions)-1].Identity
		}
	}
	for _, c := range now {
		kinds[c.Spec.Kind.V] = &c.Now.Identity
	}
	var diags contracts.Diagnostics
	for _, c := range now {
		if until := c.Spec.Window.Until; until.Set {
			other, known := kinds[until.V]
			if d := checkUntil(c, other, known, kinds); d != nil {
				diags = append(diags, d)
			}
		}
	}
	return diags
}

func checkUntil(c lock.Contract, other *lock.Identity, known bool, kinds map[string]*lock.Identity) *contracts.Diagnostic {
	const path = "window.until_success_of"
	until, scope := c.Spec.Window.Until, c.Now.Identity.Scope
	switch {
	case !known:
		return c.File.Errorf(until.Pos, path, "no contract of the module has the kind %s%s, so that nothing would ever be forgotten. (A kind that is new in another package is known once idemgen has run there; one of another module cannot be named, since nobody could tell it from a misspelt one.)",
			until.V, contracts.DidYouMean(until.V, slices.Sorted(maps.Keys(kinds))))
	case other.Scope == nil: // its success counts for all
		return nil
	case scope == nil:
		return c.File.Errorf(until.Pos, path, "each %s has its %s, and %s has no scope: it would have to be known whose success it waits for. Give it a scope, or a window that time alone ends", other.Scope.Field, until.V, c.Spec.Kind.V)
	case scope.Type != other.Scope.Type:
		return c.File.Errorf(until.Pos, path, "the scope of %s is %s (%s) and that of %s is %s (%s): they are never the same, so that nothing would ever be forgotten. Encode both alike, normalisers included",
			c.Spec.Kind.V, scope.Field, scope.Type, until.V, other.Scope.Field, other.Scope.Type)
	}
	return nil
}
