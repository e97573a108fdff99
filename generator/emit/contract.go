package emit

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// RuntimeFormat is the version of what generated code asks of package idem.
const RuntimeFormat = 1

// fits declares nothing: it stops the build where the runtime is of another
// format.
func (f *file) fits() {
	f.declare("This does not compile with a runtime that does not fit this file: run idemgen.",
		"const _ = "+f.idem(fmt.Sprintf("RuntimeFormat%dElseRunIdemgen", RuntimeFormat)))
}

// contractsType declares the struct that holds every contract of the package.
func (f *file) contractsType() {
	var members []member
	for _, mf := range f.Files {
		for _, c := range mf.Contracts {
			name := f.kinds[c].field
			members = append(members, member{doc: docComment(name + ": " + printable(c.Spec.Statement.V)), name: name, typ: f.contractType(c)})
		}
	}
	f.declare(f.contracts+" are the contracts of this package, ready to be called.",
		"type "+f.contracts+" "+structType(members...))
}

// contractType is what a contract is to its callers.
func (f *file) contractType(c *model.Contract) string {
	return generic(f.idem("Contract"), f.typ(c.In), f.result(c))
}

// newFunc declares the constructor that registers every contract of the package.
func (f *file) newFunc() {
	params := []string{f.ledgerParam()}
	for _, r := range f.Receivers {
		params = append(params, f.receiverParam(r))
	}
	var body []string
	var fields []pair
	for _, c := range f.Children() {
		body = append(body, f.kinds[c].local+" := "+f.made(c))
	}
	for _, mf := range f.Files {
		for _, c := range mf.Contracts {
			made := f.kinds[c].local
			if made == "" {
				made = f.made(c)
			}
			fields = append(fields, pair{f.kinds[c].field, made})
		}
	}
	body = append(body, ret("&"+literal(f.contracts, fields...)))
	f.declare(f.new+" makes the contracts of this package, which keep their record in "+f.v("ledger")+".",
		block("func "+f.new+f.typeParams()+call("", params...)+" *"+f.contracts, body...))
}

// made calls the constructor of a contract.
func (f *file) made(c *model.Contract) string {
	args := []string{f.v("ledger")}
	if c.Receiver != nil {
		args = append(args, f.receivers[c.Receiver])
	}
	for _, child := range c.Children() {
		args = append(args, f.kinds[child].local)
	}
	return call(f.kinds[c].new, args...)
}

// v is the name of a variable.
func (f *file) v(name string) string { return f.names.variable(name) }

// typeParams are those of what takes a ledger: none if effects fix the type of
// its transactions.
func (f *file) typeParams() string {
	if f.Tx != nil {
		return ""
	}
	return "[" + f.txParam() + " any]"
}

// txParam is the name of the type parameter for transactions.
func (f *file) txParam() string { return f.v("Tx") }

func (f *file) ledgerParam() string {
	tx := f.txParam()
	if f.Tx != nil {
		tx = f.typ(f.Tx)
	}
	return f.v("ledger") + " *" + generic(f.idem("Ledger"), tx)
}

func (f *file) receiverParam(r *model.Receiver) string {
	if r.Pointer {
		return f.receivers[r] + " *" + r.Name
	}
	return f.receivers[r] + " " + r.Name
}

// result is the type that duplicates get: none where the contract may answer
// with nothing, so that nobody reads a value that is there only at times.
func (f *file) result(c *model.Contract) string {
	if c.NoValue() {
		return f.idem("NoValue")
	}
	return f.typ(c.Out)
}

// kind declares all that one contract needs.
func (f *file) kind(mf *model.File, c *model.Contract) {
	f.constructor(mf, c)
	f.workID(c)
	f.typeGuard(c)
	f.honored(c)
	if c.Scope != nil {
		f.scopeFunc(c)
	}
	if c.Redact != nil {
		f.storedFunc(c)
	}
	if c.Latest != nil {
		f.latestFunc(c)
	}
	if len(c.Effects) > 0 {
		f.effects(c)
	}
}

// honored declares the derivations of the versions that a contract honours, each
// with functions that are named after its version.
func (f *file) honored(c *model.Contract) {
	if len(c.Honored) == 0 {
		return
	}
	f.forms() // those of the contract itself, under its name
	for _, old := range c.Honored {
		f.contract = old
		f.workID(old)
		f.forms()
	}
	f.contract = c
}

// constructor declares newOrderPaid.
func (f *file) constructor(mf *model.File, c *model.Contract) {
	k := f.kinds[c]
	params := []string{f.ledgerParam()}
	if c.Receiver != nil {
		params = append(params, f.receiverParam(c.Receiver))
	}
	for _, child := range c.Children() {
		params = append(params, f.kinds[child].local+" "+f.contractType(child))
	}
	var body []string
	if len(c.Effects) > 0 {
		body = append(body, f.guards(c))
	}
	spec := literal(generic(f.idem("Spec"), f.typ(c.In), f.result(c)), f.spec(c)...)
	body = append(body, ret(call(f.idem("Define"), f.v("ledger"), spec)))
	f.declare(k.new+" makes the contract "+c.Spec.Kind.V+" of "+mf.Source+".",
		block("func "+k.new+f.typeParams()+call("", params...)+" "+f.contractType(c), body...))
}

func (f *file) spec(c *model.Contract) []pair {
	s := c.Spec
	fields := []pair{
		{"Kind", str(s.Kind.V)},
		{"Version", num(s.Version.V)},
		{"Module", str(f.Module)},
		{"Digest", str(c.Locked.Digest)},
		{"ID", f.workIDFunc(c)},
	}
	if len(c.Honored) > 0 {
		fields = append(fields, pair{"Honors", f.honors(c)})
	}
	if c.Keyed() {
		fields = append(fields, pair{"Keyed", "true"})
	}
	if c.Scope != nil {
		fields = append(fields, pair{"Scope", f.kinds[c].scope})
	}
	fields = append(fields, pair{"Payload", f.payload(c.In, c.Payload)})
	if c.Latest != nil {
		fields = append(fields, pair{"Latest", f.kinds[c].latest})
	}
	fields = append(fields,
		pair{"Window", f.window(s.Window)},
		pair{"Response", f.response(s.Response)},
		pair{"Retry", f.retry(c)},
		pair{"Lease", f.duration(s.Lease.V)},
		pair{"Timeout", f.duration(s.Timeout.V)},
	)
	if s.Release.Set {
		fields = append(fields, pair{"Release", str(s.Release.V)})
	}
	if s.Payload.V == contracts.NoPayload {
		fields = append(fields, pair{"NoPayload", "true"})
	}
	if c.Redact != nil {
		fields = append(fields, pair{"Redact", f.kinds[c].stored})
	}
	if c.OneTransaction() {
		fields = append(fields, pair{"OneTransaction", "true"})
	}
	if len(c.Effects) > 0 {
		fields = append(fields, pair{"Effects", f.declared(c)})
	}
	if len(s.Removed) > 0 {
		var names []string
		for _, r := range s.Removed {
			names = append(names, str(r.Name.V))
		}
		fields = append(fields, pair{"Removed", list("[]string", "{", "}", names)})
	}
	return append(fields, pair{"Handle", f.handle(c)})
}

func (f *file) window(w contracts.Window) string {
	if w.Forever {
		return call(f.idem("Forever"))
	}
	if w.Until.Set {
		return call(f.idem("UntilSuccessOf"), str(w.Until.V), tight(f.duration(w.Duration)))
	}
	return call(f.idem("For"), f.duration(w.Duration))
}

// payload is the canonical form of values of type t.
func (f *file) payload(t *model.Type, form *model.Form) string {
	return literal(generic(f.idem("Payload"), f.typ(t)),
		pair{"Shape", str(model.Shape(form))},
		pair{"Append", f.appendFunc(form)},
	)
}

func (f *file) response(r contracts.Response) string {
	done := map[contracts.WhenDone]string{
		contracts.ReturnOriginal: "DoneReturnOriginal",
		contracts.WhenDoneError:  "DoneError",
		contracts.WhenDoneNoOp:   "DoneNoOp",
	}
	running := map[contracts.WhileRunning]string{
		contracts.WhileRunningWait:  "RunningWait",
		contracts.WhileRunningError: "RunningError",
		contracts.WhileRunningNoOp:  "RunningNoOp",
	}
	other := map[contracts.OtherPayload]string{
		contracts.OtherPayloadError:          "OtherPayloadError",
		contracts.OtherPayloadReturnOriginal: "OtherPayloadReturnOriginal",
	}
	fields := []pair{
		{"WhenDone", f.idem(done[r.WhenDone.V])},
		{"WhileRunning", f.idem(running[r.WhileRunning.V])},
	}
	if r.WhileRunning.V == contracts.WhileRunningWait {
		fields = append(fields, pair{"Wait", f.duration(r.Wait.V)})
	}
	fields = append(fields, pair{"OtherPayload", f.idem(other[r.OtherPayload.V])})
	return literal(f.idem("Response"), fields...)
}

func (f *file) retry(c *model.Contract) string {
	r := c.Spec.Retry
	fields := []pair{
		{"MaxAttempts", num(r.MaxAttempts.V)},
		{"Initial", f.duration(r.Backoff.Initial.V)},
		{"Max", f.duration(r.Backoff.Max.V)},
		{"Multiplier", fmt.Sprint(r.Backoff.Multiplier.V)},
	}
	if len(c.Permanent) > 0 {
		fields = append(fields, pair{"Permanent", f.errorRefs(c.Permanent)})
	}
	if len(c.Transient) > 0 {
		fields = append(fields, pair{"Transient", f.errorRefs(c.Transient)})
	}
	return literal(f.idem("Retry"), fields...)
}

func (f *file) errorRefs(refs []model.ErrorRef) string {
	var items []string
	for _, r := range refs {
		if r.Type != nil {
			items = append(items, call(generic(f.idem("MatchType"), f.typ(r.Type)), str(r.Name)))
		} else {
			items = append(items, call(f.idem("MatchValue"), str(r.Name), f.typ(r.Value)))
		}
	}
	return entries("[]"+f.idem("ErrorMatch"), items...)
}

// handle is the closure that runs the handler with its effects.
func (f *file) handle(c *model.Contract) string {
	ctx, run, in := f.v("ctx"), f.v("run"), f.v("in")
	if len(c.Effects) == 0 {
		run = "_"
	}
	args := []string{ctx}
	if len(c.Effects) > 0 {
		args = append(args, f.kinds[c].effects+"{"+run+", "+f.v("guards")+"}")
	}
	args = append(args, in)
	handled := call(f.function(c, model.Func{Method: c.Receiver != nil, Name: c.Handler}), args...)
	body := []string{ret(handled)}
	if c.NoValue() {
		body = []string{
			"_, " + f.v("err") + " := " + handled,
			ret(f.idem("NoValue")+"{}", f.v("err")),
		}
	}
	params := call("func", ctx+" "+f.q("context", "Context"), run+" *"+f.idem("Run"), in+" "+f.typ(c.In))
	return block(params+call(" ", f.result(c), "error"), body...)
}

// function is the user's function, or the method value of the receiver.
func (f *file) function(c *model.Contract, fn model.Func) string {
	switch {
	case fn.Method:
		return f.receivers[c.Receiver] + "." + fn.Name
	case fn.Pkg != "":
		return f.q(fn.Pkg, fn.Name)
	}
	return fn.Name
}

// duration writes a duration in the largest unit that divides it.
func (f *file) duration(d time.Duration) string {
	units := []struct {
		size time.Duration
		name string
	}{
		{time.Hour, "Hour"}, {time.Minute, "Minute"}, {time.Second, "Second"},
		{time.Millisecond, "Millisecond"}, {time.Microsecond, "Microsecond"}, {time.Nanosecond, "Nanosecond"},
	}
	for _, u := range units {
		if d%u.size != 0 {
			continue
		}
		n := int64(d / u.size)
		switch {
		case n == 1:
			return f.q("time", u.name)
		case u.size == time.Hour && n%24 == 0 && n > 24:
			return fmt.Sprintf("%d * 24 * %s", n/24, f.q("time", u.name))
		default:
			return fmt.Sprintf("%d * %s", n, f.q("time", u.name))
		}
	}
	return "0"
}

// tight is a product or sum as one of several arguments: without blanks.
func tight(expr string) string { return strings.ReplaceAll(expr, " ", "") }

// printable is text with a blank for what cannot be printed, line by line.
func printable(text string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		line = strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return ' '
			}
			return r
		}, line)
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}
