package contracts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/token"
	"slices"
	"strings"
)

// SchemaURL is where the schema of the newest version is to be had.
const SchemaURL = "https://raw.githubusercontent.com/idemgen/idem/main/docs/contract.schema.json"

// Schema is the JSON Schema (2020-12) of the language as [Parse] takes it today,
// for editors: keys that are not supported yet are not in it. It ends with a
// newline, and is the same in every call.
//
// What it accepts may still be refused by Parse, which compares answers with
// each other; what Parse accepts, it accepts.
func Schema() ([]byte, error) {
	root := languageSchema()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		return nil, fmt.Errorf("encode the schema: %w", err)
	}
	return b.Bytes(), nil
}

// schema is the part of JSON Schema that the language needs, in the order in
// which people read it.
type schema struct {
	Dialect     string   `json:"$schema,omitempty"`
	ID          string   `json:"$id,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Ref         string   `json:"$ref,omitempty"`
	Type        string   `json:"type,omitempty"`
	Const       any      `json:"const,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Default     any      `json:"default,omitempty"`
	Examples    []any    `json:"examples,omitempty"`

	Pattern string `json:"pattern,omitempty"`

	MaxLength int  `json:"maxLength,omitempty"`
	Minimum   *int `json:"minimum,omitempty"`
	Maximum   *int `json:"maximum,omitempty"`

	Items       *schema `json:"items,omitempty"`
	MinItems    int     `json:"minItems,omitempty"`
	MaxItems    int     `json:"maxItems,omitempty"`
	UniqueItems bool    `json:"uniqueItems,omitempty"`
	Contains    *schema `json:"contains,omitempty"`

	Required             []string    `json:"required,omitempty"`
	MinProperties        int         `json:"minProperties,omitempty"`
	MaxProperties        int         `json:"maxProperties,omitempty"`
	Properties           schemaWords `json:"properties,omitempty"`
	PropertyNames        *schema     `json:"propertyNames,omitempty"`
	AdditionalProperties any         `json:"additionalProperties,omitempty"` // *schema or false

	AnyOf []*schema `json:"anyOf,omitempty"`
	OneOf []*schema `json:"oneOf,omitempty"`
	AllOf []*schema `json:"allOf,omitempty"`
	Not   *schema   `json:"not,omitempty"`
	If    *schema   `json:"if,omitempty"`
	Then  *schema   `json:"then,omitempty"`
	Else  *schema   `json:"else,omitempty"`

	Defs schemaWords `json:"$defs,omitempty"`
}

// schemaWord is a word of a mapping, and what an editor says of it.
type schemaWord struct {
	name     string
	required bool
	doc      string
	value    *schema
}

// schemaWords is an object that keeps its order.
type schemaWords []schemaWord

func (w schemaWords) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, word := range w {
		b.WriteByte("{,"[min(i, 1)])
		if err := enc.Encode(word.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		value := *word.value
		if word.doc != "" {
			value.Description = word.doc
		}
		if err := enc.Encode(value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// schemaMapping is a mapping of these words and no others.
func schemaMapping(words ...schemaWord) *schema {
	s := &schema{Type: "object", Properties: words, AdditionalProperties: false}
	for _, w := range words {
		if w.required {
			s.Required = append(s.Required, w.name)
		}
	}
	return s
}

func schemaRef(name string) *schema { return &schema{Ref: "#/$defs/" + name} }

func schemaEnum[T ~string](words []T) *schema {
	return &schema{Type: "string", Enum: namesOf(words)}
}

func schemaInteger(low, high int) *schema {
	return &schema{Type: "integer", Minimum: &low, Maximum: &high}
}

// withDefault notes what holds if the word is absent.
func (s *schema) withDefault(v any) *schema {
	s.Default = v
	return s
}

// nothing is what no value is.
func nothing() *schema { return &schema{Not: &schema{}} }

// languageSchema holds the language as a whole. Texts of one sentence each:
// editors show them beside the word.
func languageSchema() *schema {
	kinds := &schema{Type: "object", MinProperties: 1, MaxProperties: maxEntries, PropertyNames: schemaRef("name"), AdditionalProperties: schemaRef("contract")}
	root := schemaMapping(schemaWord{"contracts", true, "The kinds of work, by name: a kind is unique in its ledger and part of every key.", kinds})
	root.Dialect = "https://json-schema.org/draft/2020-12/schema"
	root.ID = SchemaURL
	root.Title = "Idempotency contracts (NAME.idem.yaml)"
	root.Description = "What is the same work, how long that is remembered, and what a duplicate gets; idemgen turns it into Go."
	root.Defs = append(schemaWords{
		{"contract", false, "", contractSchema()},
		{"identity", false, "", identitySchema()},
		{"response", false, "", responseSchema()},
		{"retry", false, "", retrySchema()},
		{"effect", false, "", effectSchema()},
		{"removed_effect", false, "", removedSchema()},
	}, textSchemas()...)
	return root
}

// textSchemas are the forms of texts.
func textSchemas() schemaWords {
	const ident = `[\p{L}_][\p{L}_\p{Nd}]*`
	farPath := &schema{Pattern: `^` + pathForm + `\.` + ident + `$`, Not: &schema{Pattern: `\.(?:_|` + strings.Join(goKeywords(), "|") + `)$`}}
	notUsable := &schema{Pattern: `(?:^|[(*.])(?:_|` + strings.Join(goKeywords(), "|") + `)(?:$|[).])`}
	form := func(pattern string) *schema { return &schema{Type: "string", Pattern: pattern, Not: notUsable} }
	truths := slices.DeleteFunc([]string{"y", "n", "yes", "no", "on", "off", "true", "false"}, func(s string) bool { return !isTruth(s) })
	duration := &schema{Type: "string", Pattern: durationForm.String(), AllOf: []*schema{{Pattern: "[1-9]"}}}
	return schemaWords{
		{"name", false, "a-z, 0-9 and _, beginning with a letter, up to 63 characters.", &schema{Type: "string", Pattern: nameForm.String(), Not: &schema{Enum: truths}}},
		{"handler", false, "", form(`^(?:\(\*?` + ident + `\)\.)?` + ident + `$`)},
		{"function", false, "", &schema{Type: "string", MaxLength: maxFunc, AnyOf: []*schema{form(`^(?:` + ident + `\.)?` + ident + `$`), farPath}}},
		{"error", false, "", form(`^\*?(?:` + ident + `\.)?` + ident + `$`)},
		{"errors", false, "", &schema{Type: "array", Items: schemaRef("error"), MinItems: 1, UniqueItems: true}},
		{"field_path", false, "", form(`^` + ident + `(?:\.` + ident + `)*$`)},
		{"field_paths", false, "", &schema{Type: "array", Items: schemaRef("field_path"), MinItems: 1, UniqueItems: true}},
		{"duration", false, "", duration},
	}
}

// goKeywords are the keywords of Go, sorted.
func goKeywords() []string {
	var words []string
	for t := token.Token(0); t < 200; t++ {
		if t.IsKeyword() {
			words = append(words, t.String())
		}
	}
	slices.Sort(words)
	return words
}
