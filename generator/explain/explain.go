package explain

import (
	"fmt"
	"strings"

	"github.com/idemgen/idem/contracts"
)

// Contract explains a contract without errors. Place is where it stands, such as
// billing/orders.idem.yaml:3. The text is at most 80 characters wide, names of
// the contract aside, and ends with a newline.
func Contract(c *contracts.Contract, place string) string {
	w := &writer{}
	w.line("%s, version %d (%s)", c.Kind.V, c.Version.V, place)
	w.para("%s", strings.Join(strings.Fields(c.Statement.V), " "))
	w.para("The work is done by %s.", c.Handler.V)
	delivery(w, &c.Delivery)

	w.heading("What is the same work")
	identity(w, c)
	latest(w, c)
	superseded(w, c)
	w.heading("For how long it is remembered")
	window(w, c)
	kept(w, c)
	w.heading("What a duplicate gets")
	duplicates(w, c)
	w.heading("How often it is tried")
	retries(w, c)
	w.heading("What it does to the world")
	effects(w, c)
	w.heading("When to acknowledge a delivery")
	acknowledge(w, c)
	return w.String()
}

// delivery says what brings the work, if the contract does.
func delivery(w *writer, d *contracts.Delivery) {
	source := "Its source"
	if d.System.Set {
		source = "It is brought by " + d.System.V + ", which"
	}
	switch {
	case !d.Set:
		return
	case d.ByDesign:
		w.para("It is brought by %s. Nobody bounds for how long a person or a clock may bring the same work again; %s are taken for it.", d.System.V, span(d.RedeliversFor.V))
	case d.AckWithin.V > 0:
		w.para("%s may deliver the same message again for %s, and wants its answer within %s.", source, span(d.RedeliversFor.V), span(d.AckWithin.V))
	default:
		w.para("%s may deliver the same message again for %s.", source, span(d.RedeliversFor.V))
	}
	if d.NeverByItself() && !d.ByDesign {
		w.para("It does not do so by itself after a failure: work that fails stays as it is until somebody has its message delivered again.")
	}
}

// kept says what of the input and of the program goes into the ledger.
func kept(w *writer, c *contracts.Contract) {
	switch {
	case c.Payload.V == contracts.NoPayload:
		w.para("Neither the input nor what effects are asked for is kept, only hashes of them: to try again takes another delivery.")
	case len(c.Redact) > 0:
		w.para("The input is kept for people to read, without %s: to try again takes another delivery. What the handler hands to its effects, returns, or says in an error is kept as it is.", and(paths(c.Redact)))
	default:
		w.para("The input is kept in the ledger while the work may be tried again, and the result for as long as the work is remembered.")
	}
	if c.Release.Set {
		w.para("Each attempt is recorded with the release %s, which is no part of any key.", c.Release.V)
	}
}

// duplicates tells the answer for every state that work can be in.
func duplicates(w *writer, c *contracts.Contract) {
	w.para("A duplicate is a second delivery of the same work. What Do answers depends on how far the first one came:")
	rows := [][]string{
		{"the work is", "the duplicate gets", "acknowledge"},
		append([]string{"done"}, whenDone(c)...),
	}
	if c.Latest.Set {
		rows = append(rows, []string{"superseded by newer work", "ErrSuperseded, as the first one did", "yes"})
	}
	w.table(append(rows, [][]string{
		append([]string{"running"}, whileRunning(c)...),
		{"failed, and it is too early to try again", "ErrRetryLater, with the time of the next attempt", "no"},
		{"failed, and the pause is over", "the next attempt, and its result", "if it succeeds, or gives up"},
		{"unknown: an effect may or may not have happened", "ErrOutcomeUnknown, until a person decides", "no"},
		{"waiting for a person's approval", "ErrAwaitingApproval", "no"},
		{"dead: given up after the last attempt or a permanent error", "ErrDead", "yes"},
	}...))
	switch c.Response.OtherPayload.V {
	case contracts.OtherPayloadError:
		w.para("If the duplicate is the same work and the rest of its input differs, it gets ErrPayloadMismatch instead, which is not to be acknowledged. Fields that look as if they changed with every delivery are not compared%s, and nothing is if the Go type of the input has changed in between.", leftOut(&c.Identity))
	case contracts.OtherPayloadReturnOriginal:
		w.para("The rest of the duplicate's input may differ: it gets the same answers.")
	}
}

// leftOut says what else of the input is no payload.
func leftOut(id *contracts.Identity) string {
	if len(id.Except) == 0 {
		return ""
	}
	return ", nor what the identity leaves out (" + and(paths(id.Except)) + ")"
}

// whenDone is the answer, and whether to acknowledge it.
func whenDone(c *contracts.Contract) []string {
	switch c.Response.WhenDone.V {
	case contracts.ReturnOriginal:
		return []string{"the recorded result of the first", "yes"}
	case contracts.WhenDoneError:
		return []string{"ErrDone", "yes"}
	}
	return []string{"no result and no error", "yes"}
}

func whileRunning(c *contracts.Contract) []string {
	switch c.Response.WhileRunning.V {
	case contracts.WhileRunningWait:
		return []string{fmt.Sprintf("the result, if it is there within %s; ErrRunning if not", span(c.Response.Wait.V)), "with the result"}
	case contracts.WhileRunningError:
		return []string{"ErrRunning, at once", "no"}
	}
	return []string{"no result and no error, at once, though the work may still fail", "yes"}
}

// acknowledge is the table of what ShouldAck says.
func acknowledge(w *writer, c *contracts.Contract) {
	w.para("idem.ShouldAck(err) says yes when another delivery would change nothing:")
	rows := [][]string{{"Do returned", "because", "acknowledge"}}
	rows = append(rows, []string{"no error", "the work is done", "yes"})
	if c.Response.WhileRunning.V == contracts.WhileRunningNoOp {
		rows = append(rows, []string{"no error", "another process has the work, and it may still fail", "yes"})
	}
	if c.Response.WhenDone.V == contracts.WhenDoneError {
		rows = append(rows, []string{"ErrDone", "it was done before", "yes"})
	}
	if c.Latest.Set {
		rows = append(rows, []string{"ErrSuperseded", "newer work is done, and this has no use any more", "yes"})
	}
	rows = append(rows,
		[]string{"ErrDead", "it was given up, and the ledger keeps it for a person", "yes"},
		[]string{"ErrResultDropped", "it is done; the result was too large to keep", "yes"},
		[]string{"ErrUnreadable", "it is done; the result cannot be read here, for a key that is missing", "yes"})
	rows = append(rows,
		[]string{"ErrRunning", "another process has the work, and may fail", "no"},
		[]string{"ErrRetryLater", "this attempt failed, or it is too early for the next", "no"},
		[]string{"ErrOutcomeUnknown", "a person decides whether an effect happened", "no"},
		[]string{"ErrEffectDiverged", "an attempt asked for other effects than the one before; a person decides", "no"},
		[]string{"ErrAwaitingApproval", "a person has to approve", "no"})
	if c.Response.OtherPayload.V == contracts.OtherPayloadError {
		rows = append(rows, []string{"ErrPayloadMismatch", "the same work came with another input", "no"})
	}
	if c.Identity.Keyed.V {
		rows = append(rows, []string{"ErrKey", "the program has no key for the ledger's keyed work, or another one", "no"})
	}
	w.table(append(rows,
		[]string{"ErrIdentity", "the input does not say which work it is", "no"},
		[]string{"ErrLeaseLost", "the attempt was too slow, and another may have the work", "no"},
		[]string{"ErrKindTaken", "a contract of another module or with another identity has this name in the ledger", "no"},
		[]string{"ErrLedger, ErrSchema, ErrClosed, ErrContract", "the ledger could not be asked", "no"}))
	w.para("What can never succeed and is not to be acknowledged belongs in the dead letters of the source.")
}
