package emit

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
)

// RuntimeFormat is the version of what generated code asks of package idem.
const RuntimeFormat = 1

// fits declares nothing: it stops the build where the runtime is of another
// format.
func (f *file) fits() {
	f.jen.Comment("This does not compile with a runtime that does not fit this file: run idemgen.")
	f.jen.Const().Id("_").Op("=").Add(f.idem(fmt.Sprintf("RuntimeFormat%dElseRunIdemgen", RuntimeFormat)))
	f.jen.Line()
}

// contractsType declares the struct that holds every contract of the package.
func (f *file) contractsType() {
	var fields []jen.Code
	for _, mf := range f.Files {
		for _, c := range mf.Contracts {
			k := f.kinds[c]
			fields = append(fields, comment(k.field+": "+c.Spec.Statement.V)...)
			fields = append(fields, jen.Id(k.field).Add(f.idem("Contract").Types(f.typ(c.In), f.result(c))))
		}
	}
	f.jen.Commentf("%s are the contracts of this package, ready to be called.", f.contracts)
	f.jen.Type().Id(f.contracts).Struct(fields...)
	f.jen.Line()
}

// newFunc declares the constructor that registers every contract of the package.
func (f *file) newFunc() {
	params := []jen.Code{f.ledgerParam()}
	for _, r := range f.Receivers {
		params = append(params, f.receiverParam(r))
	}
	var body, fields []jen.Code
	for _, c := range f.Children() {
		body = append(body, jen.Id(f.kinds[c].local).Op(":=").Add(f.made(c)))
	}
	for _, mf := range f.Files {
		for _, c := range mf.Contracts {
			made := f.made(c)
			if local := f.kinds[c].local; local != "" {
				made = jen.Id(local)
			}
			fields = append(fields, keyed(f.kinds[c].field, made))
		}
	}
	body = append(body, jen.Return(jen.Op("&").Id(f.contracts).Add(multi("{", "}", fields...))))
	f.jen.Commentf("%s makes the contracts of this package, which keep their record in %s.", f.new, f.v("ledger"))
	f.jen.Func().Id(f.new).Add(f.typeParams()).Params(params...).Op("*").Id(f.contracts).Block(body...)
	f.jen.Line()
}

// made calls the constructor of a contract.
func (f *file) made(c *model.Contract) *jen.Statement {
	args := []jen.Code{jen.Id(f.v("ledger"))}
	if c.Receiver != nil {
		args = append(args, jen.Id(f.receivers[c.Receiver]))
	}
	for _, child := range c.Children() {
		args = append(args, jen.Id(f.kinds[child].local))
	}
	return jen.Id(f.kinds[c].new).Call(args...)
}

// v is the name of a variable.
func (f *file) v(name string) string { return f.names.variable(name) }

// typeParams are those of what takes a ledger: none if effects fix the type of
// its transactions.
func (f *file) typeParams() *jen.Statement {
	if f.Tx != nil {
		return jen.Null()
	}
	return jen.Types(jen.Id(f.txParam()).Any())
}

// txParam is the name of the type parameter for transactions.
func (f *file) txParam() string { return f.v("Tx") }

func (f *file) ledgerParam() jen.Code {
	tx := jen.Id(f.txParam())
	if f.Tx != nil {
		tx = f.typ(f.Tx)
	}
	return jen.Id(f.v("ledger")).Op("*").Add(f.idem("Ledger").Types(tx))
}

func (f *file) receiverParam(r *model.Receiver) jen.Code {
	t := jen.Id(r.Name)
	if r.Pointer {
		t = jen.Op("*").Id(r.Name)
	}
	return jen.Id(f.receivers[r]).Add(t)
}

// result is the type that duplicates get: none where the contract may answer
// with nothing, so that nobody reads a value that is there only at times.
func (f *file) result(c *model.Contract) *jen.Statement {
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
	params := []jen.Code{f.ledgerParam()}
	if c.Receiver != nil {
		params = append(params, f.receiverParam(c.Receiver))
	}
	for _, child := range c.Children() {
		params = append(params, jen.Id(f.kinds[child].local).Add(f.idem("Contract").Types(f.typ(child.In), f.result(child))))
	}
	var body []jen.Code
	if len(c.Effects) > 0 {
		body = append(body, f.guards(c))
	}
	spec := f.idem("Spec").Types(f.typ(c.In), f.result(c)).Add(multi("{", "}", f.spec(c)...))
	body = append(body, jen.Return(f.idem("Define").Call(jen.Id(f.v("ledger")), spec)))
	f.jen.Commentf("%s makes the contract %s of %s.", k.new, c.Spec.Kind.V, mf.Source)
	f.jen.Func().Id(k.new).Add(f.typeParams()).Params(params...).Add(f.idem("Contract").Types(f.typ(c.In), f.result(c))).Block(body...)
	f.jen.Line()
}

func (f *file) spec(c *model.Contract) []jen.Code {
	s := c.Spec
	fields := []jen.Code{
		keyed("Kind", jen.Lit(s.Kind.V)),
		keyed("Version", jen.Lit(s.Version.V)),
		keyed("Module", jen.Lit(f.Module)),
		keyed("Digest", jen.Lit(c.Locked.Digest)),
		keyed("ID", f.workIDFunc(c)),
	}
	if len(c.Honored) > 0 {
		fields = append(fields, keyed("Honors", f.honors(c)))
	}
	if c.Keyed() {
		fields = append(fields, keyed("Keyed", jen.True()))
	}
	if c.Scope != nil {
		fields = append(fields, keyed("Scope", jen.Id(f.kinds[c].scope)))
	}
	fields = append(fields,
		keyed("Payload", f.payload(c.In, c.Payload)),
	)
	if c.Latest != nil {
		fields = append(fields, keyed("Latest", jen.Id(f.kinds[c].latest)))
	}
	fields = append(fields,
		keyed("Window", f.window(s.Window)),
		keyed("Response", f.response(s.Response)),
		keyed("Retry", f.retry(c)),
		keyed("Lease", f.duration(s.Lease.V)),
		keyed("Timeout", f.duration(s.Timeout.V)),
	)
	if s.Release.Set {
		fields = append(fields, keyed("Release", jen.Lit(s.Release.V)))
	}
	if s.Payload.V == contracts.NoPayload {
		fields = append(fields, keyed("NoPayload", jen.True()))
	}
	if c.Redact != nil {
		fields = append(fields, keyed("Redact", jen.Id(f.kinds[c].stored)))
	}
	if c.OneTransaction() {
		fields = append(fields, keyed("OneTransaction", jen.True()))
	}
	if len(s.Removed) > 0 {
		var names []jen.Code
		for _, r := range s.Removed {
			names = append(names, jen.Lit(r.Name.V))
		}
		fields = append(fields, keyed("Removed", jen.Index().String().Values(names...)))
	}
	return append(fields, keyed("Handle", f.handle(c)))
}

func (f *file) window(w contracts.Window) jen.Code {
	if w.Forever {
		return f.idem("Forever").Call()
	}
	if w.Until.Set {
		return f.idem("UntilSuccessOf").Call(jen.Lit(w.Until.V), f.duration(w.Duration))
	}
	return f.idem("For").Call(f.duration(w.Duration))
}

// payload is the canonical form of values of type t.
func (f *file) payload(t *model.Type, form *model.Form) jen.Code {
	return f.idem("Payload").Types(f.typ(t)).Add(multi("{", "}",
		keyed("Shape", jen.Lit(model.Shape(form))),
		keyed("Append", f.appendFunc(form)),
	))
}

func (f *file) response(r contracts.Response) jen.Code {
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
	fields := []jen.Code{
		keyed("WhenDone", f.idem(done[r.WhenDone.V])),
		keyed("WhileRunning", f.idem(running[r.WhileRunning.V])),
	}
	if r.WhileRunning.V == contracts.WhileRunningWait {
		fields = append(fields, keyed("Wait", f.duration(r.Wait.V)))
	}
	fields = append(fields, keyed("OtherPayload", f.idem(other[r.OtherPayload.V])))
	return f.idem("Response").Add(multi("{", "}", fields...))
}

func (f *file) retry(c *model.Contract) jen.Code {
	r := c.Spec.Retry
	fields := []jen.Code{
		keyed("MaxAttempts", jen.Lit(r.MaxAttempts.V)),
		keyed("Initial", f.duration(r.Backoff.Initial.V)),
		keyed("Max", f.duration(r.Backoff.Max.V)),
		keyed("Multiplier", jen.Op(fmt.Sprint(r.Backoff.Multiplier.V))),
	}
	if len(c.Permanent) > 0 {
		fields = append(fields, keyed("Permanent", f.errorRefs(c.Permanent)))
	}
	if len(c.Transient) > 0 {
		fields = append(fields, keyed("Transient", f.errorRefs(c.Transient)))
	}
	return f.idem("Retry").Add(multi("{", "}", fields...))
}

func (f *file) errorRefs(refs []model.ErrorRef) jen.Code {
	var list []jen.Code
	for _, r := range refs {
		if r.Type != nil {
			list = append(list, f.idem("MatchType").Types(f.typ(r.Type)).Call(jen.Lit(r.Name)))
		} else {
			list = append(list, f.idem("MatchValue").Call(jen.Lit(r.Name), f.typ(r.Value)))
		}
	}
	return jen.Index().Add(f.idem("ErrorMatch")).Add(multi("{", "}", list...))
}

// handle is the closure that runs the handler with its effects.
func (f *file) handle(c *model.Contract) jen.Code {
	ctx, run, in := f.v("ctx"), f.v("run"), f.v("in")
	if len(c.Effects) == 0 {
		run = "_"
	}
	args := []jen.Code{jen.Id(ctx)}
	if len(c.Effects) > 0 {
		args = append(args, jen.Id(f.kinds[c].effects).Values(jen.Id(run), jen.Id(f.v("guards"))))
	}
	args = append(args, jen.Id(in))
	call := f.function(c, model.Func{Method: c.Receiver != nil, Name: c.Handler}).Call(args...)
	body := []jen.Code{jen.Return(call)}
	if c.NoValue() {
		body = []jen.Code{
			jen.List(jen.Id("_"), jen.Id(f.v("err"))).Op(":=").Add(call),
			jen.Return(f.idem("NoValue").Values(), jen.Id(f.v("err"))),
		}
	}
	return jen.Func().Params(
		jen.Id(ctx).Add(f.q("context", "Context")),
		jen.Id(run).Op("*").Add(f.idem("Run")),
		jen.Id(in).Add(f.typ(c.In)),
	).Params(f.result(c), jen.Error()).Block(body...)
}

// function is the user's function, or the method value of the receiver.
func (f *file) function(c *model.Contract, fn model.Func) *jen.Statement {
	switch {
	case fn.Method:
		return jen.Id(f.receivers[c.Receiver]).Dot(fn.Name)
	case fn.Pkg != "":
		return f.q(fn.Pkg, fn.Name)
	}
	return jen.Id(fn.Name)
}

// duration writes a duration in the largest unit that divides it.
func (f *file) duration(d time.Duration) *jen.Statement {
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
			return jen.Op(fmt.Sprintf("%d*24*", n/24)).Add(f.q("time", u.name))
		default:
			return jen.Op(fmt.Sprintf("%d*", n)).Add(f.q("time", u.name))
		}
	}
	return jen.Op("0")
}

// comment is text as comment lines, whatever it holds.
func comment(text string) []jen.Code {
	var lines []jen.Code
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		line = strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return ' '
			}
			return r
		}, line)
		lines = append(lines, jen.Comment("// "+strings.TrimSpace(line)))
	}
	return lines
}
