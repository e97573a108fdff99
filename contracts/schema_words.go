package contracts

import (
	"slices"

	"github.com/idemgen/idem/contracts/knowledge"
)

func contractSchema() *schema {
	window := &schema{AnyOf: []*schema{{Type: "string", Const: "forever"}, schemaRef("duration"), windowUntilSchema()}, Examples: []any{"90d", "forever"}}
	effects := &schema{Type: "object", PropertyNames: schemaRef("name"), AdditionalProperties: &schema{AnyOf: []*schema{schemaRef("effect"), schemaRef("removed_effect")}}}
	s := schemaMapping(
		schemaWord{"version", true, "The version of this work, which is part of every key: raise it when the key changes or all work is to be new again.", schemaInteger(1, 1<<31-1)},
		schemaWord{"supersedes", false, "What the version before this one means: why it changed, and whether its work goes on (honor: the key changed, the work did not) or all of it is new (reprocess).", supersedesSchema()},
		schemaWord{"statement", true, "What the contract promises, in one sentence.", &schema{Type: "string", Pattern: `\S`}},
		schemaWord{"handler", true, "The Go code that does the work: Func, (*T).Method or (T).Method of the package beside this file.", schemaRef("handler")},
		schemaWord{"delivered_by", false, "What brings the work: a delivery system, or for how long its source may deliver a message again and how soon it wants an answer.", deliveredBySchema()},
		schemaWord{"identity", true, "When two inputs are the same work.", schemaRef("identity")},
		schemaWord{"window", true, "For how long done work is remembered, counted from its completion: a duration such as 90d, forever, or until another kind has succeeded.", window},
		schemaWord{"latest", false, "Of works about one thing only the newest counts: work that is older than what is done is skipped as superseded.", latestSchema()},
		schemaWord{"response", true, "What a duplicate gets.", schemaRef("response")},
		schemaWord{"retry", false, "How often failed work may be run again, and how soon.", schemaRef("retry")},
		schemaWord{"lease", false, "For how long a process that died keeps its work, 1s to 24h; a live one renews it.", schemaRef("duration").withDefault(FormatDuration(DefaultLease))},
		schemaWord{"timeout", false, "How long one attempt may take, 1s or more.", schemaRef("duration").withDefault(FormatDuration(DefaultTimeout))},
		schemaWord{"release", false, "The release of the program, recorded with each attempt and never part of a key.", &schema{Type: "string", Pattern: `^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$`, MaxLength: maxRelease}},
		schemaWord{"payload", false, "Whether the input is kept in the ledger while the work may be tried again; none keeps its hash only, and leaves it to the source to bring it again.", schemaEnum(payloads).withDefault(KeepPayload)},
		schemaWord{"redact", false, "Fields of the input that the ledger must not store, such as a card number; the source has to bring the work again.", schemaRef("field_paths")},
		schemaWord{"effects", false, "What the handler does to the world: one entry for each method of its effects interface.", effects},
	)
	none := &schema{Required: []string{"payload"}, Properties: schemaWords{{name: "payload", value: &schema{Const: NoPayload}}}}
	redacted := &schema{Required: []string{"delivered_by"}, Properties: schemaWords{{name: "payload", value: &schema{Const: KeepPayload}}}}
	s.AllOf = []*schema{
		{If: none, Then: &schema{Required: []string{"delivered_by"}}},
		{If: &schema{Required: []string{"redact"}}, Then: redacted},
	}
	return s
}

func windowUntilSchema() *schema {
	return schemaMapping(
		schemaWord{"until_success_of", true, "The kind of work that has to succeed, in a run that started after this work was done, before it is forgotten.", schemaRef("name")},
		schemaWord{"at_least", true, "For how long done work is remembered in any case.", schemaRef("duration")},
	)
}

func latestSchema() *schema {
	of := &schema{AnyOf: []*schema{schemaRef("field_path"), schemaRef("field_paths")}, Examples: []any{"InvoiceID"}}
	return schemaMapping(
		schemaWord{"of", true, "What the works are about: a field path of the input such as InvoiceID, or a list of them.", of},
		schemaWord{"by", true, "The field that tells which of two works is newer: an integer, or a time with a declared precision.", schemaRef("field_path")},
	)
}

func supersedesSchema() *schema {
	return schemaMapping(
		schemaWord{"version", true, "The version before this one, as it stands in idem.lock.", schemaInteger(1, 1<<31-1)},
		schemaWord{"because", true, "Why the version changed, in one sentence.", &schema{Type: "string", Pattern: `\S`}},
		schemaWord{"old_work", true, "What becomes of the work of that version: honor (it goes on, and what is done stays done) or reprocess (all of it is new).", schemaEnum(oldWorks)},
	)
}

// deliveredBySchema names the systems whose horizon is known; of the others the
// contract has to say it.
func deliveredBySchema() *schema {
	var systems []string
	for _, row := range knowledge.Deliveries() {
		if row.Horizon.Stated() {
			systems = append(systems, row.Name)
		}
	}
	figures := schemaMapping(
		schemaWord{"redelivers_for", true, "For how long after the first delivery the same message may come again.", schemaRef("duration")},
		schemaWord{"ack_within", false, "How soon the source wants its answer.", schemaRef("duration")},
	)
	return &schema{AnyOf: []*schema{schemaEnum(systems), figures}}
}

func identitySchema() *schema {
	key := &schema{AnyOf: []*schema{schemaRef("field_path"), schemaRef("field_paths")}, Examples: []any{"PaymentID", []string{"Shop.ID", "Number"}}}
	hash := schemaMapping(
		schemaWord{"fields", false, "The fields that are hashed.", schemaRef("field_paths")},
		schemaWord{"except", false, "The fields that are left out; all other exported ones are hashed.", schemaRef("field_paths")},
	)
	hash.Not = &schema{Required: []string{"fields", "except"}}
	reason := &schema{Type: "string", Pattern: `\S`}
	s := schemaMapping(
		schemaWord{"key", false, "A business key: a field path of the input such as PaymentID, or a list of them.", key},
		schemaWord{"hash", false, "The content: chosen fields, all but some, or {} for every exported field.", hash},
		schemaWord{"caller_key", false, "The field that holds a key which the caller chose, such as an Idempotency-Key header.", schemaRef("field_path")},
		schemaWord{"scope", false, "Whose work it is: a field path of the input, part of the key.", schemaRef("field_path")},
		schemaWord{"normalize", false, "How values of fields are made equal before they are compared, in the order of the list.", normalizeSchema()},
		schemaWord{"keyed", false, "Whether the ID is derived under the ledger's key, so that guessable or personal values cannot be told from it.", (&schema{Type: "boolean"}).withDefault(false)},
		schemaWord{"allow_empty", false, "Parts of a list key that may be empty.", schemaRef("field_paths")},
		schemaWord{"allow_volatile", false, "Fields that look as if they differed between deliveries, each with the reason why it does not.", &schema{Type: "object", PropertyNames: schemaRef("field_path"), AdditionalProperties: reason}},
	)
	s.OneOf = []*schema{{Required: []string{"key"}}, {Required: []string{"hash"}}, {Required: []string{"caller_key"}}}
	list := &schema{Required: []string{"key"}, Properties: schemaWords{{name: "key", value: schemaRef("field_paths")}}}
	s.AllOf = []*schema{{If: &schema{Required: []string{"allow_empty"}}, Then: list}}
	return s
}

func normalizeSchema() *schema {
	var plain, precisions []NormalizerName
	for _, n := range normalizers {
		switch {
		case n.IsPrecision():
			precisions = append(precisions, n)
		case arguments[n] == "":
			plain = append(plain, n)
		}
	}
	minorUnits := schemaMapping(schemaWord{string(MinorUnits), true, "A decimal amount as a whole number of its smallest units, with this many digits.", schemaInteger(0, 18)})
	name := &schema{Type: "string", Pattern: paramForm.String()}
	dropParams := schemaMapping(schemaWord{string(DropParams), true, "Right behind url: names of further parameters that say nothing about the page.", &schema{Type: "array", MinItems: 1, UniqueItems: true, Items: name}})
	contains := func(n NormalizerName) *schema { return &schema{Contains: &schema{Const: n}} }
	texts := &schema{
		Items: &schema{AnyOf: []*schema{schemaEnum(plain), dropParams, minorUnits}},
		Not:   &schema{AllOf: []*schema{contains(Email), contains(URL)}},
	}
	steps := &schema{
		Type: "array", MinItems: 1, UniqueItems: true,
		AnyOf: []*schema{{Items: schemaEnum(precisions), MaxItems: 1}, texts},
	}
	return &schema{Type: "object", PropertyNames: schemaRef("field_path"), AdditionalProperties: steps}
}

func responseSchema() *schema {
	wait := schemaMapping(schemaWord{"wait", true, "For how long a duplicate waits for the result.", schemaRef("duration")})
	return schemaMapping(
		schemaWord{"when_done", true, "What a duplicate of done work gets: the recorded result, an error, or nothing.", schemaEnum(whenDone)},
		schemaWord{"while_running", true, "What a duplicate of running work gets: {wait: 3s} for the result, an error, or nothing.", &schema{AnyOf: []*schema{schemaEnum(whileRunning), wait}}},
		schemaWord{"other_payload", true, "What the same work with another payload gets: an error, or the recorded result.", schemaEnum(otherPayload)},
	)
}

func retrySchema() *schema {
	low, high := 1, 10
	backoff := schemaMapping(
		schemaWord{"initial", false, "The longest pause before the second attempt.", schemaRef("duration").withDefault(FormatDuration(DefaultBackoffInitial))},
		schemaWord{"max", false, "The longest pause before any attempt.", schemaRef("duration").withDefault(FormatDuration(DefaultBackoffMax))},
		schemaWord{"multiplier", false, "By how much the longest pause grows from attempt to attempt.", (&schema{Type: "number", Minimum: &low, Maximum: &high}).withDefault(DefaultBackoffMultiplier)},
	)
	return schemaMapping(
		schemaWord{"by", false, "Who runs failed work again: redelivery by the source.", schemaEnum([]RetryBy{ByRedelivery}).withDefault(ByRedelivery)},
		schemaWord{"max_attempts", false, "After this many attempts the work is dead.", schemaInteger(1, maxAttempts).withDefault(DefaultMaxAttempts)},
		schemaWord{"backoff", false, "The pauses between attempts, each a random time up to what is said here.", backoff},
		schemaWord{"permanent", false, "Go errors after which trying again cannot help.", schemaRef("errors")},
		schemaWord{"transient", false, "Go errors of calls that have done nothing and may pass later.", schemaRef("errors")},
	)
}

func effectSchema() *schema {
	message := schemaMapping(
		schemaWord{"channel", true, "By which way it is sent; all effects that send that way share the name.", schemaRef("name")},
		schemaWord{"to", true, "The recipient: a field of the effect's input.", schemaRef("field_path")},
		schemaWord{"body", true, "What it says: a field of the effect's input, or a list of them.", &schema{AnyOf: []*schema{schemaRef("field_path"), schemaRef("field_paths")}}},
		schemaWord{"ttl", true, "For how long the same message is not sent again; longer than the timeout.", schemaRef("duration")},
	)
	calls := schemaMapping(schemaWord{"max_attempts", true, "The number of calls, up to the attempts of the work.", schemaInteger(1, maxAttempts)})
	s := schemaMapping(
		schemaWord{"guard", false, "What makes it safe to repeat the effect: transaction (commits with the ledger), idempotency_key (the provider dedupes), upsert (the provider enforces a unique value that we choose), find_first (look before repeating), once (never repeated), repeatable (harmless to repeat), read (a recorded read).", schemaEnum(guards)},
		schemaWord{"work", false, "The kind of another contract of the package, whose work the effect is, in place of a guard: a child, with attempts of its own.", schemaRef("name")},
		schemaWord{"was", false, "The name that the effect had first, if it was renamed: the ledger goes on with that name, and the key stays the same.", schemaRef("name")},
		schemaWord{"call", false, "The Go function that carries the effect out, if it is not called like the effect; of another package: mail.Send, or with the whole import path.", schemaRef("function")},
		schemaWord{"external_ref", false, "The field of the result that says what the other system calls it; kept in the ledger.", schemaRef("field_path")},
		schemaWord{"once_per", false, "Fields of the effect's input: once for each of their values instead of once for the work.", schemaRef("field_paths")},
		schemaWord{"retry", false, "How often it may be called, all told: a call that did nothing after that is refused for good, so that the handler can go on without it.", calls},
		schemaWord{"redact", false, "Fields of the effect's input that the ledger must not store.", schemaRef("field_paths")},
		schemaWord{"message", false, "For an effect that sends a message: the same one to the same recipient is not sent again for a time, by whatever work.", message},
		schemaWord{"find", false, "With find_first: the Go function that looks for what a former attempt left at the provider.", schemaRef("function")},
		schemaWord{"visible_after", false, "With find_first: after what time the provider's search shows what was created, at the latest. With once: after what time a person who looks can tell that it did not happen.", schemaRef("duration")},
		schemaWord{"remembers_for", false, "With idempotency_key: for how long the provider remembers a key; longer than the retry schedule.", schemaRef("duration")},
		schemaWord{"header", false, "With idempotency_key: the HTTP header that carries the key.", (&schema{Type: "string", Pattern: headerForm.String()}).withDefault(DefaultHeader)},
		schemaWord{"key_format", false, "With a guard that sends a key: how the key is written, for providers that take less than 64 hexadecimal digits.", (&schema{Type: "string", AnyOf: []*schema{schemaEnum([]KeyFormat{KeyHex, KeyUUID}), {Pattern: `^base62:(2[2-9]|3[0-9]|4[0-3])$`}}}).withDefault(KeyHex)},
		schemaWord{"provider", false, "The system that the effect calls, by its name in the table of providers, which says how it dedupes and what a repeat would move.", schemaEnum(knowledge.ProviderNames())},
		schemaWord{"if_unknown", false, "With once: what follows if nobody knows whether it happened: ask a person, give_up, or repeat.", schemaEnum(ifUnknowns).withDefault(Ask)},
	)
	s.AllOf = append(guardSchemas(), childSchema(s))
	return s
}

// removedSchema is the entry of an effect that the handler no longer has.
func removedSchema() *schema {
	return schemaMapping(schemaWord{"removed", true, "Why work in flight can do without the effect, which the handler no longer has.", &schema{Type: "string", Pattern: `\S`}})
}

// childSchema says that an effect has a guard, or is other work and has nothing else.
func childSchema(effect *schema) *schema {
	then := &schema{}
	for _, word := range effect.Properties {
		switch word.name {
		case "work", "was":
		default:
			then.Properties = append(then.Properties, schemaWord{name: word.name, value: nothing()})
		}
	}
	return &schema{If: &schema{Required: []string{"work"}}, Then: then, Else: &schema{Required: []string{"guard"}}}
}

// guardSchemas say which parameters a guard must and which it may not have.
func guardSchemas() []*schema {
	var rules []*schema
	for _, guard := range guards {
		then := &schema{}
		for _, p := range guardParams {
			switch {
			case !slices.Contains(p.guards, guard):
				then.Properties = append(then.Properties, schemaWord{name: p.name, value: nothing()})
			case p.name == "remembers_for": // the provider may state it
				then.AnyOf = []*schema{{Required: []string{p.name}}, {Required: []string{"provider"}}}
			case p.needed(guard):
				then.Required = append(then.Required, p.name)
			}
		}
		if guard == Transaction {
			then.Properties = append(then.Properties, schemaWord{name: "provider", value: nothing()})
		}
		rules = append(rules, &schema{If: &schema{Required: []string{"guard"}, Properties: schemaWords{{name: "guard", value: &schema{Const: guard}}}}, Then: then})
	}
	return rules
}
