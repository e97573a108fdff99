package resolve

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/model"
	"github.com/idemgen/idem/runtime/canon"
)

var precisions = map[contracts.NormalizerName]time.Duration{
	contracts.Second:      time.Second,
	contracts.Millisecond: time.Millisecond,
	contracts.Microsecond: time.Microsecond,
	contracts.Nanosecond:  time.Nanosecond,
}

// normalize applies a field's normalisers to its form, and gives times the
// precision that they need.
func (b *builder) normalize(f *model.Form, c *choice, t types.Type, path string, decl types.Object) *model.Form {
	if c != nil && c.norm != nil {
		for _, step := range c.norm.Steps {
			if !b.step(f, step.V) {
				b.misfit(step, t, decl, "")
			}
		}
	}
	if f.Op != model.OpTime || f.Precision != 0 {
		return f
	}
	switch b.use {
	case forIdentity, forHonored:
		hint := plainPath(path) + ": [microsecond]"
		also, why := b.deeper(path)
		if also != "" {
			hint += ", " + also + ": [microsecond]"
		}
		b.fail(path, decl, "a time needs a precision, since databases and encoders round: add normalize: {%s} (or second, millisecond, nanosecond)%s", hint, why)
	case forPer:
		b.fail(path, decl, "a time has no declared precision here: use a field that is a string or a number")
	}
	f.Precision = payloadPrecision
	return f
}

// step applies one normaliser; false if it does not fit the form.
func (b *builder) step(f *model.Form, n contracts.Normalizer) bool {
	switch {
	case n.Name.IsPrecision():
		f.Precision = precisions[n.Name]
		return f.Op == model.OpTime
	case n.Name == contracts.Exact:
		f.Exact = true
		return f.Op == model.OpString || f.Op == model.OpText || f.Op == model.OpRawJSON || f.Op == model.OpAny
	case n.Name == contracts.DropParams:
		last := len(f.Steps) - 1 // url: the contract has it right before
		f.Steps[last].Params = droppedParams(n)
		return true // or what is wrong with url would be told twice
	case n.Name == contracts.MinorUnits:
		ok := f.Op == model.OpString || f.Op == model.OpDecimal || f.Op == model.OpNumber
		f.From, f.Op, f.Digits = f.Op, model.OpMinor, n.Digits
		return ok
	default:
		f.Steps = append(f.Steps, n)
		return f.Op == model.OpString
	}
}

// droppedParams are the names that make a difference: sorted, and without those
// that url drops by itself.
func droppedParams(n contracts.Normalizer) []contracts.Value[string] {
	params := slices.DeleteFunc(slices.Clone(n.Params), func(v contracts.Value[string]) bool { return canon.IsTracking(v.V) })
	slices.SortFunc(params, func(a, b contracts.Value[string]) int { return strings.Compare(a.V, b.V) })
	return params
}

// checkDropParams warns of names that say nothing.
func (c *contract) checkDropParams(id contracts.Identity) {
	for _, n := range id.Normalize {
		for _, step := range n.Steps {
			for _, name := range step.V.Params {
				if canon.IsTracking(name.V) {
					c.report(c.file.Warnf(name.Pos, "identity.normalize."+n.Field.V, "url drops the parameter %s by itself: leave it out here", name.V))
				}
			}
		}
	}
}

// misfit notes a normaliser that does not fit the type, or comes too late.
func (b *builder) misfit(step contracts.Value[contracts.Normalizer], t types.Type, decl types.Object, hint string) {
	var msg string
	switch n := step.V.Name; {
	case n.IsPrecision():
		msg = fmt.Sprintf("%s is for time.Time", n)
	case n == contracts.Exact:
		msg = "exact is for strings"
	case n == contracts.MinorUnits:
		msg = "minor_units is for decimals, numbers and strings"
	default:
		msg = fmt.Sprintf("%s is for strings", n)
	}
	b.norms = append(b.norms, normError{step, fmt.Sprintf("%s; the field is %s%s", msg, describe(b.own, t), hint), decl})
}
