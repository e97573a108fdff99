package idemtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/internal/crash"
)

// played is what came of a schedule.
type played struct {
	schedule schedule
	ending
	points  []crash.Point // of the first process
	counts  map[string]int
	rows    map[rowID]row
	doubts  map[rowID]bool // effects that were started when a process stopped
	stops   int
	budget  int
	now     time.Time
	ids     []idem.WorkID // of all deliveries
	history string
}

// stopped notes what a process has left behind that stopped.
func (p *played) stopped(rows map[rowID]row) {
	p.stops++
	if p.doubts == nil {
		p.doubts = map[rowID]bool{}
	}
	for id, r := range rows {
		if r.state == idem.EffectStarted {
			p.doubts[id] = true
		}
	}
}

// twoWorks says what is wrong with deliveries that were different work.
func (p *played) twoWorks() string {
	for _, id := range p.ids {
		if id != p.ids[0] {
			return fmt.Sprintf("two deliveries of the same work have different IDs, %s… and %s…: what identifies the work differs between deliveries", p.ids[0].String()[:12], id.String()[:12])
		}
	}
	return ""
}

// done is how many rows of the effect the ledger has in the given state.
func (p *played) in(state idem.EffectState, name string) (n int) {
	for _, r := range p.rows {
		if r.name == name && r.state == state {
			n++
		}
	}
	return n
}

// unfit says why an undisturbed run is nothing to compare with.
func (p *played) unfit(effects map[string]Effect) []string {
	problems := p.strangers(effects)
	switch {
	case p.problem != "":
		problems = append(problems, p.problem)
	case p.state != idem.StateDone:
		problems = append(problems, fmt.Sprintf("the work ends up %s: %v", p.state, p.err))
	}
	for _, name := range names(effects) {
		e := effects[name]
		if e.Guard == idem.GuardRead || e.Guard == idem.GuardWork {
			continue // has no effect of its own
		}
		if p.in(idem.EffectDone, name) > 0 && p.counts[name] == 0 {
			problems = append(problems, fmt.Sprintf("%s is done, and nothing counts it: let its fake call Happened(%q), or give the world a Count for it", name, name))
		}
	}
	return problems
}

// strangers are effects that CrashEverywhere was not told about.
func (p *played) strangers(effects map[string]Effect) (problems []string) {
	unknown := map[string]bool{}
	for _, r := range p.rows {
		if e, ok := effects[r.name]; !ok || e.Guard != r.guard {
			unknown[r.name] = true
		}
	}
	for _, name := range names(unknown) {
		problems = append(problems, fmt.Sprintf("the effect %s, with the guard that it has, is not among those that CrashEverywhere was given", name))
	}
	return problems
}

// unasked lists effects that the handler has not asked for.
func (p *played) unasked(effects []Effect) (list []string) {
	for _, e := range effects {
		if !slices.ContainsFunc(names(p.byName()), func(name string) bool { return name == e.Name }) {
			list = append(list, e.Name)
		}
	}
	return list
}

func (p *played) byName() map[string]bool {
	m := map[string]bool{}
	for _, r := range p.rows {
		m[r.name] = true
	}
	return m
}

// against holds what came of a schedule against the promises, and against what an
// undisturbed run has done.
func (p *played) against(calm *played, effects map[string]Effect) []string {
	problems := p.strangers(effects)
	if p.problem != "" {
		problems = append(problems, p.problem)
	} else if problem := p.badEnd(effects); problem != "" {
		problems = append(problems, problem)
	}
	all := map[string]bool{}
	for name := range calm.counts {
		all[name] = true
	}
	for name := range p.counts {
		all[name] = true
	}
	for _, name := range names(all) {
		got, want := p.counts[name], calm.counts[name]
		least, most := p.promised(calm, effects, name)
		switch {
		case got > most:
			problems = append(problems, fmt.Sprintf("%s happened %s, and %s if nothing stops it: %s", name, times(got), times(want), tooOften(effects, name, want)))
		case got < least && p.problem == "":
			problems = append(problems, fmt.Sprintf("%s happened %s, and %s if nothing stops it: it is lost, and the work is done all the same", name, times(got), times(want)))
		}
	}
	return problems
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// promised is how often something may have happened, by the guard of the effect.
func (p *played) promised(calm *played, effects map[string]Effect, name string) (least, most int) {
	want := calm.counts[name]
	least, most = want, want
	e, declared := effects[name]
	if declared {
		// How often one request for the effect counts.
		each := max(1, want/max(1, calm.in(idem.EffectDone, name)))
		doubts := each * p.stops * max(1, calm.in(idem.EffectDone, name))
		switch {
		case e.Guard == idem.GuardRepeatable, e.Guard == idem.GuardRead, e.Guard == idem.GuardOnce && e.IfUnknown == idem.Repeat:
			most += doubts
		case e.Guard == idem.GuardFindFirst && p.schedule.how == crash.Pause:
			most += each // one extra for a lease that is lost
		}
		least -= each * p.in(idem.EffectGivenUp, name)
		if e.Guard == idem.GuardRead {
			least = 0
		}
	}
	if p.state != idem.StateDone {
		least = 0
	}
	return least, most
}

// badEnd says why the work must not have ended as it has.
func (p *played) badEnd(effects map[string]Effect) string {
	switch {
	case p.state == idem.StateDone:
		return ""
	case p.state == idem.StateDead && p.budget <= p.stops:
		return "" // the contract has no attempt for what comes after the crash
	case p.state == idem.StateUnknown && errors.Is(p.err, idem.ErrEffectDiverged):
		return fmt.Sprintf("%v. An attempt after a crash has to ask for the same effects with the same inputs as the one before: make them of the work's input and of recorded answers (guard read), not of clocks, random numbers or what the process remembers", p.err)
	case p.state == idem.StateUnknown && p.mayBeUnknown(effects):
		return ""
	}
	return fmt.Sprintf("the work ends up %s, which no guard of its effects allows here: %v", p.state, p.err)
}

// mayBeUnknown tells whether a guard of an effect that was under way when a process
// stopped leaves its outcome to a person.
func (p *played) mayBeUnknown(effects map[string]Effect) bool {
	for id, r := range p.rows {
		if !p.doubts[id] {
			continue
		}
		switch e := effects[r.name]; e.Guard {
		case idem.GuardOnce:
			if e.IfUnknown == idem.Ask {
				return true
			}
		case idem.GuardIdempotencyKey:
			if p.now.Sub(r.startedAt) >= e.RemembersFor {
				return true
			}
		}
	}
	return false
}

// tooOften explains what makes an effect happen more often than its guard promises.
func tooOften(effects map[string]Effect, name string, want int) string {
	e, declared := effects[name]
	switch {
	case declared && want == 0:
		return "an undisturbed attempt does not ask for it, and one after a crash or a takeover does: the handler has to decide alike in each attempt, by the work's input and recorded answers (guard read)"
	case !declared:
		return "it is no effect of the contract, so each attempt does it again. Make it one, and ask for it through the effects interface"
	}
	around := "Or the handler does it without asking the effects interface"
	switch e.Guard {
	case idem.GuardTransaction:
		return "with the guard transaction it has to be written through call.Tx() alone, in the ledger's own database. " + around
	case idem.GuardIdempotencyKey:
		return "with the guard idempotency_key its function has to send call.Key(), and the provider (here its fake) to answer a key that it knows without doing it again. " + around
	case idem.GuardUpsert:
		return "with the guard upsert its function has to create it under a unique value such as call.Key(), and the target (here its fake) to take an existing one for the same. " + around
	case idem.GuardFindFirst:
		return "with the guard find_first its function has to leave call.Key() where find looks for it, and find has to see it within visible_after. " + around
	}
	return fmt.Sprintf("with the guard %s the ledger does not ask for it again. %s", e.Guard, strings.Replace(around, "Or the", "The", 1))
}

// report fails the test with what happened and how to see it again.
func (p *played) report(t *testing.T, problems []string) {
	t.Helper()
	t.Errorf("%s\nwhat happened:\n%srun this schedule alone: go test -run '%s'", strings.Join(problems, "\n"), p.history, runPattern(t.Name()))
}

// runPattern chooses one subtest.
func runPattern(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + part + "$"
	}
	return strings.Join(parts, "/")
}
