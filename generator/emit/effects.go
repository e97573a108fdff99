package emit

import (
	"strings"
	"time"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// guardFields are the names of the fields of the guards' struct, one per effect.
func guardFields(c *model.Contract) []string {
	fields := scope{}
	var list []string
	for _, e := range c.Effects {
		list = append(list, fields.declare(lowerFirst(e.Method)))
	}
	return list
}

// guards makes the struct of guarded effects.
func (f *file) guards(c *model.Contract) string {
	fields := make([]pair, len(c.Effects))
	names := guardFields(c)
	for i, e := range c.Effects {
		fields[i] = pair{names[i], f.guard(c, e)}
	}
	return f.v("guards") + " := &" + literal(f.kinds[c].guards, fields...)
}

// declared lists the guarded effects.
func (f *file) declared(c *model.Contract) string {
	fields := guardFields(c)
	for i, field := range fields {
		fields[i] = f.v("guards") + "." + field
	}
	return list("[]"+f.idem("Declared"), "{", "}", fields)
}

// guard makes one guarded effect.
func (f *file) guard(c *model.Contract, e *model.Effect) string {
	if e.Child != nil {
		return call(f.idem("Child"), str(e.Spec.LedgerName()), f.kinds[e.Child].local)
	}
	done := f.function(c, e.Call)
	effect := literal(generic(f.idem("Effect"), f.typ(e.In), f.typ(e.Out)), f.effectFields(e, done)...)
	switch e.Spec.Guard.V {
	case contracts.Transaction:
		return call(f.idem("Transaction"), f.v("ledger"), effect, done)
	case contracts.IdempotencyKey:
		return call(f.idem("IdempotencyKey"), effect, tight(f.duration(e.Spec.RemembersFor.V)))
	case contracts.Upsert:
		return call(f.idem("Upsert"), effect)
	case contracts.Repeatable:
		return call(f.idem("Repeatable"), effect)
	case contracts.FindFirst:
		return call(f.idem("FindFirst"), effect, f.function(c, *e.Find), tight(f.duration(e.Spec.VisibleAfter.V)))
	case contracts.Once:
		return call(f.idem("Once"), effect, f.idem(ifUnknown[e.Spec.IfUnknown.V]))
	default:
		return call(f.idem("Read"), effect)
	}
}

// effectFields are those of idem.Effect, of an effect that is done by a function.
func (f *file) effectFields(e *model.Effect, done string) []pair {
	fields := []pair{
		{"Name", str(e.Spec.LedgerName())},
		{"Payload", f.payload(e.In, e.Payload)},
	}
	if len(e.Per) > 0 {
		fields = append(fields, pair{"Per", f.per(e)})
	}
	if e.Message != nil {
		fields = append(fields, pair{"Message", f.message(e)})
	}
	if calls := e.Spec.MaxAttempts; calls.Set {
		fields = append(fields, pair{"MaxCalls", num(calls.V)})
	}
	if format := f.keyFormat(e.Spec); format != "" {
		fields = append(fields, pair{"KeyFormat", format})
	}
	if e.Spec.ReplaysFailures {
		fields = append(fields, pair{"ReplaysFailures", "true"})
	}
	if lag := e.Spec.VisibleAfter; lag.Set && e.Spec.Guard.V == contracts.Once {
		fields = append(fields, pair{"VisibleAfter", f.duration(lag.V)})
	}
	if e.ExternalRef != nil {
		fields = append(fields, pair{"ExternalRef", f.externalRef(e)})
	}
	if e.Redact != nil {
		fields = append(fields, pair{"Redact", "func" + f.redactor(e.In, e.Redact)})
	}
	if e.Spec.Guard.V != contracts.Transaction {
		fields = append(fields, pair{"Call", done})
	}
	return fields
}

var ifUnknown = map[contracts.IfUnknown]string{contracts.Ask: "Ask", contracts.GiveUp: "GiveUp", contracts.Repeat: "Repeat"}

// keyFormat is how the key is written, or empty for hexadecimal digits.
func (f *file) keyFormat(e *contracts.Effect) string {
	switch format := e.KeyFormat.V; {
	case !e.Guard.V.SendsKey():
		return ""
	case format == contracts.KeyUUID:
		return call(f.idem("KeyUUID"))
	case format.Base62() > 0:
		return call(f.idem("KeyBase62"), num(format.Base62()))
	}
	return ""
}

// externalRef reads what the other system calls the result.
func (f *file) externalRef(e *model.Effect) string {
	ref, out := e.ExternalRef, f.v("out")
	var body []string
	path := out
	for i, s := range ref.Steps {
		path += "." + s.Name
		if s.Pointer {
			body = append(body, block("if "+path+" == nil", ret(`""`)))
			if i == len(ref.Steps)-1 {
				path = "*" + path
			}
		}
	}
	value := path
	switch {
	case ref.Kind == model.TextStringer:
		value = strings.TrimPrefix(path, "*") + ".String()"
	case ref.Kind == model.TextInt:
		value = call(f.q("strconv", "FormatInt"), call("int64", path), "10")
	case ref.Kind == model.TextUint:
		value = call(f.q("strconv", "FormatUint"), call("uint64", path), "10")
	case !ref.Plain:
		value = call("string", path)
	}
	return block("func("+out+" "+f.typ(e.Out)+") string", append(body, ret(value))...)
}

// effects declares the types between a handler and its effects.
func (f *file) effects(c *model.Contract) {
	k := f.kinds[c]
	members := make([]member, len(c.Effects))
	names := guardFields(c)
	for i, e := range c.Effects {
		members[i] = member{name: names[i], typ: "*" + generic(f.idem("Guarded"), f.typ(e.In), f.typ(e.Out))}
	}
	f.declare(k.guards+" are the effects of "+c.Spec.Kind.V+", each with what makes a repeat of it safe.",
		"type "+k.guards+" "+structType(members...))
	f.declare(k.effects+" is the "+c.Interface+" of one attempt: each call goes through the ledger.",
		"type "+k.effects+" "+structType(member{name: "run", typ: "*" + f.idem("Run")}, member{name: "guards", typ: "*" + k.guards}))
	for i, e := range c.Effects {
		f.effectMethod(c, e, names[i])
	}
}

func (f *file) effectMethod(c *model.Contract, e *model.Effect, field string) {
	recv, ctx, in := f.v("e"), f.v("ctx"), f.v("in")
	doc := e.Method + " " + promise(e.Spec)
	if e.Spec.Was.Set {
		doc += "\nIn the ledger it is " + e.Spec.Was.V + ", its first name."
	}
	params := call(e.Method, ctx+" "+f.q("context", "Context"), in+" "+f.typ(e.In))
	f.declare(doc, block("func ("+recv+" "+f.kinds[c].effects+") "+params+call(" ", f.typ(e.Out), "error"),
		ret(call(recv+".guards."+field+".Do", ctx, recv+".run", in))))
}

// keyPlace says where the key goes, if the contract or its provider does.
func keyPlace(e *contracts.Effect) string {
	if !e.Provider.Set && !e.Header.Set {
		return ""
	}
	return "; the " + string(e.KeyPlace) + " for it is " + e.Header.V
}

func provider(e *contracts.Effect) string {
	if e.Provider.Set {
		return e.Provider.V
	}
	return "the provider"
}

// promise says what the guard gives, in one sentence.
func promise(e *contracts.Effect) string {
	per := ""
	if len(e.OncePer) > 0 {
		var names []string
		for _, p := range e.OncePer {
			names = append(names, p.V)
		}
		per = ", once per " + strings.Join(names, " and ")
	}
	switch e.Guard.V {
	case contracts.Transaction:
		return "happens exactly once" + per + ": it commits in one transaction with its row in the ledger."
	case contracts.IdempotencyKey:
		return "is repeated under the same key" + per + ", which " + provider(e) + " remembers for " + readable(e.RemembersFor.V) + keyPlace(e) + "."
	case contracts.Upsert:
		return "creates one thing" + per + ": a repeat with the same key finds it there."
	case contracts.Repeatable:
		return "is harmless to repeat" + per + ", and is never lost."
	case contracts.FindFirst:
		return "is looked for with " + e.Find.V + " before it is repeated" + per + "."
	case contracts.ChildWork:
		return "is the work " + e.Work.V + ", as a child: a repeat goes on where it stopped, or gets its result."
	case contracts.Read:
		return "is answered once" + per + "; later attempts get the recorded answer."
	}
	switch e.IfUnknown.V {
	case contracts.GiveUp:
		return "is never repeated once started" + per + "; if nobody knows its outcome, it is given up."
	case contracts.Repeat:
		return "is repeated only if nobody knows its outcome" + per + "."
	default:
		return "is never repeated once started" + per + "; if nobody knows its outcome, a person decides."
	}
}

// readable is a duration without the zeros that time.Duration prints.
func readable(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
