package explain

import (
	"fmt"
	"strings"

	"github.com/idemgen/idem/contracts"
)

func identity(w *writer, c *contracts.Contract) {
	id := &c.Identity
	body := ""
	switch id.Strategy {
	case contracts.ByHash:
		body = hashed(w, id)
	case contracts.ByCallerKey:
		w.para("The caller chooses: two inputs are the same work if they come with the same key in %s%s.", and(paths(id.Key)), inScope(id))
		body = keyed(id)
	default:
		w.para("Two inputs are the same work if they have the same %s%s.", and(paths(id.Key)), inScope(id))
		body = keyed(id)
	}
	normalized(w, id)
	empty(w, id)
	for _, e := range id.AllowVolatile {
		w.para("%s looks as if it changed with every delivery, and does not: %s", e.Field.V, sentence(e.Why.V))
	}
	hash := "SHA-256"
	if id.Keyed.V {
		hash = "HMAC-SHA-256 under the ledger's key"
	}
	w.para("The work's ID is the %s, as hexadecimal digits, of this text:", hash)
	w.code("%s:v%d:%s", c.Kind.V, c.Version.V, body)
	if strings.HasPrefix(body, "[") {
		w.para("Each part stands there as JSON has it: texts in quotes, numbers without.")
	}
	w.para("The name and the version are part of it: raising the version makes all work new, unless supersedes says that the old work goes on.")
	if id.Keyed.V {
		w.para("Nobody without the key can find the work of a value that is easy to guess. The key has to stay what it is: under another one all work would be new, so the ledger recognises its key and refuses others with ErrKey, and a program without it cannot do this work at all. What the ledger itself holds of the input is not hidden by it.")
	}
}

func inScope(id *contracts.Identity) string {
	if !id.Scope.Set {
		return ""
	}
	return fmt.Sprintf(", and if they belong to the same %s", id.Scope.V)
}

// keyed is the text of a key: bare if it is one value, else a list with the
// scope first.
func keyed(id *contracts.Identity) string {
	if !id.KeyList && !id.Scope.Set {
		return "<" + id.Key[0].V + ">"
	}
	var parts []string
	if id.Scope.Set {
		parts = append(parts, "<"+id.Scope.V+">")
	}
	for _, k := range id.Key {
		parts = append(parts, "<"+k.V+">")
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func hashed(w *writer, id *contracts.Identity) string {
	object := "{every exported field of the input, by its JSON name}"
	switch {
	case len(id.Fields) > 0:
		w.para("Two inputs are the same work if their content is the same in %s%s. Nothing else of the input counts.", and(paths(id.Fields)), inScope(id))
		object = "{the JSON names and values of " + strings.Join(paths(id.Fields), ", ") + "}"
	case len(id.Except) > 0:
		w.para("Two inputs are the same work if their content is the same in all exported fields but %s%s. A field that is added to the Go type later counts as well.", and(paths(id.Except)), inScope(id))
		object = "{every exported field of the input but " + strings.Join(paths(id.Except), ", ") + ", by its JSON name}"
	default:
		w.para("Two inputs are the same work if their content is the same in every exported field%s.", inScope(id))
	}
	if id.Scope.Set {
		return "[<" + id.Scope.V + ">," + object + "]"
	}
	return object
}

// empty says which values are no identity.
func empty(w *writer, id *contracts.Identity) {
	if id.Strategy == contracts.ByHash {
		text := "An input in which all of that is empty is refused with ErrIdentity: two orders that say nothing are not the same order."
		if id.Scope.Set {
			text += " So is one without " + id.Scope.V + "."
		}
		w.para("%s", text)
		return
	}
	var must []string
	if id.Scope.Set {
		must = append(must, id.Scope.V)
	}
	for _, k := range id.Key {
		if !id.MayBeEmpty(k.V) {
			must = append(must, k.V)
		}
	}
	w.para("An input in which %s is empty is refused with ErrIdentity: two orders without a number are not the same order. Zero is a value.", or(must))
	if len(id.AllowEmpty) > 0 {
		w.para("%s may be empty.", and(paths(id.AllowEmpty)))
	}
}

func normalized(w *writer, id *contracts.Identity) {
	exact := false
	for _, n := range id.Normalize {
		var steps []string
		for _, s := range n.Steps {
			exact = exact || s.V.Name == contracts.Exact
			steps = append(steps, step(s.V))
		}
		w.para("Of %s, before it is compared: %s.", n.Field.V, strings.Join(steps, "; then "))
	}
	others := "Texts"
	if exact {
		others = "All other texts"
	}
	w.para("%s are compared without white space at both ends and in Unicode's composed form (NFC); capital letters count.", others)
}

// step is a normaliser in words.
func step(n contracts.Normalizer) string {
	switch n.Name {
	case contracts.Exact:
		return "every character counts, white space and Unicode form included"
	case contracts.Trim:
		return "white space at both ends is cut off"
	case contracts.Lower:
		return "letters become small"
	case contracts.CollapseSpace:
		return "every run of white space becomes one space"
	case contracts.Digits:
		return "nothing but the digits 0 to 9 is kept"
	case contracts.Email:
		return "the domain of the address becomes small, the part before the @ keeps its letters"
	case contracts.URL:
		return "scheme and host become small, the default port, the fragment and tracking parameters (utm_*, gclid and the like) go, the query is sorted; the path keeps its letters"
	case contracts.DropParams:
		return "the parameters " + and(n.ParamNames()) + " go, too"

	case contracts.Second, contracts.Millisecond, contracts.Microsecond:
		return "the time is cut to the " + string(n.Name) + ", in any zone"
	case contracts.Nanosecond:
		return "the time counts to the nanosecond, in any zone"
	case contracts.MinorUnits:
		return fmt.Sprintf("the amount becomes a whole number with %d digits behind the point; what does not fit is an error", n.Digits)
	}
	return "the normaliser " + string(n.Name)
}

func paths(values []contracts.Value[string]) []string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = v.V
	}
	return names
}
