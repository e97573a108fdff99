package contracts

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// nameForm is the form of kinds and effect names; a kind holds no colon, which
// keeps the kinds of two contracts apart in a work ID.
var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

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

// ValidName tells whether a kind or an effect can be called so.
func ValidName(name string) bool { return nameForm.MatchString(name) && !isTruth(name) }

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
		{"supersedes", func(it item) { p.supersedes(c, it) }},
		{"statement", func(it item) { p.statement(c, it) }},
		{"handler", func(it item) { p.handler(c, it) }},
		{"delivered_by", func(it item) { p.deliveredBy(c, it) }},
		{"identity", func(it item) { p.identity(c, it) }},
		{"latest", func(it item) { p.latest(c, it) }},
		{"window", func(it item) { p.window(c, it) }},
		{"response", func(it item) { p.response(c, it) }},
		{"retry", schedule(func(it item) { p.retry(c, it) })},
		{"lease", schedule(func(it item) {
			p.duration(it, &c.Lease, durationRange{"a duration such as 2m", "m", time.Second, 24 * time.Hour})
		})},
		{"timeout", schedule(func(it item) {
			p.duration(it, &c.Timeout, durationRange{"a duration such as 10m", "m", time.Second, MaxDuration})
		})},
		{"release", func(it item) { p.release(c, it) }},
		{"payload", func(it item) { word(p, it, &c.Payload, payloads) }},
		{"redact", func(it item) { c.Redact = p.fieldPaths(it) }},
		{"effects", func(it item) { p.effects(c, it) }},
	}, unsupported("decisions")...))
	if !ok {
		return
	}
	p.unanswered(c.Kind.Pos, "", present, []question{
		{"version", "which version of this work is it? It is part of every key: write 1, and raise it when the key changes or all work is to be new again"},
		{"statement", "what does the contract promise? Say it in one sentence"},
		{"handler", "which Go code does the work? Answer with Func, (*T).Method or (T).Method of this package"},
		{"identity", "when are two inputs the same work? Answer with {key: FIELD}, {key: [FIELD, FIELD]}, {hash: {fields: [FIELD]}}, {hash: {except: [FIELD]}} or, where the caller chooses, {caller_key: FIELD, scope: FIELD}"},
		{"window", "for how long is done work remembered? Answer with forever, a duration such as 90d, or {until_success_of: KIND, at_least: DURATION}"},
		{"response", "what does a duplicate get? Answer with {when_done: " + orSlash(whenDone) + ", while_running: {wait: DURATION} | error | no_op, other_payload: " + orSlash(otherPayload) + "}"},
	})
	p.checkSupersedes(c)
	p.checkParts(c)
	p.checkLatest(c)
	p.checkCallers(&c.Identity)
	p.checkRedacted(c)
	if scheduled {
		p.checkMemory(c)
		p.checkBudgets(c)
		p.checkMessages(c)
	}
	p.checkDelivery(c, present["delivered_by"], scheduled)
}

// defaults fills in what holds if nothing is said, with the kind as place.
func (c *Contract) defaults() {
	at := c.Kind.Pos
	c.Version.Pos, c.Statement.Pos, c.Handler.Pos = at, at, at
	c.Supersedes.place(at)
	c.Delivery.place(at)
	c.Identity = Identity{Pos: at, KeyPos: at, Scope: Value[string]{Pos: at}}
	c.Window.Pos = at
	c.Latest.Pos, c.Latest.By.Pos = at, at
	c.Response.place(at)
	c.Payload, c.Release.Pos = Value[Payload]{V: KeepPayload, Pos: at}, at
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

// maxRelease is how long the name of a release may be, in characters: it is written
// with every attempt.
const maxRelease = 100

func (p *parser) release(c *Contract, it item) {
	const want = "the name of a release such as v1.3"
	v, ok := p.matching(it, want, func(s string) bool {
		return utf8.RuneCountInString(s) <= maxRelease && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
	})
	if ok {
		v.V = strings.TrimSpace(v.V)
		c.Release = v
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

var (
	whenDone     = []WhenDone{ReturnOriginal, WhenDoneError, WhenDoneNoOp}
	whileRunning = []WhileRunning{WhileRunningError, WhileRunningNoOp}
	otherPayload = []OtherPayload{OtherPayloadError, OtherPayloadReturnOriginal}
	payloads     = []Payload{KeepPayload, NoPayload}
)

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

// maxAttempts bounds how often work, or one of its effects, may be tried.
const maxAttempts = 1000

func (p *parser) retry(c *Contract, it item) {
	r := &c.Retry
	r.place(it.key)
	r.Set = true
	p.mapping(it, "a mapping with by, max_attempts, backoff, permanent or transient", []field{
		{"by", func(it item) { word(p, it, &r.By, []RetryBy{ByRedelivery}, "worker") }},
		{"max_attempts", func(it item) { p.whole(it, &r.MaxAttempts, 1, maxAttempts) }},
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
