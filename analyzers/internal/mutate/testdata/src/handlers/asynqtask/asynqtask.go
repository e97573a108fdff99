// Package asynqtask enqueues a reminder once for each invoice, and sends it.
package asynqtask

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hibiken/asynq"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

type Invoice struct {
	ID   string
	Mail string
}

type Reminder struct {
	InvoiceID string
	Status    string
}

type Mailer interface {
	Send(ctx context.Context, to, key string) error
}

type Reminders struct {
	queue *asynq.Client
	db    *gorm.DB
	mail  Mailer
}

func (r *Reminders) Enqueue(ctx context.Context, inv Invoice) error {
	payload, err := json.Marshal(inv)
	if err != nil {
		return err
	}
	dedupKey := /*key[*/"reminder:" + inv.ID/*]*/
	_, err = r.queue.EnqueueContext(ctx, asynq.NewTask("reminder", payload), asynq.TaskID(dedupKey))
	return err
}

func (r *Reminders) Handle(ctx context.Context, t *asynq.Task) error {
	var inv Invoice
	if err := json.Unmarshal(t.Payload(), &inv); err != nil {
		return fmt.Errorf("%w: %w", asynqSkip, err)
	}
	/*claim:var row Reminder; if err := @r.db.Where("invoice_id = ?", inv.ID).First(&row).Error; err == nil { return nil }[*/claim := r.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&Reminder{InvoiceID: inv.ID, Status: "begun"})
	if claim.Error != nil {
		return claim.Error
	}
	if claim.RowsAffected == 0 {
		/*skip[*/return nil/*]*/
	}/*]*/
	/*effect:if err := r.db.Create(&Reminder{InvoiceID: inv.ID, Status: "sent"}).Error; err != nil { return err }[*/if err := r.mail.Send(ctx, inv.Mail, /*id:inv.ID[*/"reminder-"+inv.ID/*]*/); err != nil {
		/*release[*/if undo := r.db.Where("invoice_id = ?", inv.ID).Delete(&Reminder{}); undo.Error != nil {
			return undo.Error
		}/*]*/
		/*fail[*/return err/*]*/
	}/*]*/
	/*mark[*/if err := /*call[*/r.db.Model(&Reminder{}).Where("invoice_id = ?", inv.ID).Update("status", "sent").Error/*]*/; err != nil {
		return err
	}/*]*/
	return nil
}

var asynqSkip = fmt.Errorf("never to be retried")
