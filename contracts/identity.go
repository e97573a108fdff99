package contracts

import (
	"strings"

	"gopkg.in/yaml.v3"
)

func (p *parser) identity(c *Contract, it item) {
	id := &c.Identity
	id.Pos, id.KeyPos, id.Scope.Pos, id.Set = it.key, it.key, it.key, true
	var answers []strategyAnswer
	answer := func(read func(*Identity, item)) func(item) {
		return func(it item) { answers = append(answers, strategyAnswer{it, read}) }
	}
	present, ok := p.mapping(it, "a mapping such as {key: PaymentID}", []field{
		{"key", answer(p.identityKey)},
		{"hash", answer(p.identityHash)},
		{"caller_key", answer(p.callerKey)},
		{"scope", func(it item) { p.fieldPath(it, &id.Scope) }},
		{"normalize", func(it item) { p.normalize(id, it) }},
		{"keyed", func(it item) { p.truth(it, &id.Keyed) }},
		{"allow_empty", func(it item) { id.AllowEmpty = p.fieldPaths(it) }},
		{"allow_volatile", func(it item) { p.allowVolatile(id, it) }},
	})
	switch {
	case !ok:
	case len(answers) > 1:
		p.errorf(answers[1].key, it.path, "%s and %s are two answers to one question: keep one", lastName(answers[0].path), lastName(answers[1].path))
	case len(answers) == 1:
		answers[0].read(id, answers[0].item)
	case !present["key"] && !present["hash"] && !present["caller_key"]:
		p.errorf(it.key, it.path, "missing: what makes two inputs the same work? Answer with key: FIELD, key: [FIELD, FIELD], hash: {fields: [FIELD]}, hash: {except: [FIELD]} or, where the caller chooses, caller_key: FIELD")
	}
}

// strategyAnswer is one of the words that say how work is told apart.
type strategyAnswer struct {
	item
	read func(*Identity, item)
}

// callerKey reads the field that holds a key which somebody else chose.
func (p *parser) callerKey(id *Identity, it item) {
	id.Strategy, id.KeyPos = ByCallerKey, it.pos
	if it.node.Kind == yaml.SequenceNode {
		p.errorf(it.pos, it.path, "want one field path, since the caller chooses one key; got a list (whose key it is goes into scope)")
		return
	}
	var v Value[string]
	if p.fieldPath(it, &v); v.Set {
		id.Key = []Value[string]{v}
	}
}

// allowVolatile reads the fields that look volatile and are not.
func (p *parser) allowVolatile(id *Identity, it item) {
	const want = `a mapping of field paths to reasons such as {CreatedAt: "set once by the shop, never by a delivery"}`
	if it.node.Kind != yaml.MappingNode {
		p.wrongType(it, want)
		return
	}
	p.entries(it, func(name string, keyPos Pos, value *yaml.Node) {
		if !isFieldPath(name) {
			p.errorf(keyPos, it.path, "want %s; got %q", wantFieldPath, clip(name))
			return
		}
		why := p.item(value, keyPos, join(it.path, clip(name)))
		if text, ok := p.text(why, "the reason why the field is the same in every delivery"); ok {
			id.AllowVolatile = append(id.AllowVolatile, Excuse{
				Field: Value[string]{V: name, Pos: keyPos, Set: true},
				Why:   Value[string]{V: strings.TrimSpace(text), Pos: why.pos, Set: true},
			})
		}
	})
}

func (p *parser) identityKey(id *Identity, it item) {
	id.Strategy, id.KeyPos = ByKey, it.pos
	switch it.node.Kind {
	case yaml.SequenceNode:
		id.KeyList = true
		id.Key = p.fieldPaths(it)
	case yaml.MappingNode:
		p.wrongType(it, "a field path or a list of field paths")
	default:
		var v Value[string]
		if p.fieldPath(it, &v); v.Set {
			id.Key = []Value[string]{v}
		}
	}
}

func (p *parser) identityHash(id *Identity, it item) {
	id.Strategy, id.KeyPos = ByHash, it.pos
	var except Pos
	present, ok := p.mapping(it, "a mapping with fields or except, or {} for every exported field", []field{
		{"fields", func(it item) { id.Fields = p.fieldPaths(it) }},
		{"except", func(it item) { except = it.key; id.Except = p.fieldPaths(it) }},
	})
	if ok && present["fields"] && except.IsValid() {
		p.errorf(except, it.path, "fields and except are two answers to one question: keep one")
		id.Except = nil
	}
}

const wantFieldPath = "a field path such as PaymentID or Customer.Address.Zip"

// isFieldPath tells whether s is Go identifiers joined by dots.
func isFieldPath(s string) bool {
	if len(s) > 1000 {
		return false
	}
	for name := range strings.SplitSeq(s, ".") {
		if !usableIdent(name) {
			return false
		}
	}
	return true
}

func (p *parser) fieldPath(it item, dst *Value[string]) {
	if v, ok := p.matching(it, wantFieldPath, isFieldPath); ok {
		*dst = v
	}
}

// distinct reads a list of texts of one form and reports doubles.
func (p *parser) distinct(it item, wantList, want string, ok func(string) bool) []Value[string] {
	var values []Value[string]
	seen := map[string]bool{}
	for _, entry := range p.list(it, wantList) {
		v, ok := p.matching(entry, want, ok)
		switch {
		case !ok:
		case seen[v.V]:
			p.errorf(v.Pos, entry.path, "%s stands twice in the list", clip(v.V))
		default:
			seen[v.V] = true
			values = append(values, v)
		}
	}
	return values
}

func setOf(values []Value[string]) map[string]bool {
	set := make(map[string]bool, len(values))
	for _, v := range values {
		set[v.V] = true
	}
	return set
}

func (p *parser) fieldPaths(it item) []Value[string] {
	return p.distinct(it, "a list of field paths such as [PaymentID, Customer.Address.Zip]", wantFieldPath, isFieldPath)
}
