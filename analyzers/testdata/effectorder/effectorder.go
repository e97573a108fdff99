// Package effectorder acts and records, in one order or another.
package effectorder

import (
	"context"
	"database/sql"
	"log"

	"example.com/shop/jobs"
)

type store interface {
	MarkSent(ctx context.Context, id string) error
	MarkFailed(ctx context.Context, id string) error
	Unmark(ctx context.Context, id string) error
	UpdateStatus(ctx context.Context, id, status string) error
	Save(ctx context.Context, o *order) error
}

type mailer interface {
	Send(ctx context.Context, to string) error
}

type seen interface {
	MarkSeen(id string)
	Flush() error
}

type order struct {
	ID, To, Status string
}

const (
	StatusSent    = "SENT"
	StatusSending = "sending"
)

type service struct {
	store store
	mail  mailer
	seen  seen
	db    *sql.DB
	log   *log.Logger
}

func (s *service) dropped(ctx context.Context, o *order) error {
	if err := s.mail.Send(ctx, o.To); err != nil {
		return err
	}
	_ = s.store.MarkSent(ctx, o.ID) // want `the effect is repeated if it cannot be marked as done: mailer.Send → store.MarkSent → error dropped \(return the error, so that somebody marks it\)`
	return nil
}

func (s *service) statement(ctx context.Context, o *order) error {
	if err := s.mail.Send(ctx, o.To); err != nil {
		return err
	}
	s.store.UpdateStatus(ctx, o.ID, StatusSent) // want `mailer.Send → store.UpdateStatus → error dropped`
	return nil
}

func (s *service) logged(ctx context.Context, o *order) error {
	err := s.mail.Send(ctx, o.To)
	if err == nil {
		o.Status = "SENT"
		err = s.store.Save(ctx, o) // want `mailer.Send → store.Save → error only logged`
		if err != nil {
			log.Print(err)
		}
	}
	return nil
}

func (s *service) rows(ctx context.Context, all []order) {
	for _, o := range all {
		if err := s.mail.Send(ctx, o.To); err != nil {
			continue
		}
		if _, err := s.db.ExecContext(ctx, "UPDATE orders SET notified_at = now() WHERE id = $1", o.ID); err != nil { // want `mailer.Send → db.ExecContext → error only logged`
			s.log.Print(err)
		}
	}
}

func (s *service) tooLate(ctx context.Context, all []order) error {
	for _, o := range all {
		if err := s.mail.Send(ctx, o.To); err != nil {
			continue
		}
		s.seen.MarkSeen(o.ID)
	}
	return s.seen.Flush() // want `marks are saved only when all effects are done: a crash before repeats them: mailer.Send → seen.MarkSeen → seen.Flush`
}

func (s *service) early(ctx context.Context, o *order) error {
	if err := s.store.MarkSent(ctx, o.ID); err != nil { // want `work is marked as done before the effect, and stays so if that fails: store.MarkSent → mailer.Send → error \(mark it afterwards, or take the mark back on error\)`
		return err
	}
	if err := s.mail.Send(ctx, o.To); err != nil {
		return err
	}
	return nil
}

func (s *service) acked(ctx context.Context, d *jobs.Delivery) {
	if err := s.mail.Send(ctx, d.To); err != nil {
		log.Print(err)
		d.Ack() // want `the message is acknowledged though the effect has failed: mailer.Send → error → d.Ack \(leave it to be delivered again, or keep it elsewhere first\)`
		return
	}
	d.Ack()
}

func (s *service) ackedAnyway(ctx context.Context, d *jobs.Delivery) {
	if err := s.mail.Send(ctx, d.To); err != nil {
		log.Print(err)
	}
	d.Ack() // want `acknowledged though the effect has failed`
}

// What follows stays silent.

func (s *service) returned(ctx context.Context, o *order) error {
	if err := s.mail.Send(ctx, o.To); err != nil {
		return err
	}
	return s.store.MarkSent(ctx, o.ID)
}

func (s *service) failed(ctx context.Context, o *order) error {
	if err := s.mail.Send(ctx, o.To); err != nil {
		_ = s.store.MarkFailed(ctx, o.ID)
		return err
	}
	return nil
}

func (s *service) begun(ctx context.Context, o *order) error {
	if err := s.store.UpdateStatus(ctx, o.ID, StatusSending); err != nil {
		return err
	}
	if err := s.mail.Send(ctx, o.To); err != nil {
		return err
	}
	return nil
}

func (s *service) takenBack(ctx context.Context, o *order) error {
	if err := s.store.MarkSent(ctx, o.ID); err != nil {
		return err
	}
	if err := s.mail.Send(ctx, o.To); err != nil {
		if err := s.store.Unmark(ctx, o.ID); err != nil {
			return err
		}
		return err
	}
	return nil
}

func (s *service) another(ctx context.Context, o, p *order) error {
	if err := s.store.MarkSent(ctx, o.ID); err != nil {
		return err
	}
	if err := s.mail.Send(ctx, p.To); err != nil {
		return err
	}
	return nil
}

func (s *service) noEffect(ctx context.Context, o *order) {
	_ = s.store.MarkSent(ctx, o.ID)
}

func (s *service) otherBranch(ctx context.Context, o *order) error {
	if o.To != "" {
		return s.mail.Send(ctx, o.To)
	}
	_ = s.store.MarkSent(ctx, o.ID)
	return nil
}

func (s *service) kept(ctx context.Context, d *jobs.Delivery, dead jobs.Queue) error {
	if err := s.mail.Send(ctx, d.To); err != nil {
		if err := dead.Publish(d); err != nil {
			return err
		}
		d.Ack()
		return nil
	}
	d.Ack()
	return nil
}

func (s *service) notAgain(ctx context.Context, d *jobs.Delivery) error {
	if err := s.mail.Send(ctx, d.To); err != nil {
		return err
	}
	d.Ack()
	return nil
}

type people interface {
	UpdateLastSeen(ctx context.Context, id string) error
	UpdateSentCount(ctx context.Context, id string) error
}

func (s *service) presence(ctx context.Context, p people, o *order) error {
	if err := s.mail.Send(ctx, o.To); err != nil {
		return err
	}
	_ = p.UpdateLastSeen(ctx, o.ID)
	_ = p.UpdateSentCount(ctx, o.ID)
	return nil
}

type chat interface{ DeleteMessage(id string) error }

func (s *service) tidied(ctx context.Context, c chat, o *order) {
	if err := s.mail.Send(ctx, o.To); err != nil {
		log.Print(err)
	}
	if err := c.DeleteMessage(o.ID); err != nil {
		log.Print(err)
	}
}

func (s *service) savedEach(ctx context.Context, all []order) error {
	for _, o := range all {
		if err := s.mail.Send(ctx, o.To); err != nil {
			continue
		}
		s.seen.MarkSeen(o.ID)
		if err := s.seen.Flush(); err != nil {
			return err
		}
	}
	return nil
}
