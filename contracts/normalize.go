package contracts

import (
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// normalizers are the words, in the order in which messages list them.
var normalizers = []NormalizerName{Exact, Trim, Lower, CollapseSpace, Digits, Email, URL, DropParams, Second, Millisecond, Microsecond, Nanosecond, MinorUnits}

// IsNormalizer tells whether a normaliser has that name.
func IsNormalizer(name string) bool { return slices.Contains(normalizers, NormalizerName(name)) }

func (p *parser) normalize(id *Identity, it item) {
	const want = "a mapping of field paths to lists of normalisers such as {Email: [email]}"
	if it.node.Kind != yaml.MappingNode {
		p.wrongType(it, want)
		return
	}
	p.entries(it, func(name string, keyPos Pos, value *yaml.Node) {
		if !isFieldPath(name) {
			p.errorf(keyPos, it.path, "want %s; got %q", wantFieldPath, clip(name))
			return
		}
		n := Normalize{Field: Value[string]{V: name, Pos: keyPos, Set: true}}
		n.Steps = p.normalizers(p.item(value, keyPos, join(it.path, clip(name))))
		id.Normalize = append(id.Normalize, n)
	})
}

func (p *parser) normalizers(it item) []Value[Normalizer] {
	var steps []Value[Normalizer]
	for _, entry := range p.list(it, "a list of normalisers such as [trim, lower]") {
		var step Value[Normalizer]
		if entry.node.Kind == yaml.MappingNode {
			p.normalizerWithArgument(entry, &step)
		} else {
			p.normalizer(entry, &step)
		}
		if !step.Set {
			continue
		}
		if why := misplaced(steps, step.V.Name); why != "" {
			p.errorf(step.Pos, entry.path, "%s", why)
		}
		steps = append(steps, step)
	}
	return steps
}

// misplaced says why a normaliser cannot stand behind those before it, or "".
// The steps compose in order; what no value could get through is an error here
// and not one of every derivation.
func misplaced(before []Value[Normalizer], name NormalizerName) string {
	has := func(ok func(NormalizerName) bool) (found NormalizerName, there bool) {
		i := slices.IndexFunc(before, func(s Value[Normalizer]) bool { return ok(s.V.Name) })
		if i < 0 {
			return "", false
		}
		return before[i].V.Name, true
	}
	is := func(names ...NormalizerName) func(NormalizerName) bool {
		return func(n NormalizerName) bool { return slices.Contains(names, n) }
	}
	if _, twice := has(is(name)); twice {
		return string(name) + " stands twice in the list"
	}
	if other, ok := has(NormalizerName.IsPrecision); ok && name.IsPrecision() {
		return "a time has one precision; got " + string(name) + " after " + string(other)
	}
	if other, ok := has(func(n NormalizerName) bool { return n.IsPrecision() != name.IsPrecision() }); ok {
		return string(name) + " and " + string(other) + " cannot both be: a precision is for times, all others are for texts and amounts"
	}
	if _, ok := has(is(MinorUnits)); ok {
		return string(name) + " comes too late: minor_units makes a number of the text, so that it has to be the last"
	}
	switch name {
	case DropParams:
		if len(before) == 0 || before[len(before)-1].V.Name != URL {
			return "drop_params belongs to url and stands right behind it: [url, {drop_params: [ref]}]"
		}
	case Email, URL:
		if other, ok := has(is(Email, URL)); ok {
			return "no text is both of " + string(other) + " and " + string(name) + ": keep one"
		}
		if _, ok := has(is(Digits)); ok {
			return string(name) + " comes too late: digits leaves nothing but digits, which are no " + map[NormalizerName]string{Email: "e-mail address", URL: "URL"}[name]
		}
	}
	return ""
}

// arguments are the normalisers that need one, and how they are written.
var arguments = map[NormalizerName]string{
	MinorUnits: "minor_units needs the number of digits: minor_units: 2",
	DropParams: "drop_params needs the names of the parameters: {drop_params: [ref, session]}",
}

// calendar are the precisions that people ask for and that no instant has.
var calendar = []string{"hour", "day", "date", "week", "month", "year"}

func (p *parser) normalizer(it item, dst *Value[Normalizer]) {
	if isText(it.node) && arguments[NormalizerName(it.node.Value)] != "" {
		p.errorf(it.pos, it.path, "%s", arguments[NormalizerName(it.node.Value)])
		return
	}
	if isText(it.node) && slices.Contains(calendar, it.node.Value) {
		p.errorf(it.pos, it.path, "%s is no precision, since it begins at another instant in each time zone: cut the time in your code and write second here, or use a text such as 2026-03-01", it.node.Value)
		return
	}
	var name Value[NormalizerName]
	if word(p, it, &name, normalizers); name.Set {
		*dst = Value[Normalizer]{V: Normalizer{Name: name.V}, Pos: name.Pos, Set: true}
	}
}

// normalizerWithArgument reads {minor_units: N} and {drop_params: [NAME]}.
func (p *parser) normalizerWithArgument(it item, dst *Value[Normalizer]) {
	if len(it.node.Content) == 0 {
		p.errorf(it.pos, it.path, "want a normaliser; got an empty mapping")
		return
	}
	for i := 0; i < len(it.node.Content); i += 2 {
		key, argument := it.node.Content[i], it.node.Content[i+1]
		switch n := NormalizerName(key.Value); {
		case n == URL && hasKey(argument, string(DropParams)):
			p.errorf(p.span(key), it.path, "url takes no argument: write [url, {drop_params: [ref]}], with drop_params right behind it")
			return
		case arguments[n] == "" && slices.Contains(normalizers, n):
			p.errorf(p.span(key), it.path, "%s takes no argument: write it without a colon", n)
			return
		}
	}
	var digits Value[int]
	var params []Value[string]
	present, _ := p.mapping(it, "minor_units: N or drop_params: [NAME]", []field{
		{string(DropParams), func(it item) { params = p.params(it) }},
		{string(MinorUnits), func(it item) { p.whole(it, &digits, 0, 18) }},
	})
	switch {
	case present[string(DropParams)] && present[string(MinorUnits)]:
		p.errorf(it.pos, it.path, "two normalisers in one entry: give each its own, - {drop_params: …} and - {minor_units: …}")
	case digits.Set:
		*dst = Value[Normalizer]{V: Normalizer{Name: MinorUnits, Digits: digits.V}, Pos: it.pos, Set: true}
	case len(params) > 0:
		*dst = Value[Normalizer]{V: Normalizer{Name: DropParams, Params: params}, Pos: it.pos, Set: true}
	}
}

// paramForm is a name that a parameter of a query can have, without escapes.
var paramForm = regexp.MustCompile(`^[^\x00-\x20\x7f&=#%*]+$`)

// params reads the names of parameters of a query.
func (p *parser) params(it item) []Value[string] {
	const want = "the name of a parameter as it is without escapes, such as ref"
	values := p.distinct(it, "a list of names of parameters such as [ref, session]", want, func(s string) bool {
		return paramForm.MatchString(s) || strings.Contains(s, "*")
	})
	for _, v := range values {
		if strings.Contains(v.V, "*") {
			p.errorf(v.Pos, it.path, "%q: names are no patterns: list each (utm_* goes anyhow)", clip(v.V))
		}
	}
	return values
}

func hasKey(n *yaml.Node, name string) bool {
	for i := 0; i < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		if n.Content[i].Value == name {
			return true
		}
	}
	return false
}
