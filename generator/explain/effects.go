package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idem/contracts"
)

func effects(w *writer, c *contracts.Contract) {
	if len(c.Effects) == 0 {
		w.para("Nothing that the contract knows of: it has no effects. If the process is killed, the next attempt runs the handler again from its first line, and whatever the handler does of its own happens again.")
		return
	}
	if oneTransaction(c) {
		w.para("All effects are changes of the ledger's own database. The claim, the effects and the result commit in one transaction: a process that is killed leaves either all of it or nothing.")
	} else {
		w.para("If the process is killed before the first effect, nothing has happened. Later attempts run the handler again from its first line; an effect that is done answers from the ledger and is not called again. If the process is killed after the last effect and before the result is recorded, the next attempt collects the recorded answers and ends the work without calling anybody.")
	}
	diverges(w, c)
	for _, e := range c.Effects {
		effect(w, e)
	}
	for _, r := range c.Removed {
		w.subheading("%s: removed", r.Name.V)
		w.item("Why", "%s", sentence(r.Why.V))
		w.item("Work in flight", "an earlier attempt may have done it; the next ones complete without asking for it. If nobody knows whether it happened, the work waits for a person.")
	}
}

// diverges says what becomes of a handler that decides otherwise than before.
func diverges(w *writer, c *contracts.Contract) {
	reads := 0
	for _, e := range c.Effects {
		if e.Guard.V == contracts.Read {
			reads++
		}
	}
	if reads == len(c.Effects) {
		return // the first answer of a read stands, whatever is asked
	}
	text := "An attempt that asks for an effect of an earlier one with other values stops the work for a person (ErrEffectDiverged)"
	if reads > 0 {
		text += "; a recorded read gives its first answer all the same"
	}
	w.para("%s.", text)
}

// oneTransaction tells whether claim, effects and result commit together.
func oneTransaction(c *contracts.Contract) bool {
	other := func(e *contracts.Effect) bool { return e.Guard.V != contracts.Transaction }
	return len(c.Effects) > 0 && !slices.ContainsFunc(c.Effects, other)
}

func effect(w *writer, e *contracts.Effect) {
	g, ok := guards[e.Guard.V]
	if !ok { // a test holds that there is none
		w.subheading("%s: guarded by %s", e.Name.V, e.Guard.V)
		return
	}
	w.subheading("%s: %s", e.Name.V, g.name)
	if e.Was.Set {
		w.item("In the ledger", "it is %s, its first name, so that its key is the one that it had.", e.Was.V)
	}
	w.item("Promise", "%s", g.promise(e))
	w.item("Not promised", "%s", g.excludes(e))
	if e.Work.Set {
		childWork(w, e, g)
		return
	}
	if len(e.OncePer) > 0 {
		w.item("How often", "once for each %s of its input within the work, not once for the work.", and(paths(e.OncePer)))
	} else {
		w.item("How often", "once for the work.")
	}
	if n := e.MaxAttempts; n.Set {
		w.item("How many calls", "%s is known to have done nothing, the effect is refused: the handler gets ErrEffectRefused, in this attempt and in later ones, and may go on without it.", upTo(n.V))
	}
	if m := e.Message; m.Set {
		w.item("The same message", "%s, to the same %s by %s, is not sent again for %s after it was sent, by whatever work: the effect then answers as the one that sent it. While another effect is sending it, or may have sent it, nothing is sent and the work comes back later (ErrRetryLater), at the latest when that time is over; if the other was given up, so is this one (ErrGivenUp). A message to nobody, or without content, is never sent.",
			the(paths(m.Body)), m.To.V, m.Channel.V, span(m.TTL.V))
		w.item("Of it, the ledger keeps", "the recipient as it is, the content as a hash, and the effect's result.")
	}
	if e.Provider.Set {
		w.item("Carried out by", "%s, at the provider %s.", e.CallName(), e.Provider.V)
	} else {
		w.item("Carried out by", "%s.", e.CallName())
	}
	if e.Guard.V.SendsKey() {
		w.item("Its key", "%s of %s.", keyFormat(e), effectKey(e))
	}
	if e.ExternalRef.Set {
		w.item("Kept in the ledger", "%s of its result, which is what the other system calls it.", e.ExternalRef.V)
	}
	if len(e.Redact) > 0 {
		w.item("Not kept", "%s of its input.", and(paths(e.Redact)))
	}
	for _, point := range g.crash {
		w.item("Killed "+point.when, "%s", point.then(e))
	}
}

// the is a list of fields in which all have to be the same.
func the(fields []string) string { return "the same " + and(fields) }

func upTo(n int) string {
	if n == 1 {
		return "one. If it"
	}
	return fmt.Sprintf("up to %d, in all attempts together. If the last of them", n)
}

// childWork says what holds for an effect that is the work of another contract.
func childWork(w *writer, e *contracts.Effect, g guard) {
	w.item("How often", "once for each work that the identity of %s tells apart.", e.Work.V)
	w.item("Carried out by", "the contract %s, with its own lease, timeout, retries and effects (idemgen explain %s); what it says of duplicates and of its window is for work that is delivered by itself. The child is remembered as long as this work.", e.Work.V, e.Work.V)
	w.item("Its ID", "the SHA-256 of <work ID>:%s:[\"<the ID that %s has by itself>\"].", e.LedgerName(), e.Work.V)
	w.item("While it waits", "for its next attempt, for another process or for a person, this work's attempt ends and is given back (ErrRetryLater); it is due when the child is, or after the longest pause where a person decides.")
	w.item("If it is dead", "the effect is refused, as by a permanent error. If a person has the child tried again, and then this work, both go on.")
	for _, point := range g.crash {
		w.item("Killed "+point.when, "%s", point.then(e))
	}
}

// keyFormat says how the key is written for the provider.
func keyFormat(e *contracts.Effect) string {
	switch f := e.KeyFormat.V; {
	case f == contracts.KeyUUID:
		return "as a UUID, the SHA-256"
	case f.Base62() > 0:
		return fmt.Sprintf("as %d digits in base 62, the SHA-256", f.Base62())
	}
	return "the SHA-256"
}

// effectKey is the text of which an effect's key is the hash.
func effectKey(e *contracts.Effect) string {
	text := "<work ID>:" + e.LedgerName()
	if len(e.OncePer) > 0 {
		text += ":[<" + strings.Join(paths(e.OncePer), ">,<") + ">]"
	}
	return text
}

// words say something of an effect.
type words func(*contracts.Effect) string

func say(text string) words { return func(*contracts.Effect) string { return text } }

// crash is a point at which a process can be killed, and what follows.
type crash struct {
	when string
	then words
}

// guard is what a guard promises.
type guard struct {
	name              string
	promise, excludes words
	crash             []crash
}

// The points that effects outside the database have in common.
var (
	beforeStart = crash{"before its start is recorded", say("it has not happened; the next attempt starts it.")}
	afterAnswer = crash{"after its answer is recorded", say("the next attempt gets that answer, and calls nobody.")}
)

const between = "between that and its answer"

var guards = map[contracts.Guard]guard{
	contracts.Transaction: {
		name:     "in one transaction with the ledger",
		promise:  say("exactly once. The change and its record commit together."),
		excludes: say("anything that the function does outside that database."),
		crash: []crash{
			{"before the commit", say("nothing has happened; the next attempt does it.")},
			{"after the commit", say("the next attempt gets the recorded answer, and changes nothing.")},
		},
	},
	contracts.IdempotencyKey: {
		name:     "the provider knows our key",
		promise:  keyPromise,
		excludes: keyExcludes,
		crash:    []crash{beforeStart, {between, keyUnknown}, afterAnswer},
	},
	contracts.Upsert: {
		name:     "the provider enforces a unique value that we choose",
		promise:  say("exactly once, as long as the provider keeps that value unique: a repeat finds what is there."),
		excludes: say("that there is no second one under another value: the function has to send its key, or a value that follows from its input."),
		crash: []crash{
			beforeStart,
			{between, say("nobody here knows whether it was created; the next attempt asks for it again, and gets what is there or creates it.")},
			afterAnswer,
		},
	},
	contracts.Repeatable: {
		name:     "harmless to repeat",
		promise:  say("at least once."),
		excludes: say("that it happens once only: after a crash at the wrong moment it happens again."),
		crash: []crash{
			beforeStart,
			{between, say("nobody knows whether it happened; the next attempt calls again.")},
			afterAnswer,
		},
	},
	contracts.FindFirst: {
		name: "look before repeating",
		promise: func(e *contracts.Effect) string {
			return "found, or done once more: " + e.Find.V + " looks before anything is repeated."
		},
		excludes: func(e *contracts.Effect) string {
			return "that there is never a second: there is one if the search shows the first later than " + span(e.VisibleAfter.V) + " after its start, or if a process that had stopped goes on after its lease is over (one for each lost lease at worst)."
		},
		crash: []crash{
			beforeStart,
			{between, func(e *contracts.Effect) string {
				return "the next attempt waits until " + span(e.VisibleAfter.V) + " have passed since the start, and looks; what is found counts as done, and only what is absent is called again."
			}},
			afterAnswer,
		},
	},
	contracts.Once: {
		name:    "never repeated",
		promise: oncePromise,
		excludes: func(e *contracts.Effect) string {
			if e.IfUnknown.V == contracts.Repeat {
				return "that it happens once only: after a crash at the wrong moment it happens twice."
			}
			return "that it happened: of a call that was cut off, nobody knows."
		},
		crash: []crash{beforeStart, {between, onceUnknown}, afterAnswer},
	},
	contracts.ChildWork: {
		name:     "other work, as a child",
		promise:  say("what the child's own effects promise; the child itself is begun once, goes on where it stopped, and is done once."),
		excludes: say("that both succeed together: a child that is done stays done if this work fails."),
		crash: []crash{
			{"before the child is begun", say("nothing has happened; the next attempt begins it.")},
			{"while the child is at work", func(e *contracts.Effect) string {
				return "the next attempt goes on with the child once its lease is over; what is done in it stays done."
			}},
			{"after the child is done", say("the next attempt gets its result, and calls nobody.")},
		},
	},
	contracts.Read: {
		name:     "a recorded read",
		promise:  say("every attempt decides by the same answer, the first that was recorded."),
		excludes: say("that the answer is fresh."),
		crash: []crash{
			{"before its answer is recorded", say("the next attempt reads again.")},
			{"after its answer is recorded", say("the next attempt gets that answer, whatever has changed since.")},
		},
	},
}

func keyPromise(e *contracts.Effect) string {
	if endless(e) {
		return "exactly once: the provider does not forget the key that it was sent in " + keyPlace(e) + "."
	}
	return "exactly once, as long as the provider remembers the key that it was sent in " + keyPlace(e) + ": " + span(e.RemembersFor.V) + "."
}

func keyExcludes(e *contracts.Effect) string {
	if endless(e) {
		return "what the provider does not keep of its word."
	}
	return "a repeat after " + span(e.RemembersFor.V) + ": the provider might do it again, so the work waits for a person instead."
}

func keyUnknown(e *contracts.Effect) string {
	text := "nobody here knows whether the provider did it; the next attempt sends the same key again, and the provider does it once."
	if !endless(e) {
		text += " Later than " + span(e.RemembersFor.V) + " after the start, a person decides."
	}
	if e.ReplaysFailures {
		text += " A failure that it has stored it would answer that key with as well: a call that the function says has done nothing (idem.NotApplied) is made again under another key."
	}
	return text
}

// endless tells whether the provider remembers keys for longer than the language
// can say.
func endless(e *contracts.Effect) bool { return e.RemembersFor.V >= contracts.MaxDuration }

// keyPlace says where the key travels.
func keyPlace(e *contracts.Effect) string {
	switch e.KeyPlace {
	case contracts.KeyInField:
		return "the field " + e.Header.V
	case contracts.KeyInDirective:
		return "the directive " + e.Header.V
	}
	return e.Header.V
}

func oncePromise(e *contracts.Effect) string {
	if e.IfUnknown.V == contracts.Repeat {
		return "at least once, and once only unless a call is cut off."
	}
	return "never twice by us."
}

func onceUnknown(e *contracts.Effect) string {
	switch e.IfUnknown.V {
	case contracts.GiveUp:
		return "nobody knows whether it happened; it is recorded as given up, never as done, and not called again. The handler gets ErrGivenUp and may go on without it."
	case contracts.Repeat:
		return "nobody knows whether it happened; the next attempt calls again."
	}
	text := "nobody knows whether it happened; the work waits for a person (ErrOutcomeUnknown), and no delivery runs it again."
	if e.VisibleAfter.Set {
		text += " That it did not happen can be said " + span(e.VisibleAfter.V) + " later and not before."
	}
	return text
}
