package contracts

import (
	"regexp"
	"strconv"
	"time"

	"github.com/idemgen/idem/contracts/knowledge"
)

// keyFormats is what a message says can be answered.
var keyFormats = "hex, uuid or base62:N, with N from " + strconv.Itoa(MinBase62) + " to " + strconv.Itoa(MaxBase62)

var base62Form = regexp.MustCompile(`^base62:(0|[1-9][0-9]{0,8})$`)

func (p *parser) keyFormat(it item, dst *Value[KeyFormat]) {
	s, ok := p.text(it, keyFormats)
	if !ok {
		return
	}
	f := KeyFormat(s)
	switch {
	case f == KeyHex, f == KeyUUID, base62Form.MatchString(s) && f.Base62() >= MinBase62 && f.Base62() <= MaxBase62:
		*dst = Value[KeyFormat]{V: f, Pos: it.pos, Set: true}
	case base62Form.MatchString(s) && f.Base62() < MinBase62:
		p.errorf(it.pos, it.path, "%s is too short: with less than the 128 bits of base62:%d the keys of two effects could meet, and the second would never happen", s, MinBase62)
	case base62Form.MatchString(s):
		p.errorf(it.pos, it.path, "%s is too long: base62:%d holds all of the key", s, MaxBase62)
	default:
		p.errorf(it.pos, it.path, "want %s; got %q%s", keyFormats, clip(s), DidYouMean(s, []string{string(KeyHex), string(KeyUUID), "base62"}))
	}
}

// provider reads the name of a row of the table of providers.
func (p *parser) provider(it item, dst *Value[string]) {
	const want = "a provider such as stripe"
	name, ok := p.text(it, want)
	if !ok {
		return
	}
	if _, known := knowledge.ProviderNamed(name); !known {
		p.errorf(it.pos, it.path, "%q is no row of the table of providers%s: leave it out; what you know of a provider's keys is said with remembers_for, header and key_format", clip(name), DidYouMean(name, knowledge.ProviderNames()))
		return
	}
	*dst = Value[string]{V: name, Pos: it.pos, Set: true}
}

// applyProvider fills in what the table says and the contract does not, and
// compares the two. written are the parameters that the contract has, right or
// wrong.
func (p *parser) applyProvider(e *Effect, it item, written map[string]bool) {
	if !e.Provider.Set || !e.Guard.Set {
		return
	}
	row, _ := knowledge.ProviderNamed(e.Provider.V)
	path := join(it.path, "provider")
	switch e.Guard.V {
	case Transaction:
		p.errorf(e.Provider.Pos, path, "a transaction commits in your own database, which is no provider")
	case Once:
		if e.IfUnknown.V == GiveUp && row.MovesMoney() {
			p.errorf(e.IfUnknown.Pos, join(it.path, "if_unknown"), "%s moves money, and a payment that may have happened is not given up: answer with ask, or guard the effect with %s", row.Name, moneyGuard(row))
		}
		if e.IfUnknown.V == Repeat && row.MovesMoney() {
			p.warnf(e.IfUnknown.Pos, join(it.path, "if_unknown"), "%s moves money, and a payment that is repeated is paid twice: answer with ask, or guard the effect with %s, unless this call moves none", row.Name, moneyGuard(row))
		}
	case Repeatable:
		if row.MovesMoney() {
			p.warnf(e.Guard.Pos, join(it.path, "guard"), "%s moves money, and a payment that is repeated is paid twice: guard the effect with %s, unless this call moves none", row.Name, moneyGuard(row))
		}
	case IdempotencyKey:
		p.applyKey(e, it, row, written)
	}
	if e.Guard.V.SendsKey() {
		p.checkKeyLength(e, it, row)
	}
}

// moneyGuard is the guard for what must not be paid twice.
func moneyGuard(row knowledge.Provider) string {
	if row.Guard == knowledge.Once {
		return "one that can tell"
	}
	return string(row.Guard)
}

// applyKey fills in how the provider knows a key again.
func (p *parser) applyKey(e *Effect, it item, row knowledge.Provider, written map[string]bool) {
	if !row.HasKey() {
		if !written["header"] || !written["remembers_for"] {
			p.errorf(e.Provider.Pos, join(it.path, "provider"), "%s documents no key that it dedupes on: guard the effect with %s, or say header and remembers_for if you know one", row.Name, row.Guard)
		}
		return
	}
	e.ReplaysFailures = row.Key.Errors == knowledge.ErrorsReplayed
	if !written["header"] {
		e.Header = Value[string]{V: row.Key.Name, Pos: e.Provider.Pos}
		e.KeyPlace = KeyPlace(row.Key.Place.String())
	}
	if !written["key_format"] && row.Key.Format != "" {
		e.KeyFormat = Value[KeyFormat]{V: KeyFormat(row.Key.Format), Pos: e.Provider.Pos}
	}
	if written["remembers_for"] {
		return
	}
	memory, stated := row.Key.Remembered.Get()
	if !stated {
		p.errorf(e.Provider.Pos, join(it.path, "remembers_for"), "missing: for how long %s remembers a key is not stated. Answer with a duration such as 24h, from its documentation or its support", row.Name)
		return
	}
	e.RemembersFor = Value[time.Duration]{V: min(memory, MaxDuration), Pos: e.Provider.Pos}
}

// checkKeyLength reports keys that the provider would refuse, or cut.
func (p *parser) checkKeyLength(e *Effect, it item, row knowledge.Provider) {
	if e.Guard.V != IdempotencyKey || !row.HasKey() {
		return // what else takes the key has limits of its own
	}
	n, path := e.KeyFormat.V.Length(), join(it.path, "key_format")
	switch k := row.Key; {
	case k.MaxLength > 0 && n > k.MaxLength:
		p.errorf(e.KeyFormat.Pos, path, "%s makes keys of %d characters, and %s takes %d at most", e.KeyFormat.V, n, row.Name, k.MaxLength)
	case n < k.MinLength:
		p.errorf(e.KeyFormat.Pos, path, "%s makes keys of %d characters, and %s wants %d at least", e.KeyFormat.V, n, row.Name, k.MinLength)
	}
}
