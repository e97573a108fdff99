package contracts

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// The rules between several answers of one contract. Each is silent if one of
// its answers is missing or wrong, since that has a message of its own.

// checkNormalized reports normalisers for fields that are no part of the
// identity: they would do nothing, and silently.
func (p *parser) checkNormalized(id *Identity) {
	included := setOf(id.Fields)
	if id.Strategy == ByKey {
		included = setOf(id.Key)
	}
	if id.Strategy == "" || id.Strategy == ByKey && len(included) == 0 {
		return
	}
	everything := id.Strategy == ByHash && len(id.Fields) == 0
	excluded := setOf(id.Except)
	if id.Scope.Set {
		included[id.Scope.V] = true
	}
	for _, n := range id.Normalize {
		out := pathAbove(n.Field.V, excluded)
		switch {
		case pathAbove(n.Field.V, included) != "", everything && out == "":
		case everything:
			p.errorf(n.Field.Pos, "identity.normalize", "%s is no part of the identity: hash.except leaves %s out", clip(n.Field.V), clip(out))
		default:
			p.errorf(n.Field.Pos, "identity.normalize", "%s is no part of the identity%s", clip(n.Field.V), p.didYouMean(n.Field.V, included))
		}
	}
}

// pathAbove is the field path of the set that is path or contains it, or "".
func pathAbove(path string, set map[string]bool) string {
	for above := path; above != ""; above = above[:max(strings.LastIndexByte(above, '.'), 0)] {
		if set[above] {
			return above
		}
	}
	return ""
}

// maxHints bounds the work that goes into suggestions for one file.
const maxHints = 100

func (p *parser) didYouMean(word string, set map[string]bool) string {
	if len(p.diagnostics) > maxHints || len(set) > maxHints {
		return ""
	}
	return DidYouMean(word, slices.Sorted(maps.Keys(set)))
}

// checkMemory compares the memory of each provider with the time in which we
// may still send it the key: a key that is forgotten in between pays twice.
func (p *parser) checkMemory(c *Contract) {
	schedule := c.RetrySchedule()
	length := FormatDuration(schedule)
	if schedule == math.MaxInt64 {
		length = "more than 290 years"
	}
	for _, e := range c.Effects {
		if e.Guard.V != IdempotencyKey || !e.RemembersFor.Set || e.RemembersFor.V > schedule {
			continue
		}
		p.errorf(e.RemembersFor.Pos, join("effects."+clip(e.Name.V), "remembers_for"),
			"%s is not longer than the retry schedule of %s (%d attempts of up to %s, a lease of %s and a backoff between them): the last attempt could send a key that the provider has forgotten",
			FormatDuration(e.RemembersFor.V), length, c.Retry.MaxAttempts.V, FormatDuration(c.Timeout.V), FormatDuration(c.Lease.V))
	}
}
