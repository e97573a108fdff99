package contracts

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// nameForm is the form of kinds and effect names; a kind holds no colon, which
// keeps the kinds of two contracts apart in a work ID.
var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

const wantFieldPath = "a field path such as PaymentID or Customer.Address.Zip"

// contracts reads the root of the document.
func (p *parser) contracts(root *yaml.Node) {
	top := Pos{Line: 1, Column: 1}
	present, ok := p.mapping(item{node: root, pos: p.span(root), key: top}, "a mapping that begins with contracts:", []field{
		{"contracts", p.kinds},
	})
	if ok && !present["contracts"] {
		p.errorf(top, "contracts", "the file holds no contract: begin with contracts: and one kind of work below it")
	}
}

func (p *parser) kinds(it item) {
	if it.node.Kind != yaml.MappingNode {
		p.wrongType(it, "a mapping with one entry for each kind of work")
		return
	}
	if len(it.node.Content) == 0 {
		p.errorf(it.pos, it.path, "the file holds no contract")
	}
	p.entries(it, func(name string, keyPos Pos, value *yaml.Node) {
		p.name("a kind", name, keyPos, "")
		c := &Contract{Kind: Value[string]{V: name, Pos: keyPos, Set: true}}
		p.contract(c, p.item(value, keyPos, ""))
		p.file.Contracts = append(p.file.Contracts, c)
	})
}

// name checks the name of a kind or an effect.
func (p *parser) name(what, name string, pos Pos, path string) bool {
	switch {
	case isTruth(name):
		p.errorf(pos, path, "%s called %s would be a truth value to some YAML readers: choose another name", what, name)
	case !nameForm.MatchString(name):
		p.errorf(pos, path, "%s is named with a-z, 0-9 and _, begins with a letter and has at most 63 characters; got %s%s", what, quoteOdd(name), nameHint(name))
	default:
		return true
	}
	return false
}

func nameHint(name string) string {
	if len(name) > maxSuggest {
		return ""
	}
	if better := EffectName(strings.NewReplacer("-", "_", " ", "_", ".", "_").Replace(name)); better != name && nameForm.MatchString(better) {
		return " (did you mean " + better + "?)"
	}
	return ""
}

// contract reads one contract, fills in the defaults and runs the checks that
// need several answers.
func (p *parser) contract(c *Contract, it item) {
	c.defaults()
	scheduled := true // what RetrySchedule needs is known
	schedule := func(read func(item)) func(item) {
		return func(it item) {
			before := len(p.diagnostics)
			read(it)
			scheduled = scheduled && len(p.diagnostics) == before
		}
	}
	present, ok := p.mapping(it, "a mapping with version, statement, handler, identity, window and response", append([]field{
		{"version", func(it item) { p.whole(it, &c.Version, 1, 1<<31-1) }},
		{"statement", func(it item) { p.statement(c, it) }},
		{"handler", func(it item) { p.handler(c, it) }},
		{"identity", func(it item) { p.identity(c, it) }},
		{"window", func(it item) { p.window(c, it) }},
		{"response", func(it item) { p.response(c, it) }},
		{"retry", schedule(func(it item) { p.retry(c, it) })},
		{"lease", schedule(func(it item) {
			p.duration(it, &c.Lease, durationRange{"a duration such as 2m", "m", time.Second, 24 * time.Hour})
		})},
		{"timeout", schedule(func(it item) {
			p.duration(it, &c.Timeout, durationRange{"a duration such as 10m", "m", time.Second, MaxDuration})
		})},
		{"effects", func(it item) { p.effects(c, it) }},
	}, unsupported("delivered_by", "latest", "supersedes", "release", "payload", "redact", "decisions")...))
	if !ok {
		return
	}
	p.unanswered(c.Kind.Pos, "", present, []question{
		{"version", "which version of this work is it? It is part of every key: write 1, and raise it when all work is to be new again"},
		{"statement", "what does the contract promise? Say it in one sentence"},
		{"handler", "which Go code does the work? Answer with Func, (*T).Method or (T).Method of this package"},
		{"identity", "when are two inputs the same work? Answer with {key: FIELD}, {key: [FIELD, FIELD]}, {hash: {fields: [FIELD]}} or {hash: {except: [FIELD]}}"},
		{"window", "for how long is done work remembered? Answer with forever, or a duration such as 90d"},
		{"response", "what does a duplicate get? Answer with {when_done: " + orSlash(whenDone) + ", while_running: {wait: DURATION} | error | no_op, other_payload: " + orSlash(otherPayload) + "}"},
	})
	p.checkNormalized(&c.Identity)
	if scheduled {
		p.checkMemory(c)
	}
}

// defaults fills in what holds if nothing is said, with the kind as place.
func (c *Contract) defaults() {
	at := c.Kind.Pos
	c.Version.Pos, c.Statement.Pos, c.Handler.Pos = at, at, at
	c.Identity = Identity{Pos: at, KeyPos: at, Scope: Value[string]{Pos: at}}
	c.Window.Pos = at
	c.Response.place(at)
	c.Lease = Value[time.Duration]{V: DefaultLease, Pos: at}
	c.Timeout = Value[time.Duration]{V: DefaultTimeout, Pos: at}
	c.Retry.By.V = ByRedelivery
	c.Retry.MaxAttempts.V = DefaultMaxAttempts
	c.Retry.Backoff.Initial.V = DefaultBackoffInitial
	c.Retry.Backoff.Max.V = DefaultBackoffMax
	c.Retry.Backoff.Multiplier.V = DefaultBackoffMultiplier
	c.Retry.place(at)
}

func (r *Response) place(at Pos) {
	r.Pos, r.WhenDone.Pos, r.WhileRunning.Pos, r.Wait.Pos, r.OtherPayload.Pos = at, at, at, at, at
}

func (r *Retry) place(at Pos) {
	r.Pos, r.By.Pos, r.MaxAttempts.Pos = at, at, at
	r.Backoff.place(at)
}

func (b *Backoff) place(at Pos) { b.Initial.Pos, b.Max.Pos, b.Multiplier.Pos = at, at, at }

// question is a required word and what its absence leaves open.
type question struct{ name, open string }

func (p *parser) unanswered(at Pos, path string, present map[string]bool, questions []question) {
	for _, q := range questions {
		if !present[q.name] {
			p.errorf(at, join(path, q.name), "missing: %s", q.open)
		}
	}
}

func orSlash[T ~string](words []T) string {
	return strings.Join(namesOf(words), " | ")
}

func (p *parser) statement(c *Contract, it item) {
	if s, ok := p.text(it, "a sentence that says what is promised"); ok {
		c.Statement = Value[string]{V: strings.TrimSpace(s), Pos: it.pos, Set: true}
	}
}

func (p *parser) handler(c *Contract, it item) {
	const want = "a handler of this package: Func, (*T).Method or (T).Method"
	s, ok := p.text(it, want)
	if !ok {
		return
	}
	if _, ok := ParseHandler(s); !ok {
		p.errorf(it.pos, it.path, "want %s; got %q%s", want, clip(s), handlerHint(s))
		return
	}
	c.Handler = Value[string]{V: s, Pos: it.pos, Set: true}
}

// handlerHint guesses what was meant by T.Method, *T.Method and &T.Method.
func handlerHint(s string) string {
	bare := strings.TrimLeft(s, "*&")
	receiver, method, found := strings.Cut(strings.NewReplacer("(", "", ")", "", "*", "").Replace(bare), ".")
	guess := "(*" + receiver + ")." + method
	if _, ok := ParseHandler(guess); found && ok {
		return " (did you mean " + guess + "?)"
	}
	return ""
}

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

func (p *parser) identity(c *Contract, it item) {
	id := &c.Identity
	id.Pos, id.KeyPos, id.Scope.Pos, id.Set = it.key, it.key, it.key, true
	var key, hash item
	present, ok := p.mapping(it, "a mapping such as {key: PaymentID}", append([]field{
		{"key", func(it item) { key = it }},
		{"hash", func(it item) { hash = it }},
		{"scope", func(it item) { p.fieldPath(it, &id.Scope) }},
		{"normalize", func(it item) { p.normalize(id, it) }},
	}, unsupported("caller_key", "keyed", "allow_empty", "allow_volatile")...))
	switch {
	case !ok:
	case key.node != nil && hash.node != nil:
		p.errorf(hash.key, it.path, "key and hash are two answers to one question: keep one")
	case key.node != nil:
		p.identityKey(id, key)
	case hash.node != nil:
		p.identityHash(id, hash)
	case !present["key"] && !present["hash"] && !present["caller_key"]:
		p.errorf(it.key, it.path, "missing: what makes two inputs the same work? Answer with key: FIELD, key: [FIELD, FIELD], hash: {fields: [FIELD]} or hash: {except: [FIELD]}")
	}
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

var (
	normalizers = []NormalizerName{Exact, Trim, Lower, CollapseSpace, Digits, Email, URL, Second, Millisecond, Microsecond, Nanosecond, MinorUnits}

	whenDone     = []WhenDone{ReturnOriginal, WhenDoneError, WhenDoneNoOp}
	whileRunning = []WhileRunning{WhileRunningError, WhileRunningNoOp}
	otherPayload = []OtherPayload{OtherPayloadError, OtherPayloadReturnOriginal}
)

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
	seen := map[NormalizerName]bool{}
	var precision NormalizerName
	for _, entry := range p.list(it, "a list of normalisers such as [trim, lower]") {
		var step Value[Normalizer]
		if entry.node.Kind == yaml.MappingNode {
			p.normalizerWithArgument(entry, &step)
		} else {
			p.normalizer(entry, &step)
		}
		name := step.V.Name
		switch {
		case !step.Set:
			continue
		case seen[name]:
			p.errorf(step.Pos, entry.path, "%s stands twice in the list", name)
		case name.IsPrecision() && precision != "":
			p.errorf(step.Pos, entry.path, "a time has one precision; got %s after %s", name, precision)
		}
		if name.IsPrecision() {
			precision = name
		}
		seen[name] = true
		steps = append(steps, step)
	}
	return steps
}

func (p *parser) normalizer(it item, dst *Value[Normalizer]) {
	var name Value[NormalizerName]
	if isText(it.node) && it.node.Value == string(MinorUnits) {
		p.errorf(it.pos, it.path, "minor_units needs the number of digits: minor_units: 2")
		return
	}
	if word(p, it, &name, normalizers); name.Set {
		*dst = Value[Normalizer]{V: Normalizer{Name: name.V}, Pos: name.Pos, Set: true}
	}
}

// normalizerWithArgument reads {minor_units: N}.
func (p *parser) normalizerWithArgument(it item, dst *Value[Normalizer]) {
	if len(it.node.Content) == 0 {
		p.errorf(it.pos, it.path, "want a normaliser; got an empty mapping")
	}
	for i := 0; i < len(it.node.Content); i += 2 {
		key, argument := it.node.Content[i], it.node.Content[i+1]
		switch n := NormalizerName(key.Value); {
		case n == URL && hasKey(argument, "drop_params"):
			p.errorf(p.span(argument.Content[0]), it.path, "drop_params is not supported yet")
			return
		case n != MinorUnits && slices.Contains(normalizers, n):
			p.errorf(p.span(key), it.path, "%s takes no argument: write it without a colon", n)
			return
		}
	}
	var digits Value[int]
	p.mapping(it, "minor_units: N", append(unsupported("drop_params"),
		field{"minor_units", func(it item) { p.whole(it, &digits, 0, 18) }}))
	if digits.Set {
		*dst = Value[Normalizer]{V: Normalizer{Name: MinorUnits, Digits: digits.V}, Pos: it.pos, Set: true}
	}
}

func hasKey(n *yaml.Node, name string) bool {
	for i := 0; i < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		if n.Content[i].Value == name {
			return true
		}
	}
	return false
}

func (p *parser) window(c *Contract, it item) {
	const want = "a duration such as 90d, or forever"
	n := it.node
	switch {
	case hasKey(n, "until_success_of"), hasKey(n, "at_least"):
		p.mapping(it, want, unsupported("until_success_of", "at_least"))
	case n.Kind != yaml.ScalarNode || isNull(n):
		p.wrongType(it, want)
	case n.Value == "forever":
		c.Window = Window{Pos: it.pos, Set: true, Forever: true}
	case Suggest(n.Value, []string{"forever"}) != "":
		p.errorf(it.pos, it.path, "want %s; got %s%s", want, describe(n), DidYouMean(n.Value, []string{"forever"}))
	case isPlain(n) && isTruth(n.Value):
		p.errorf(it.pos, it.path, "want %s; got %s, which is a truth value to some YAML readers", want, n.Value)
	default:
		var d Value[time.Duration]
		if p.duration(it, &d, durationRange{want, "d", 1, MaxDuration}); d.Set {
			c.Window = Window{Pos: d.Pos, Set: true, Duration: d.V}
		}
	}
}

func (p *parser) response(c *Contract, it item) {
	r := &c.Response
	r.place(it.key)
	r.Set = true
	present, ok := p.mapping(it, "a mapping with when_done, while_running and other_payload", []field{
		{"when_done", func(it item) { word(p, it, &r.WhenDone, whenDone) }},
		{"while_running", func(it item) { p.whileRunning(r, it) }},
		{"other_payload", func(it item) { word(p, it, &r.OtherPayload, otherPayload) }},
	})
	if !ok {
		return
	}
	p.unanswered(it.key, it.path, present, []question{
		{"when_done", "what does a duplicate of done work get? Answer with return_original, error or no_op"},
		{"while_running", "what does a duplicate of running work get? Answer with {wait: DURATION}, error or no_op"},
		{"other_payload", "what does the same work with another payload get? Answer with error or return_original"},
	})
}

func (p *parser) whileRunning(r *Response, it item) {
	const want = "{wait: DURATION}, error or no_op"
	switch {
	case it.node.Kind == yaml.MappingNode:
		present, _ := p.mapping(it, "", []field{
			{"wait", func(it item) { p.duration(it, &r.Wait, anyDuration("30s", "s")) }},
		})
		if r.Wait.Set {
			r.WhileRunning = Value[WhileRunning]{V: WhileRunningWait, Pos: it.pos, Set: true}
		} else if len(present) == 0 && len(it.node.Content) == 0 {
			p.errorf(it.pos, it.path, "want %s; got an empty mapping", want)
		}
	case it.node.Kind == yaml.ScalarNode && it.node.Value == "wait":
		p.errorf(it.pos, it.path, "wait needs a duration: {wait: 30s}")
	case it.node.Kind == yaml.ScalarNode && durationForm.MatchString(it.node.Value):
		p.errorf(it.pos, it.path, "want %s; got %s (did you mean {wait: %s}?)", want, clip(it.node.Value), clip(it.node.Value))
	case it.node.Kind != yaml.ScalarNode || isNull(it.node):
		p.wrongType(it, want)
	default:
		wordWanting(p, it, &r.WhileRunning, want, whileRunning)
	}
}

var (
	errorForm   = regexp.MustCompile(`^\*?(?:[\pL_][\pL_\p{Nd}]*\.)?[\pL_][\pL_\p{Nd}]*$`)
	wantErrors  = `a list of Go error values or types such as [ErrInvalidAddress, "*net.OpError"]`
	wantAnError = `a Go error value or type such as ErrInvalidAddress or "*net.OpError"`
)

// isErrorName tells whether s is an error value or type, of this package or of
// one that it imports.
func isErrorName(s string) bool {
	if len(s) > 1000 || !errorForm.MatchString(s) {
		return false
	}
	return isFieldPath(strings.TrimPrefix(s, "*"))
}

func (p *parser) retry(c *Contract, it item) {
	r := &c.Retry
	r.place(it.key)
	r.Set = true
	p.mapping(it, "a mapping with by, max_attempts, backoff, permanent or transient", []field{
		{"by", func(it item) { word(p, it, &r.By, []RetryBy{ByRedelivery}, "worker") }},
		{"max_attempts", func(it item) { p.whole(it, &r.MaxAttempts, 1, 1000) }},
		{"backoff", func(it item) { p.backoff(&r.Backoff, it) }},
		{"permanent", func(it item) { r.Permanent = p.distinct(it, wantErrors, wantAnError, isErrorName) }},
		{"transient", func(it item) { r.Transient = p.distinct(it, wantErrors, wantAnError, isErrorName) }},
	})
	permanent := setOf(r.Permanent)
	for i, e := range r.Transient {
		if permanent[e.V] {
			p.errorf(e.Pos, fmt.Sprintf("%s.transient[%d]", it.path, i), "%s is permanent too: an error is one or the other", clip(e.V))
		}
	}
}

func (p *parser) backoff(b *Backoff, it item) {
	b.place(it.key)
	p.mapping(it, "a mapping with initial, max or multiplier", []field{
		{"initial", func(it item) { p.duration(it, &b.Initial, anyDuration("1s", "s")) }},
		{"max", func(it item) { p.duration(it, &b.Max, anyDuration("5m", "m")) }},
		{"multiplier", func(it item) { p.multiplier(it, &b.Multiplier) }},
	})
	switch {
	case b.Initial.Set && b.Max.Set && b.Initial.V > b.Max.V:
		p.errorf(b.Initial.Pos, join(it.path, "initial"), "%s is longer than max, which is %s", FormatDuration(b.Initial.V), FormatDuration(b.Max.V))
	case b.Initial.Set && !b.Max.Set:
		b.Max.V = max(b.Max.V, b.Initial.V)
	case b.Max.Set && !b.Initial.Set:
		b.Initial.V = min(b.Initial.V, b.Max.V)
	}
}
