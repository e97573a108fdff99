package contracts

import (
	"math"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/idemgen/idem/contracts/knowledge"
)

// deliveredBy reads what brings the work: a row of the table of delivery
// systems, or its figures written out.
func (p *parser) deliveredBy(c *Contract, it item) {
	d := &c.Delivery
	d.place(it.pos)
	if it.node.Kind == yaml.MappingNode {
		d.place(it.key)
		present, _ := p.mapping(it, "", []field{
			{"redelivers_for", func(it item) { p.duration(it, &d.RedeliversFor, anyDuration("3d", "d")) }},
			{"ack_within", func(it item) { p.duration(it, &d.AckWithin, anyDuration("10s", "s")) }},
		})
		p.unanswered(it.key, it.path, present, []question{
			{"redelivers_for", "for how long after the first delivery may the same message come again? Answer with a duration such as 3d"},
		})
		d.Set, d.Keeps = d.RedeliversFor.Set, d.RedeliversFor.V
		return
	}
	const want = "a delivery system such as stripe, or {redelivers_for: DURATION, ack_within: DURATION}"
	name, ok := p.text(it, want)
	if !ok {
		return
	}
	row, ok := knowledge.DeliveryNamed(name)
	if !ok {
		p.errorf(it.pos, it.path, "want %s; got %q%s", want, clip(name), DidYouMean(name, knowledge.DeliveryNames()))
		return
	}
	horizon, stated := row.Horizon.Get()
	ack, acked := row.AckWithin.Get()
	if !stated {
		answer := "{redelivers_for: DURATION}"
		if acked {
			answer = "{redelivers_for: DURATION, ack_within: " + FormatDuration(ack) + "}"
		}
		p.errorf(it.pos, it.path, "for how long %s delivers a message again depends on its settings: answer with %s", name, answer)
		return
	}
	d.Set = true
	d.System = Value[string]{V: name, Pos: it.pos, Set: true}
	d.RedeliversFor.V, d.AckWithin.V = horizon, ack
	d.ByDesign = row.ByDesign
	d.Keeps, _ = row.Keeps.Get()
}

func (d *Delivery) place(at Pos) {
	d.Pos, d.System.Pos, d.RedeliversFor.Pos, d.AckWithin.Pos = at, at, at, at
}

// name is the delivery system in a message.
func (d *Delivery) name() string {
	if d.System.Set {
		return d.System.V
	}
	return "its source"
}

// Remember is how long done work has to be remembered at least, so that no
// message that comes again finds it forgotten: as long as the same message may
// come, and on top of that the retry schedule, in which the last one to come may
// still be tried. Where a person or a clock brings the work the figure of the
// table is a decision, in which the schedule is contained. Zero without
// delivered_by. It is clamped at the largest time.Duration.
func (c *Contract) Remember() time.Duration {
	horizon, schedule := c.Delivery.RedeliversFor.V, c.RetrySchedule()
	switch {
	case !c.Delivery.Set:
		return 0
	case c.Delivery.ByDesign:
		return max(horizon, schedule)
	case horizon > math.MaxInt64-schedule:
		return math.MaxInt64
	}
	return horizon + schedule
}

// NeverByItself tells whether it is known to bring nothing again unless it is asked
// to, or not after a failure.
func (d *Delivery) NeverByItself() bool {
	row, ok := knowledge.DeliveryNamed(d.System.V)
	return ok && row.Keeps.Stated() && d.Keeps == 0
}

// checkPayload keeps work from being left without an input: what the ledger does
// not hold, the source has to deliver as long as the work may be tried. The
// horizon is no answer to that: it is the longest time over all that a row covers,
// and may be that of a person who asks for the message again.
func (p *parser) checkPayload(c *Contract, delivered bool) {
	at, path := c.Payload.Pos, "payload"
	leaves, instead := "none leaves it to the source to bring the work again", "keep the payload"
	if c.Payload.V != NoPayload {
		if len(c.Redact) == 0 {
			return
		}
		at, path = c.Redact[0].Pos, "redact"
		leaves, instead = "a payload with gaps cannot run the work again, which leaves it to the source to bring it", "keep the payload whole"
	}
	d, schedule := &c.Delivery, c.RetrySchedule()
	switch {
	case d.Set && d.Keeps == 0 && !d.NeverByItself():
		p.errorf(at, path, "%s, and for how long %s keeps trying is not known: %s, or say it in figures with delivered_by: {redelivers_for: DURATION}", leaves, d.name(), instead)
	case d.Set && d.Keeps == 0:
		p.errorf(at, path, "%s, and %s does not do so by itself: %s", leaves, d.name(), instead)
	case d.Set && d.Keeps <= schedule:
		p.errorf(at, path, "%s, and %s does so for %s, which is not longer than the retry schedule of %s (%s): %s",
			leaves, d.name(), FormatDuration(d.Keeps), sayLength(schedule), c.sayAttempts(), instead)
	case !delivered:
		p.errorf(at, path, "%s: name a source that does so for longer than the retry schedule of %s with delivered_by, or %s", leaves, sayLength(schedule), instead)
	}
}

// checkDelivery compares the contract with what brings its work. delivered says
// that the contract names it, rightly or not; scheduled that what RetrySchedule
// needs is known.
func (p *parser) checkDelivery(c *Contract, delivered, scheduled bool) {
	d := &c.Delivery
	if scheduled {
		p.checkPayload(c, delivered)
	}
	if !d.Set {
		return
	}
	if scheduled {
		p.checkWindow(c)
	}
	r := &c.Response
	if wait := r.Wait; wait.Set && d.AckWithin.V > 0 && wait.V > d.AckWithin.V {
		p.errorf(wait.Pos, "response.while_running.wait", "%s is longer than the %s in which %s wants its answer: it would take the delivery for failed while the duplicate waits",
			FormatDuration(wait.V), FormatDuration(d.AckWithin.V), d.name())
	}
	if r.WhileRunning.V == WhileRunningNoOp && !d.ByDesign {
		p.warnf(r.WhileRunning.Pos, "response.while_running", "no_op acknowledges a duplicate while the work may still fail, and a duplicate from %s may be the running message come again: then its last copy is gone. {wait: DURATION} and error do not acknowledge it",
			d.name())
	}
}

// checkWindow reports a window in which a message may come after its work is
// forgotten, and so be done twice.
func (p *parser) checkWindow(c *Contract) {
	w, d, need := c.Window, c.Delivery, c.Remember()
	switch schedule := c.RetrySchedule(); {
	case !w.Set || w.Forever || w.Duration >= need:
	case d.ByDesign:
		p.errorf(w.Pos, "window", "%s is shorter than %s: where %s brings the work, the same may come again for that long", FormatDuration(w.Duration), sayLength(need), d.name())
	default:
		p.errorf(w.Pos, "window", "%s is shorter than %s: %s may deliver again for %s, and the retry schedule is %s (%s)",
			FormatDuration(w.Duration), sayLength(need), d.name(), FormatDuration(d.RedeliversFor.V), sayLength(schedule), c.sayAttempts())
	}
}
