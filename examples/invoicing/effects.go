package invoicing

import (
	"context"
	"database/sql"
	"net/url"

	idem "github.com/idemgen/idem/runtime"
)

// Draft is an invoice before it is paid.
type Draft struct {
	Reference string `json:"reference"`
	Amount    Money  `json:"amount"`
}

// DraftRow names a draft in this program's own table.
type DraftRow struct {
	ID int64 `json:"id"`
}

// createDraft, guard transaction: the row commits together with the ledger's, so
// there is one whatever happens.
func (o *Orders) createDraft(ctx context.Context, call idem.TxCall[*sql.Tx], in Draft) (DraftRow, error) {
	var row DraftRow
	err := call.Tx().QueryRowContext(ctx,
		`insert into invoice_drafts (reference, minor, currency) values (?, ?, ?) returning id`,
		in.Reference, in.Amount.Minor, in.Amount.Currency).Scan(&row.ID)
	return row, err
}

// Charge asks the payment provider for an intent to pay.
type Charge struct {
	Reference string `json:"reference"`
	Amount    Money  `json:"amount"`
}

// Intent is the provider's answer.
type Intent struct {
	ID string `json:"id"`
}

// createPaymentIntent, guard idempotency_key: the provider answers a second call
// with the same key as it answered the first.
func (o *Orders) createPaymentIntent(ctx context.Context, call idem.Call, in Charge) (Intent, error) {
	var intent Intent
	err := o.Payments.post(ctx, "/payment_intents", in, &intent, "Idempotency-Key", call.Key())
	return intent, err
}

// Note is a remark on a customer.
type Note struct {
	Customer string `json:"customer"`
	Text     string `json:"text"`
}

// NoteRef names a note in the CRM.
type NoteRef struct {
	ID string `json:"id"`
}

// addNote, guard find_first: the CRM knows no keys, but can be searched. So the
// key goes into the note, and findNote looks for it before a repeat.
func (o *Orders) addNote(ctx context.Context, call idem.Call, in Note) (NoteRef, error) {
	in.Text += "\nref " + call.Key()
	var note NoteRef
	err := o.CRM.post(ctx, "/notes", in, &note)
	return note, err
}

func (o *Orders) findNote(ctx context.Context, call idem.Call, in Note) (NoteRef, bool, error) {
	var found []NoteRef
	err := o.CRM.get(ctx, "/notes?"+url.Values{"contains": {call.Key()}}.Encode(), &found)
	if err != nil || len(found) == 0 {
		return NoteRef{}, false, err
	}
	return found[0], true, nil
}

// Message goes to a customer's chat.
type Message struct {
	ChatID int64  `json:"chat_id"`
	Text   string `json:"text"`
}

// Sent names a message in a chat.
type Sent struct {
	MessageID int64 `json:"message_id"`
}

// notify, guard once: the chat service remembers nothing and cannot be asked. It
// is called at most once; if the call is cut off, a person decides.
func (o *Orders) notify(ctx context.Context, call idem.Call, in Message) (Sent, error) {
	var sent Sent
	err := o.Chat.post(ctx, "/messages", in, &sent)
	return sent, err
}
