// Package mixeddecision finds effects that follow an answer which nobody has
// recorded.
package mixeddecision

import "github.com/idemgen/idem/analyzers/internal/rule"

// Doc is the rule's page.
var Doc = rule.Doc{
	Name:  "mixeddecision",
	Title: "find effects that follow a model's answer which is not recorded",
	What: `
A function asks a language model, itself or by a function that it calls, and what is
answered goes into an effect on the world outside (a mail, a ticket, a payment, a
message to a queue), or decides whether there is one, and nothing writes the answer
down in between.`,
	Why: `
Asked again, a model answers something else. A retry after a crash or a timeout, or a
second delivery, opens a second ticket with another text under another key, or takes
the other branch after the effect of the first has happened already. Nobody can say
afterwards why either was done.`,
	Silent: `
Answers that are written to a response, a stream or a chat: they are for who has
asked. Effects of which a second one changes nothing, such as an update of something
by its ID. An answer that is saved before, by a database, a file or a cache; and an
effect of a contract with the guard read, which records what it gives.`,
	Fails: `
import "context"

type LLM interface {
	Complete(ctx context.Context, prompt string) (string, error)
}

type Tickets interface {
	Create(ctx context.Context, title, text string) error
}

func triage(ctx context.Context, model LLM, tickets Tickets, mail string) error {
	text, err := model.Complete(ctx, "Write a ticket for this mail: "+mail)
	if err != nil {
		return err
	}
	return tickets.Create(ctx, "from a mail", text)
}`,
	Passes: `
import "context"

type LLM interface {
	Complete(ctx context.Context, prompt string) (string, error)
}

type Tickets interface {
	Create(ctx context.Context, title, text string) error
}

type Store interface {
	SaveAnswer(ctx context.Context, mailID, text string) error
}

func triage(ctx context.Context, model LLM, store Store, tickets Tickets, mailID, mail string) error {
	text, err := model.Complete(ctx, "Write a ticket for this mail: "+mail)
	if err != nil {
		return err
	}
	if err := store.SaveAnswer(ctx, mailID, text); err != nil {
		return err
	}
	return tickets.Create(ctx, "mail "+mailID, text)
}`,
	Fix: `
Ask once for each piece of work: look for a saved answer, ask if there is none, save
what is answered under the work's ID, and act by what is saved. Under a contract make
the question an effect with the guard read.`,
}
