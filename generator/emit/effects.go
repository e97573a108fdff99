package emit

import (
	"strings"
	"time"

	"github.com/dave/jennifer/jen"

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
func (f *file) guards(c *model.Contract) jen.Code {
	var fields []jen.Code
	names := guardFields(c)
	for i, e := range c.Effects {
		fields = append(fields, keyed(names[i], f.guard(c, e)))
	}
	return jen.Id(f.v("guards")).Op(":=").Op("&").Id(f.kinds[c].guards).Add(multi("{", "}", fields...))
}

// guard makes one guarded effect.
func (f *file) guard(c *model.Contract, e *model.Effect) jen.Code {
	if e.Child != nil {
		return f.idem("Child").Call(jen.Lit(e.Spec.LedgerName()), jen.Id(f.kinds[e.Child].local))
	}
	tx := e.Spec.Guard.V == contracts.Transaction
	fields := []jen.Code{
		keyed("Name", jen.Lit(e.Spec.LedgerName())),
		keyed("Payload", f.payload(e.In, e.Payload)),
	}
	if len(e.Per) > 0 {
		fields = append(fields, keyed("Per", f.per(e)))
	}
	if e.Message != nil {
		fields = append(fields, keyed("Message", f.message(e)))
	}
	if calls := e.Spec.MaxAttempts; calls.Set {
		fields = append(fields, keyed("MaxCalls", jen.Lit(calls.V)))
	}
	if format := f.keyFormat(e.Spec); format != nil {
		fields = append(fields, keyed("KeyFormat", format))
	}
	if e.Spec.ReplaysFailures {
		fields = append(fields, keyed("ReplaysFailures", jen.True()))
	}
	if lag := e.Spec.VisibleAfter; lag.Set && e.Spec.Guard.V == contracts.Once {
		fields = append(fields, keyed("VisibleAfter", f.duration(lag.V)))
	}
	if e.ExternalRef != nil {
		fields = append(fields, keyed("ExternalRef", f.externalRef(e)))
	}
	if e.Redact != nil {
		fields = append(fields, keyed("Redact", jen.Func().Add(f.redactor(e.In, e.Redact))))
	}
	call := f.function(c, e.Call)
	if !tx {
		fields = append(fields, keyed("Call", call))
	}
	effect := f.idem("Effect").Types(f.typ(e.In), f.typ(e.Out)).Add(multi("{", "}", fields...))
	switch e.Spec.Guard.V {
	case contracts.Transaction:
		return f.idem("Transaction").Call(jen.Id(f.v("ledger")), effect, call)
	case contracts.IdempotencyKey:
		return f.idem("IdempotencyKey").Call(effect, f.duration(e.Spec.RemembersFor.V))
	case contracts.Upsert:
		return f.idem("Upsert").Call(effect)
	case contracts.Repeatable:
		return f.idem("Repeatable").Call(effect)
	case contracts.FindFirst:
		return f.idem("FindFirst").Call(effect, f.function(c, *e.Find), f.duration(e.Spec.VisibleAfter.V))
	case contracts.Once:
		answer := map[contracts.IfUnknown]string{contracts.Ask: "Ask", contracts.GiveUp: "GiveUp", contracts.Repeat: "Repeat"}
		return f.idem("Once").Call(effect, f.idem(answer[e.Spec.IfUnknown.V]))
	default:
		return f.idem("Read").Call(effect)
	}
}

// keyFormat is how the key is written, or nil for hexadecimal digits.
func (f *file) keyFormat(e *contracts.Effect) jen.Code {
	switch format := e.KeyFormat.V; {
	case !e.Guard.V.SendsKey():
		return nil
	case format == contracts.KeyUUID:
		return f.idem("KeyUUID").Call()
	case format.Base62() > 0:
		return f.idem("KeyBase62").Call(jen.Lit(format.Base62()))
	}
	return nil
}

// externalRef reads what the other system calls the result.
func (f *file) externalRef(e *model.Effect) jen.Code {
	ref, out := e.ExternalRef, f.v("out")
	var body []jen.Code
	path := out
	for i, s := range ref.Steps {
		path += "." + s.Name
		if s.Pointer {
			body = append(body, jen.If(jen.Id(path).Op("==").Nil()).Block(jen.Return(jen.Lit(""))))
			if i == len(ref.Steps)-1 {
				path = "*" + path
			}
		}
	}
	value := jen.Id(path)
	switch {
	case ref.Kind == model.TextStringer:
		value = jen.Id(strings.TrimPrefix(path, "*")).Dot("String").Call()
	case ref.Kind == model.TextInt:
		value = f.q("strconv", "FormatInt").Call(jen.Int64().Call(value), jen.Lit(10))
	case ref.Kind == model.TextUint:
		value = f.q("strconv", "FormatUint").Call(jen.Uint64().Call(value), jen.Lit(10))
	case !ref.Plain:
		value = jen.String().Call(value)
	}
	body = append(body, jen.Return(value))
	return jen.Func().Params(jen.Id(out).Add(f.typ(e.Out))).String().Block(body...)
}

// effects declares the types between a handler and its effects.
func (f *file) effects(c *model.Contract) {
	k := f.kinds[c]
	var fields []jen.Code
	names := guardFields(c)
	for i, e := range c.Effects {
		fields = append(fields, jen.Id(names[i]).Op("*").Add(f.idem("Guarded").Types(f.typ(e.In), f.typ(e.Out))))
	}
	f.jen.Commentf("%s are the effects of %s, each with what makes a repeat of it safe.", k.guards, c.Spec.Kind.V)
	f.jen.Type().Id(k.guards).Struct(fields...)
	f.jen.Line()
	f.jen.Commentf("%s is the %s of one attempt: each call goes through the ledger.", k.effects, c.Interface)
	f.jen.Type().Id(k.effects).Struct(
		jen.Id("run").Op("*").Add(f.idem("Run")),
		jen.Id("guards").Op("*").Id(k.guards),
	)
	f.jen.Line()
	for i, e := range c.Effects {
		f.effectMethod(c, e, names[i])
	}
}

func (f *file) effectMethod(c *model.Contract, e *model.Effect, field string) {
	recv, ctx, in := f.v("e"), f.v("ctx"), f.v("in")
	f.jen.Comment("// " + e.Method + " " + promise(e.Spec))
	if e.Spec.Was.Set {
		f.jen.Comment("// In the ledger it is " + e.Spec.Was.V + ", its first name.")
	}
	f.jen.Func().Params(jen.Id(recv).Id(f.kinds[c].effects)).Id(e.Method).Params(
		jen.Id(ctx).Add(f.q("context", "Context")), jen.Id(in).Add(f.typ(e.In)),
	).Params(f.typ(e.Out), jen.Error()).Block(
		jen.Return(jen.Id(recv).Dot("guards").Dot(field).Dot("Do").Call(jen.Id(ctx), jen.Id(recv).Dot("run"), jen.Id(in))),
	)
	f.jen.Line()
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
