package starter

import (
	"fmt"
	"go/token"
	"strings"
	"unicode/utf8"

	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/generator/resolve"
)

// Handler is what is known of the handler.
type Handler = resolve.Starter

// Render writes the contract of a kind. The error is for a method of the effects
// interface that no effect's name leads to.
func Render(h *Handler, kind string) ([]byte, error) {
	w := &writer{}
	w.line("# yaml-language-server: $schema=%s", contracts.SchemaURL)
	w.line("#")
	w.line("# idemgen check names what is still open in this file, and idemgen explain %s", kind)
	w.line("# says what its answers mean.")
	w.line("contracts:")
	w.line("  %s:", kind)
	w.line("    version: 1 # part of every key: raise it when all work is to be new again")
	w.line("    # What is promised. This much holds for every contract; say it in your own words.")
	w.line("    statement: Each piece of work of %s is completed once, however often it is delivered.", h.Handler.Name)
	w.line("    handler: %s", handlerText(h))
	w.identity(h)
	w.window()
	w.response()
	if err := w.effects(h); err != nil {
		return nil, err
	}
	return []byte(w.b.String()), nil
}

// handlerText is the handler, in quotes where a YAML reader would take it for a truth
// value: a function can be called No.
func handlerText(h *Handler) string {
	text := h.Handler.String()
	if h.Handler.Receiver == "" && !contracts.ValidName(strings.ToLower(text)) {
		return `"` + text + `"`
	}
	return text
}

type writer struct{ b strings.Builder }

func (w *writer) line(format string, args ...any) {
	w.b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

func (w *writer) comment(format string, args ...any) {
	w.line("    # "+format, args...)
}

// choices are answers with what they are for, in columns.
func (w *writer) choices(rows ...[2]string) {
	width := 0
	for _, r := range rows {
		width = max(width, utf8.RuneCountInString(r[0]))
	}
	for _, r := range rows {
		w.comment("  %s%s  %s", r[0], strings.Repeat(" ", width-utf8.RuneCountInString(r[0])), r[1])
	}
}

func (w *writer) identity(h *Handler) {
	w.line("")
	w.comment("When are two inputs the same work? One of:")
	w.choices(
		[2]string{"identity: {key: FIELD}", "a business key"},
		[2]string{"identity: {key: [FIELD, FIELD]}", "several fields together"},
		[2]string{"identity: {hash: {fields: [FIELD]}}", "the content of some fields"},
		[2]string{"identity: {hash: {except: [FIELD]}}", "the content of all but some"},
		[2]string{"identity: {caller_key: FIELD}", "a key that the caller chooses"},
	)
	w.comment("and scope: FIELD beside it, if it says whose work it is.")
	w.comment("The fields of %s:", h.In)
	var rows [][2]string
	for _, f := range h.Fields {
		about := f.Type
		if f.Volatile {
			about += " (by its name another one in every delivery)"
		}
		rows = append(rows, [2]string{f.Name, about})
	}
	w.choices(rows...)
}

func (w *writer) window() {
	w.line("")
	w.comment("What brings the work? Say it, and the window and the waits are checked against it:")
	w.choices(
		[2]string{"delivered_by: NAME", "a row of docs/delivery.md: stripe, github, sqs and so on"},
		[2]string{"delivered_by: {redelivers_for: 3d, ack_within: 10s}", "your own figures"},
	)
	w.line("")
	w.comment("For how long is done work remembered? One of:")
	w.choices(
		[2]string{"window: 90d", "longer than its source delivers again, and than people do"},
		[2]string{"window: forever", ""},
	)
}

func (w *writer) response() {
	w.line("")
	w.comment("What does a duplicate get? One word of each line:")
	w.comment("  response:")
	w.comment("    when_done: return_original | error | no_op")
	w.comment("    while_running: {wait: 3s} | error | no_op")
	w.comment("    other_payload: error | return_original")
}

func (w *writer) effects(h *Handler) error {
	if len(h.Methods) == 0 {
		return nil
	}
	w.line("")
	w.comment("What makes it safe to repeat each method of %s? One of:", h.Interface)
	w.choices(
		[2]string{"transaction", "commits in one database transaction with the ledger"},
		[2]string{"idempotency_key", "the provider dedupes on our key; add provider: NAME or remembers_for: 24h"},
		[2]string{"upsert", "the provider enforces a unique value that we choose"},
		[2]string{"find_first", "look before repeating; add find: FUNC and visible_after: 30s"},
		[2]string{"once", "never repeated; if_unknown: ask | give_up | repeat"},
		[2]string{"repeatable", "harmless to repeat"},
		[2]string{"read", "a read whose answer is recorded"},
	)
	w.comment("or, in place of guard, work: KIND if it is other work of this package, with a contract of its own.")
	w.line("    effects:")
	for _, m := range h.Methods {
		name := contracts.EffectName(m.Name)
		if contracts.MethodName(name) != m.Name {
			return fmt.Errorf("method %s of %s: no effect's name leads to it: call it %s", m.Name, h.Interface, contracts.MethodName(name))
		}
		if !contracts.ValidName(name) {
			return fmt.Errorf("method %s of %s: an effect cannot be called %s, which is a truth value to some YAML readers: rename the method", m.Name, h.Interface, name)
		}
		w.line("      %s: # %s%s", name, m.Name, m.Signature)
		if token.IsKeyword((&contracts.Effect{Name: contracts.Value[string]{V: name}}).CallName()) {
			w.line("        call: # no Go function can be called as the effect is: name yours")
		}
		w.line("        guard:")
	}
	return nil
}
