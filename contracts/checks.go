package contracts

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// The rules between several answers of one contract. Each is silent if one of
// its answers is missing or wrong, since that has a message of its own.

// checkParts reports what is said of fields that are no part of the identity, nor
// of the order of works: it would do nothing, and silently.
func (p *parser) checkParts(c *Contract) {
	id := &c.Identity
	included := setOf(id.Fields)
	if id.Strategy != ByHash {
		included = setOf(id.Key)
	}
	if id.Strategy == "" || id.Strategy != ByHash && len(included) == 0 {
		return
	}
	p.checkAllowEmpty(id, included)
	everything := id.Strategy == ByHash && len(id.Fields) == 0
	excluded := setOf(id.Except)
	if id.Scope.Set {
		included[id.Scope.V] = true
	}
	check := func(v Value[string], path string) {
		out := pathAbove(v.V, excluded)
		switch {
		case pathAbove(v.V, included) != "", everything && out == "":
		case everything:
			p.errorf(v.Pos, path, "%s is no part of the identity: hash.except leaves %s out", clip(v.V), clip(out))
		default:
			p.errorf(v.Pos, path, "%s is no part of the identity%s", clip(v.V), p.didYouMean(v.V, included))
		}
	}
	for _, v := range c.Latest.Of {
		included[v.V] = true
	}
	for _, e := range id.AllowVolatile {
		check(e.Field, "identity.allow_volatile")
	}
	if c.Latest.By.Set {
		included[c.Latest.By.V] = true
	}
	for _, n := range id.Normalize {
		check(n.Field, "identity.normalize")
	}
}

// checkAllowEmpty keeps a key from saying nothing at all.
func (p *parser) checkAllowEmpty(id *Identity, parts map[string]bool) {
	const path = "identity.allow_empty"
	named := 0
	for _, v := range id.AllowEmpty {
		switch {
		case id.Strategy == ByHash:
			p.errorf(v.Pos, path, "a field of a hash may be empty anyhow, as long as not all are: leave allow_empty out")
			return
		case !id.KeyList:
			p.errorf(v.Pos, path, "only parts of a list key may be empty: two inputs without %s are not the same work", clip(v.V))
			return
		case !parts[v.V]:
			p.errorf(v.Pos, path, "%s is no part of the key%s", clip(v.V), p.didYouMean(v.V, parts))
		default:
			named++
		}
	}
	if named > 0 && named == len(parts) {
		p.errorf(id.AllowEmpty[0].Pos, path, "every part of the key may be empty, so that all inputs without any would be the same work: let one stand")
	}
}

// checkCallers warns of keys that two callers may choose alike.
func (p *parser) checkCallers(id *Identity) {
	if id.Strategy == ByCallerKey && len(id.Key) == 1 && !id.Scope.Set {
		p.warnf(id.KeyPos, "identity.caller_key", "%s is the caller's choice, and two callers may choose the same: the second would get the first one's result. Say whose key it is with scope, unless there is one caller", clip(id.Key[0].V))
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
	for _, e := range c.Effects {
		if e.Guard.V != IdempotencyKey || e.RemembersFor.V == 0 || e.RemembersFor.V > schedule {
			continue
		}
		memory := FormatDuration(e.RemembersFor.V)
		if !e.RemembersFor.Set {
			memory += ", the memory that " + e.Provider.V + " states,"
		}
		p.errorf(e.RemembersFor.Pos, join("effects."+clip(e.Name.V), "remembers_for"),
			"%s is not longer than the retry schedule of %s (%s): the last attempt could send a key that the provider has forgotten",
			memory, sayLength(schedule), c.sayAttempts())
	}
}

// checkBudgets refuses budgets that nothing uses up: the work is dead before.
func (p *parser) checkBudgets(c *Contract) {
	attempts := c.Retry.MaxAttempts
	for _, e := range c.Effects {
		if !e.MaxAttempts.Set || e.MaxAttempts.V <= attempts.V {
			continue
		}
		place := "retry.max_attempts"
		if !attempts.Set {
			place = "the default of " + place
		}
		p.errorf(e.MaxAttempts.Pos, join("effects."+clip(e.Name.V), "retry.max_attempts"),
			"%d is more than the %s of the work (%s): the work would be dead before the effect is refused. Say %d or less here, or more there",
			e.MaxAttempts.V, plural(attempts.V, "attempt"), place, attempts.V)
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// sayAttempts is what the retry schedule is made of.
func (c *Contract) sayAttempts() string {
	return fmt.Sprintf("%d attempts of up to %s, a lease of %s and a backoff between them", c.Retry.MaxAttempts.V, FormatDuration(c.Timeout.V), FormatDuration(c.Lease.V))
}

// sayLength is a length of time that may be clamped.
func sayLength(d time.Duration) string {
	if d == math.MaxInt64 {
		return "more than 290 years"
	}
	return FormatDuration(d)
}
