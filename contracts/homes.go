package contracts

import (
	"slices"
	"strings"
)

// instead says what to do as long as a word of the language is not supported.
var instead = map[string]string{
	"decisions":        "an effect with the guard read keeps an answer for all attempts",
	"worker":           "leave it out, and failed work is run again when it is delivered again",
	"approval":         "let the work be delivered when it is approved",
	"approval_expires": "let the work be delivered when it is approved",
	"reconcile":        "leave it out: nothing would call it",
}

// notYet is the message about a word that is not supported.
func notYet(word string) string {
	text := word + " is not supported yet"
	if how := instead[word]; how != "" {
		text += " (" + how + ")"
	}
	return text
}

// home is a mapping of the language and the words that it has.
type home struct {
	path  string
	words *schema
}

// homesOf are the places of the language in which a word stands, as paths from
// the contract.
func homesOf(word string) []string {
	var paths []string
	for _, h := range []home{
		{"contracts.KIND.", contractSchema()},
		{"identity.", identitySchema()},
		{"identity.hash.", identitySchema().word("hash")},
		{"latest.", latestSchema()},
		{"window.", windowUntilSchema()},
		{"delivered_by.", deliveredBySchema().AnyOf[1]},
		{"response.", responseSchema()},
		{"response.while_running.", responseSchema().word("while_running").AnyOf[1]},
		{"retry.", retrySchema()},
		{"retry.backoff.", retrySchema().word("backoff")},
		{"effects.NAME.", effectSchema()},
		{"effects.NAME.message.", effectSchema().word("message")},
	} {
		if h.words.word(word) != nil {
			paths = append(paths, h.path+word)
		}
	}
	return paths
}

// word is what a mapping has under that word, or nil.
func (s *schema) word(name string) *schema {
	i := slices.IndexFunc(s.Properties, func(w schemaWord) bool { return w.name == name })
	if i < 0 {
		return nil
	}
	return s.Properties[i].value
}

// elsewhere is where a word that stands in a wrong place was probably meant to
// stand; empty if no place has it, or too many.
func (p *parser) elsewhere(word string) string {
	if len(p.diagnostics) > maxHints || len(word) > maxSuggest {
		return ""
	}
	homes := homesOf(word)
	if len(homes) == 0 || len(homes) > 3 {
		return ""
	}
	return strings.Join(homes, " or ")
}
