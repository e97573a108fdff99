package resolve

import (
	"fmt"
	"go/types"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/contracts/lock"
	"github.com/idemgen/idem/generator/model"
)

// An identity that is honoured is not in any contract any more. What idem.lock
// holds of it says which values made the bytes and how: from that the identity is
// written again as a contract could write it, and resolved in today's types. The
// lock then compares the two shapes, so that what is misread here is refused.

// recall writes the identity of a locked version as a contract would.
func (c *contract) recall(v lock.Version) (contracts.Identity, error) {
	r := &recaller{c: c, pos: c.spec.Supersedes.Version.Pos}
	id := contracts.Identity{Pos: r.pos, KeyPos: r.pos, Set: true, Strategy: contracts.ByKey}
	id.Keyed = contracts.Value[bool]{V: v.Identity.Keyed, Pos: r.pos, Set: v.Identity.Keyed}
	if s := v.Identity.Scope; s != nil {
		id.Scope = r.part(*s)
	}
	if v.Identity.Body == lock.Hash {
		id.Strategy = contracts.ByHash
		id.Fields = r.hash(v.Identity.Members)
	}
	id.KeyList = v.Identity.Body == lock.List
	for _, p := range v.Identity.Key {
		id.Key = append(id.Key, r.part(p))
		if p.Empty != "" {
			id.AllowEmpty = append(id.AllowEmpty, id.Key[len(id.Key)-1])
		}
	}
	id.Normalize = r.norms
	return id, r.err
}

// recaller finds the fields of a locked identity.
type recaller struct {
	c     *contract
	pos   contracts.Pos
	norms []contracts.Normalize
	err   error // the first
}

func (r *recaller) value(path string) contracts.Value[string] {
	return contracts.Value[string]{V: path, Pos: r.pos, Set: true}
}

// part finds a field by its name in JSON, or else by that in Go, as the lock does
// when it looks whether a field was renamed.
func (r *recaller) part(p lock.Part) contracts.Value[string] {
	field := p.Field
	if found, perr := follow(r.c.types, r.c.in, p.Field, false); perr != nil || found.wire(r.c.in) != p.Wire {
		if renamed, ok := r.byWire(r.c.in, wireSteps(p.Wire)); ok {
			field = renamed
		}
	}
	members := encodedMembers(p.Type)
	for _, in := range append(expand(members), further(members)...) {
		r.normalize(field, in)
	}
	return r.value(field)
}

// hash finds the fields whose values an object held; none stands for all.
func (r *recaller) hash(members []lock.Member) []contracts.Value[string] {
	var fields []contracts.Value[string]
	for _, m := range expand(members) {
		if m.Path == "" {
			return nil
		}
		path, ok := r.byWire(r.c.in, wireSteps(m.Path))
		if !ok {
			if r.err == nil {
				r.err = fmt.Errorf("no field of %s is called %s in JSON, as one was in the hash", describe(r.c.types, r.c.in), m.Path)
			}
			continue
		}
		r.normalize("", lock.Member{Path: m.Path, Type: m.Type})
		if !slices.ContainsFunc(fields, func(v contracts.Value[string]) bool { return v.V == path }) {
			fields = append(fields, r.value(path))
		}
	}
	for _, m := range further(members) {
		r.normalize("", m)
	}
	return fields
}

// normalize notes the normalisers of a value inside a field, or inside the input.
func (r *recaller) normalize(field string, in lock.Member) {
	steps, _ := normalizersOf(in.Type)
	if len(steps) == 0 {
		return
	}
	root := r.c.in
	if field != "" {
		p, perr := follow(r.c.types, root, field, false)
		if perr != nil {
			return // resolving the field tells
		}
		root = p.last().Type()
	}
	path, ok := r.byWire(root, wireSteps(in.Path))
	if !ok {
		return // the shapes will differ
	}
	n := contracts.Normalize{Field: r.value(strings.Trim(field+"."+path, "."))}
	for _, s := range steps {
		n.Steps = append(n.Steps, contracts.Value[contracts.Normalizer]{V: s, Pos: r.pos, Set: true})
	}
	r.norms = append(r.norms, n)
}

// byWire is the path in Go of what has a path in JSON, through pointers, lists and
// maps.
func (r *recaller) byWire(t types.Type, steps []string) (path string, ok bool) {
	if len(steps) == 0 {
		return "", true
	}
	t = inner(t, true)
	s, isStruct := t.Underlying().(*types.Struct)
	if !isStruct || knowsJSON(t) {
		// Such a type's parts have their names in Go.
		if p, perr := follow(r.c.types, t, steps[0], true); perr == nil {
			rest, ok := r.byWire(p.last().Type(), steps[1:])
			return strings.Trim(steps[0]+"."+rest, "."), ok
		}
		return "", false
	}
	fields, _ := jsonFields(s)
	for _, f := range fields {
		if model.WireName(f.wire) != steps[0] || !f.field().Exported() {
			continue
		}
		rest, ok := r.byWire(f.field().Type(), steps[1:])
		return strings.Trim(memberPath(r.c.types, t, f)+"."+rest, "."), ok
	}
	return "", false
}

// wireSteps takes the path of a member apart: names as model.WireName has them,
// without the marks of pointers, lists and maps.
func wireSteps(path string) []string {
	var steps []string
	for path != "" {
		n := strings.IndexAny(path, ".?[{")
		if path[0] == '"' {
			n = quoted(path)
		}
		if n < 0 {
			n = len(path)
		}
		if n > 0 {
			steps = append(steps, path[:n])
		}
		path = strings.TrimLeft(marks.ReplaceAllString(path[n:], ""), ".?[]{}")
	}
	return steps
}

// marks are those of pointers, lists, arrays with their length, and maps.
var marks = regexp.MustCompile(`^(?:[.?]|\[[0-9]*\]|\{\})+`)

// quoted is how long the quoted name is that s begins with.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// encodedMembers takes apart how a part of a key is encoded: a word, or the
// members of an object or list.
func encodedMembers(encoded string) []lock.Member {
	if _, word := normalizersOf(encoded); word {
		return []lock.Member{{Type: encoded}}
	}
	var members []lock.Member
	for encoded != "" {
		n := strings.IndexByte(encoded, ' ')
		if encoded[0] == '"' {
			n = quoted(encoded)
			if i := strings.IndexByte(encoded[n:], ' '); i >= 0 {
				n += i
			}
		}
		if n < 0 || n >= len(encoded) {
			return nil // the shapes will differ
		}
		m := lock.Member{Path: encoded[:n]}
		m.Type, encoded, _ = strings.Cut(encoded[n+1:], ", ")
		members = append(members, m)
	}
	return members
}

// expand lists the members of objects that are written like others by themselves.
// An object that holds itself is one member.
func expand(members []lock.Member) []lock.Member {
	var list []lock.Member
	for _, m := range members {
		like, ok := strings.CutPrefix(m.Type, "like ")
		if !ok {
			list = append(list, m)
			continue
		}
		like = strings.TrimPrefix(like, "$")
		if _, inside := below(m.Path, like); inside {
			list = append(list, lock.Member{Path: like, Type: "object"})
			continue
		}
		list = append(list, likeMembers(m.Path, like, members)...)
	}
	return list
}

// further lists the members of objects inside themselves, where they first are:
// what is said there holds for all further in.
func further(members []lock.Member) []lock.Member {
	var list []lock.Member
	for _, m := range members {
		like, ok := strings.CutPrefix(m.Type, "like ")
		like = strings.TrimPrefix(like, "$")
		if _, inside := below(m.Path, like); !ok || !inside {
			continue
		}
		for _, in := range members {
			if rest, ok := below(in.Path, like); ok && !strings.HasPrefix(in.Type, "like ") {
				list = append(list, lock.Member{Path: m.Path + separator(like, rest) + rest, Type: in.Type})
			}
		}
	}
	return list
}

// separator is the point that a path has where it went on from nothing.
func separator(start, rest string) string {
	if start == "" && rest != "" && !strings.ContainsRune("?[{", rune(rest[0])) {
		return "."
	}
	return ""
}

// likeMembers are the members of one object as those of another that is like it;
// the object itself if they cannot be told one by one.
func likeMembers(path, like string, members []lock.Member) []lock.Member {
	var list []lock.Member
	for _, m := range members {
		rest, ok := below(m.Path, like)
		if !ok {
			continue
		}
		if strings.HasPrefix(m.Type, "like ") {
			return []lock.Member{{Path: path, Type: "object"}}
		}
		list = append(list, lock.Member{Path: path + rest, Type: m.Type})
	}
	return list
}

// below is what a path has after the one that it begins with.
func below(path, start string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, start)
	if start == "" || !ok || rest == "" {
		return rest, ok
	}
	return rest, strings.ContainsRune(".?[{", rune(rest[0]))
}

// plainWords are encodings without normalisers.
var plainWords = []string{"int", "float64", "float32", "bool", "base64", "decimal", "number", "nothing", "object"}

// normalizersOf reads how a value was encoded; word is false if it is not that of
// one value.
func normalizersOf(encoded string) (steps []contracts.Normalizer, word bool) {
	words := strings.Fields(encoded)
	if len(words) == 0 {
		return nil, false
	}
	switch first := words[0]; {
	case slices.Contains(plainWords, first):
		return nil, len(words) == 1
	case first == "canonical", first == "like":
		return nil, len(words) <= 2
	case first == "minor_units" && len(words) > 1:
		digits, err := strconv.Atoi(words[1])
		steps, word = stepsOf(words[2:])
		return append(steps, contracts.Normalizer{Name: contracts.MinorUnits, Digits: digits}), word && err == nil
	case first == "text" && len(words) > 1 && strings.Contains(words[len(words)-1], "."):
		return stepsOf(words[1 : len(words)-1]) // without the name of its type
	case first == "string", first == "text", first == "json", first == "time":
		return stepsOf(words[1:])
	}
	return nil, false
}

// stepsOf reads the names of normalisers, which stand in their order, as
// model.StepWord writes them.
func stepsOf(words []string) (steps []contracts.Normalizer, ok bool) {
	for _, w := range words {
		if param, ok := strings.CutPrefix(w, "-"); ok {
			if steps = dropping(steps, param); steps == nil {
				return nil, false
			}
			continue
		}
		if !contracts.IsNormalizer(w) {
			return nil, false
		}
		steps = append(steps, contracts.Normalizer{Name: contracts.NormalizerName(w)})
	}
	return steps, true
}

// dropping adds a parameter that the url before it drops; nil if there is none.
func dropping(steps []contracts.Normalizer, param string) []contracts.Normalizer {
	name, err := url.PathUnescape(param)
	if err != nil || len(steps) == 0 {
		return nil
	}
	switch steps[len(steps)-1].Name {
	case contracts.URL:
		steps = append(steps, contracts.Normalizer{Name: contracts.DropParams})
	case contracts.DropParams:
	default:
		return nil
	}
	drop := &steps[len(steps)-1]
	drop.Params = append(drop.Params, contracts.Value[string]{V: name, Set: true})
	return steps
}
