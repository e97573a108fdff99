// Package mixeddecision asks models, and acts.
package mixeddecision

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/smtp"
	"strings"

	"github.com/sashabaranov/go-openai"
)

type desk struct {
	client  *openai.Client
	db      *sql.DB
	tickets tickets
	pay     payments
	bot     bot
	store   store
	llm     LLM
	mails   mails
	feed    feed
}

type tickets interface {
	Create(ctx context.Context, title, text string) error
	UpdateText(ctx context.Context, id, text string) error
}

type payments interface {
	Refund(ctx context.Context, order string, cents int) error
}

type mails interface {
	Send(ctx context.Context, m mail) error
}

type mail struct{ To, Subject, Text string }

type bot interface {
	SendMessage(ctx context.Context, chat int64, text string) error
}

type feed interface {
	Publish(ctx context.Context, event string) error
}

type store interface {
	SaveAnswer(ctx context.Context, id, text string) error
	FindAnswer(ctx context.Context, id string) (string, error)
}

// LLM is a client of this program's own.
type LLM interface {
	Complete(ctx context.Context, prompt string) (string, error)
}

type verdict struct {
	Refund bool
	Cents  int
	Reason string
}

type request struct{ ID, Order, Customer, Text string }

func (d *desk) feeds(ctx context.Context, r request) error {
	resp, err := d.client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{Messages: []openai.ChatCompletionMessage{{Content: r.Text}}})
	if err != nil {
		return err
	}
	text := strings.TrimSpace(resp.Choices[0].Message.Content)
	return d.tickets.Create(ctx, "mail", text) // want `what a model has answered goes into an effect and is not recorded before: the next attempt gets another answer: Client.CreateChatCompletion → tickets.Create \(save the answer first, and act by what is saved\)`
}

func (d *desk) decoded(ctx context.Context, r request) error {
	resp, err := d.client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{})
	if err != nil {
		return err
	}
	var v verdict
	if err := json.Unmarshal([]byte(resp.Choices[0].Message.Content), &v); err != nil {
		return err
	}
	return d.pay.Refund(ctx, r.Order, v.Cents) // want `Client.CreateChatCompletion → payments.Refund`
}

// ask is one call deep.
func (d *desk) ask(ctx context.Context, r request) (verdict, error) {
	resp, err := d.client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{})
	if err != nil || len(resp.Choices) == 0 {
		return verdict{}, err
	}
	var v verdict
	return v, json.Unmarshal([]byte(resp.Choices[0].Message.Content), &v)
}

func (d *desk) controls(ctx context.Context, r request) error {
	v, err := d.ask(ctx, r)
	if err != nil {
		return err
	}
	if v.Refund && r.Order != "" {
		return d.pay.Refund(ctx, r.Order, 100) // want `what a model has answered decides about an effect and is not recorded before: the next attempt may decide otherwise: Client.CreateChatCompletion → desk.ask → payments.Refund`
	}
	switch v.Reason {
	case "damaged":
		return d.tickets.Create(ctx, "damaged", r.ID) // want `decides about an effect .*: Client.CreateChatCompletion → desk.ask → tickets.Create`
	}
	return nil
}

func (d *desk) helper(ctx context.Context, r request) error {
	v, err := d.ask(ctx, r)
	if err != nil {
		return err
	}
	return d.open(ctx, r.ID, fmt.Sprintf("because: %s", v.Reason)) // want `Client.CreateChatCompletion → desk.ask → desk.open → tickets.Create`
}

func (d *desk) open(ctx context.Context, id, text string) error {
	return d.tickets.Create(ctx, id, text)
}

func (d *desk) own(ctx context.Context, r request) error {
	text, err := d.llm.Complete(ctx, r.Text)
	if err != nil {
		return err
	}
	m := mail{To: r.Customer, Subject: "Your request"}
	m.Text = text
	if err := d.mails.Send(ctx, m); err != nil { // want `LLM.Complete → mails.Send`
		return err
	}
	var b strings.Builder
	b.WriteString("Dear customer, ")
	b.WriteString(text)
	return smtp.SendMail("mail.example:25", nil, "desk@shop.example", []string{r.Customer}, []byte(b.String())) // want `LLM.Complete → smtp.SendMail`
}

func (d *desk) lines(ctx context.Context, all []request) error {
	for _, r := range all {
		text, err := d.llm.Complete(ctx, r.Text)
		if err != nil {
			log.Print(err)
			continue
		}
		for line := range strings.SplitSeq(text, "\n") {
			if err := d.tickets.Create(ctx, r.ID, line); err != nil { // want `LLM.Complete → tickets.Create`
				return err
			}
		}
	}
	return nil
}

// From here on all is well.

func (d *desk) saved(ctx context.Context, r request) error {
	text, err := d.llm.Complete(ctx, r.Text)
	if err != nil {
		return err
	}
	if err := d.store.SaveAnswer(ctx, r.ID, text); err != nil {
		return err
	}
	return d.tickets.Create(ctx, r.ID, text)
}

func (d *desk) inserted(ctx context.Context, r request) error {
	v, err := d.ask(ctx, r)
	if err != nil {
		return err
	}
	if _, err := d.db.ExecContext(ctx, "insert into verdicts (id, reason) values (?, ?)", r.ID, v.Reason); err != nil {
		return err
	}
	return d.pay.Refund(ctx, r.Order, v.Cents)
}

// remembered asks only what nobody has asked before.
func (d *desk) remembered(ctx context.Context, r request) (string, error) {
	if text, err := d.store.FindAnswer(ctx, r.ID); err == nil {
		return text, nil
	}
	text, err := d.llm.Complete(ctx, r.Text)
	if err != nil {
		return "", err
	}
	_, err = d.db.ExecContext(ctx, "insert into answers (id, text) values (?, ?)", r.ID, text)
	return text, err
}

func (d *desk) once(ctx context.Context, r request) error {
	text, err := d.remembered(ctx, r)
	if err != nil {
		return err
	}
	return d.tickets.Create(ctx, r.ID, text)
}

func (d *desk) replies(ctx context.Context, chat int64, text string) error {
	answer, err := d.llm.Complete(ctx, text)
	if err != nil {
		return err
	}
	return d.bot.SendMessage(ctx, chat, answer)
}

func (d *desk) repliesToMail(ctx context.Context, r request) error {
	text, err := d.llm.Complete(ctx, r.Text)
	if err != nil {
		return err
	}
	reply := mail{To: r.Customer, Text: text}
	return d.mails.Send(ctx, reply)
}

func (d *desk) serves(w http.ResponseWriter, r *http.Request) {
	answer, err := d.llm.Complete(r.Context(), r.FormValue("q"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprint(w, answer)
}

func (d *desk) byID(ctx context.Context, r request) error {
	answer, err := d.llm.Complete(ctx, r.Text)
	if err != nil {
		return err
	}
	return d.tickets.UpdateText(ctx, r.ID, answer)
}

// notes tells of a question, not of its answer.
func (d *desk) notes(ctx context.Context, r request) error {
	resp, err := d.client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{})
	if err != nil {
		return d.tickets.Create(ctx, "the model does not answer", err.Error())
	}
	if len(resp.Choices) == 0 {
		return d.tickets.Create(ctx, "the model says nothing", r.ID)
	}
	if resp.Choices[0].Message.Content == "" {
		return d.tickets.Create(ctx, "the model says nothing", r.ID)
	}
	log.Print(resp.Choices[0].Message.Content)
	return d.pay.Refund(ctx, r.Order, resp.Usage.TotalTokens)
}

func (d *desk) before(ctx context.Context, r request) (string, error) {
	if err := d.tickets.Create(ctx, r.ID, r.Text); err != nil {
		return "", err
	}
	return d.llm.Complete(ctx, r.Text)
}

func (d *desk) beside(ctx context.Context, r request, urgent bool) (string, error) {
	answer, err := d.llm.Complete(ctx, r.Text)
	if err != nil {
		return "", err
	}
	if urgent {
		if err := d.tickets.Create(ctx, r.ID, r.Text); err != nil {
			return "", err
		}
	}
	return answer, d.feed.Publish(ctx, r.ID)
}

func (d *desk) otherField(ctx context.Context, r request) (request, error) {
	answer, err := d.llm.Complete(ctx, r.Text)
	if err != nil {
		return r, err
	}
	r.Text = answer
	return r, d.pay.Refund(ctx, r.Order, 100)
}
