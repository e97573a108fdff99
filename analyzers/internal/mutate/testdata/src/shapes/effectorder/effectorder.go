// Package effectorder acts and records, in good order and in bad.
package effectorder

import (
	"context"
	"encoding/json"
	"log"
	"log/slog"
	"net/http"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/gin-gonic/gin"
	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
	"github.com/segmentio/kafka-go"
	"github.com/slack-go/slack"
	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/charge"
	"gorm.io/gorm"
)

type Event struct {
	ID, To, Text string
	Amount       int64
}

type Order struct {
	ID     uint
	Status string
	Paid   bool
	SentAt *time.Time
}

type svc struct {
	rdb   *redis.Client
	db    *gorm.DB
	pool  *pgxpool.Pool
	slack *slack.Client
	r     *kafka.Reader
	sqs   *sqs.Client
	repo  repo
	log   *slog.Logger
}

type repo interface {
	MarkSent(ctx context.Context, id string) error
	MarkProcessed(ctx context.Context, id string) error
	IsProcessed(ctx context.Context, id string) (bool, error)
	UpdateStatus(ctx context.Context, id string, status string) error
	SaveReport(ctx context.Context, ids []string) error
	CreateDigest(ctx context.Context, d *Digest) error
	CreateAuditLog(ctx context.Context, id string) error
	Pending(ctx context.Context) ([]Event, error)
}

type Digest struct{ IDs []string }

func (s *svc) send(ctx context.Context, ev Event) error {
	_, _, err := s.slack.PostMessageContext(ctx, ev.To, slack.MsgOptionText(ev.Text, false))
	return err
}

// gorm update dropped
func (s *svc) foundGormDropped(ctx context.Context, o *Order) error {
	if err := s.send(ctx, Event{To: "x"}); err != nil {
		return err
	}
	s.db.Model(o).Update("status", "sent") // want effectorder
	return nil
}

// gorm save dropped
func (s *svc) foundGormSave(ctx context.Context, o *Order) error {
	ch, err := charge.New(&stripe.ChargeParams{Amount: stripe.Int64(1)})
	if err != nil {
		return err
	}
	_ = ch
	o.Status = "paid"
	if err := s.db.Save(o).Error; err != nil { // want effectorder
		s.log.Error("save", "err", err)
	}
	return nil
}

// slog and 200
func (s *svc) foundWebhook200(c *gin.Context) {
	var ev Event
	if err := c.ShouldBindJSON(&ev); err != nil {
		c.Status(400)
		return
	}
	if err := s.send(c.Request.Context(), ev); err != nil {
		c.Status(500)
		return
	}
	if err := s.repo.MarkProcessed(c.Request.Context(), ev.ID); err != nil { // want effectorder
		slog.Error("mark", "err", err)
		c.JSON(http.StatusOK, gin.H{"ok": true})
		return
	}
	c.JSON(http.StatusOK, gin.H{"ok": true})
}

// kafka commit before work
func (s *svc) foundCommitFirst(ctx context.Context) error {
	for {
		m, err := s.r.FetchMessage(ctx)
		if err != nil {
			return err
		}
		if err := s.r.CommitMessages(ctx, m); err != nil { // want effectorder
			return err
		}
		var ev Event
		if err := json.Unmarshal(m.Value, &ev); err != nil {
			continue
		}
		if err := s.send(ctx, ev); err != nil {
			log.Print(err)
		}
	}
}

// kafka commit after a logged failure
func (s *svc) foundCommitAnyway(ctx context.Context) error {
	for {
		m, err := s.r.FetchMessage(ctx)
		if err != nil {
			return err
		}
		var ev Event
		if err := json.Unmarshal(m.Value, &ev); err == nil {
			if err := s.send(ctx, ev); err != nil {
				log.Printf("send: %v", err)
			}
		}
		if err := s.r.CommitMessages(ctx, m); err != nil { // want effectorder
			return err
		}
	}
}

// amqp ack first
func (s *svc) foundAmqpAckFirst(ctx context.Context, d amqp091.Delivery) {
	d.Ack(false) // want effectorder
	if err := s.send(ctx, Event{ID: d.MessageId}); err != nil {
		log.Print(err)
	}
}

// defer ack
func (s *svc) foundDeferAck(ctx context.Context, m *nats.Msg) {
	defer m.Ack() // want effectorder
	if err := s.send(ctx, Event{Text: string(m.Data)}); err != nil {
		log.Print(err)
		return
	}
}

// sqs delete in the error branch
func (s *svc) foundSQSDelete(ctx context.Context, ev Event) {
	if err := s.send(ctx, ev); err != nil {
		log.Print(err)
	}
	s.sqs.DeleteMessage(ctx, &sqs.DeleteMessageInput{}) // want effectorder
}

// redis mark before
func (s *svc) foundSetNXBefore(ctx context.Context, ev Event) error {
	ok, err := s.rdb.SetNX(ctx, "sent:"+ev.ID, 1, 24*time.Hour).Result() // want effectorder
	if err != nil {
		return err
	}
	if !ok {
		return nil
	}
	if err := s.send(ctx, ev); err != nil {
		return err
	}
	return nil
}

// mark before via update
func (s *svc) foundPgxBefore(ctx context.Context, ev Event) error {
	if _, err := s.pool.Exec(ctx, "UPDATE reminders SET sent_at = now() WHERE id = $1", ev.ID); err != nil { // want effectorder
		return err
	}
	return s.send(ctx, ev)
}

// loop
func (s *svc) foundLoopBefore(ctx context.Context) error {
	evs, err := s.repo.Pending(ctx)
	if err != nil {
		return err
	}
	for _, ev := range evs {
		if err := s.repo.MarkSent(ctx, ev.ID); err != nil { // want effectorder
			log.Print(err)
			continue
		}
		if err := s.send(ctx, ev); err != nil {
			log.Print(err)
		}
	}
	return nil
}

// marks before the result is saved
func (s *svc) foundBeforeResult(ctx context.Context, ids []string) error {
	for _, id := range ids {
		if err := s.repo.UpdateStatus(ctx, id, "processed"); err != nil { // want effectorder
			log.Print(err)
		}
	}
	d := &Digest{IDs: ids}
	if err := s.repo.CreateDigest(ctx, d); err != nil {
		return err
	}
	return nil
}

// filter: check, mark, go on
func (s *svc) foundFilter(ctx context.Context, ev Event) (bool, error) {
	done, err := s.repo.IsProcessed(ctx, ev.ID)
	if err != nil {
		return false, err
	}
	if done {
		return false, nil
	}
	if err := s.repo.MarkProcessed(ctx, ev.ID); err != nil { // want effectorder
		return false, err
	}
	return true, nil
}

// goroutine for the mark
func (s *svc) foundGoMark(ctx context.Context, ev Event) error {
	if err := s.send(ctx, ev); err != nil {
		return err
	}
	go s.repo.MarkSent(ctx, ev.ID) // want effectorder
	return nil
}

// asynq returns nil after failure
func (s *svc) foundAsynqNil(ctx context.Context, t *asynq.Task) error {
	var ev Event
	if err := json.Unmarshal(t.Payload(), &ev); err != nil {
		return err
	}
	if err := s.send(ctx, ev); err != nil {
		log.Print(err)
		return nil // want effectorder
	}
	return s.repo.MarkSent(ctx, ev.ID)
}

// watermill
func (s *svc) foundWatermillAck(msg *message.Message) {
	if err := s.send(msg.Context(), Event{ID: msg.UUID}); err != nil {
		log.Print(err)
		msg.Ack() // want effectorder
		return
	}
	msg.Ack()
}

// mark in the fetch
func (s *svc) foundFetchMarks(ctx context.Context) ([]Event, error) {
	evs, err := s.repo.Pending(ctx)
	if err != nil {
		return nil, err
	}
	for _, ev := range evs {
		if err := s.repo.MarkProcessed(ctx, ev.ID); err != nil { // want effectorder
			log.Print(err)
		}
	}
	return evs, nil
}

// blank assign with two results
func (s *svc) foundPgxDropped(ctx context.Context, ev Event) error {
	if err := s.send(ctx, ev); err != nil {
		return err
	}
	_, _ = s.pool.Exec(ctx, `UPDATE orders SET status = 'paid' WHERE id = $1`, ev.ID) // want effectorder
	return nil
}

// assigned and forgotten
func (s *svc) foundErrOverwritten(ctx context.Context, ev Event) error {
	err := s.send(ctx, ev)
	if err != nil {
		return err
	}
	err = s.repo.MarkSent(ctx, ev.ID) // want effectorder
	if err != nil {
		log.Printf("could not mark %s: %v", ev.ID, err)
	}
	return nil
}

// What follows stays silent.

func (s *svc) silentMarkReturned(ctx context.Context, ev Event) error {
	if err := s.send(ctx, ev); err != nil {
		return err
	}
	if err := s.repo.MarkSent(ctx, ev.ID); err != nil {
		s.log.Error("mark", "err", err)
		return err
	}
	return nil
}

func (s *svc) silentSetNXReleased(ctx context.Context, ev Event) error {
	ok, err := s.rdb.SetNX(ctx, "sent:"+ev.ID, 1, 24*time.Hour).Result()
	if err != nil || !ok {
		return err
	}
	if err := s.send(ctx, ev); err != nil {
		s.rdb.Del(ctx, "sent:"+ev.ID)
		return err
	}
	return nil
}

// a lock with a short time, released
func (s *svc) silentLock(ctx context.Context, ev Event) error {
	ok, err := s.rdb.SetNX(ctx, "lock:"+ev.ID, 1, 30*time.Second).Result()
	if err != nil || !ok {
		return err
	}
	defer s.rdb.Del(ctx, "lock:"+ev.ID)
	return s.send(ctx, ev)
}

// mark paid, then a receipt as best effort
func (s *svc) silentReceipt(ctx context.Context, ev Event) error {
	if err := s.repo.UpdateStatus(ctx, ev.ID, "paid"); err != nil {
		return err
	}
	if err := s.send(ctx, ev); err != nil {
		log.Print(err)
	}
	return nil
}

// audit after mark
func (s *svc) silentAudit(ctx context.Context, ev Event) error {
	if err := s.repo.UpdateStatus(ctx, ev.ID, "processed"); err != nil {
		return err
	}
	if err := s.repo.CreateAuditLog(ctx, ev.ID); err != nil {
		return err
	}
	return nil
}

// nack on failure
func (s *svc) silentNack(ctx context.Context, d amqp091.Delivery) {
	if err := s.send(ctx, Event{ID: d.MessageId}); err != nil {
		log.Print(err)
		d.Nack(false, true)
		return
	}
	d.Ack(false)
}

// poison: cannot be parsed
func (s *svc) silentPoison(ctx context.Context, d amqp091.Delivery) {
	var ev Event
	if err := json.Unmarshal(d.Body, &ev); err != nil {
		log.Print(err)
		d.Ack(false)
		return
	}
	if err := s.send(ctx, ev); err != nil {
		d.Nack(false, true)
		return
	}
	d.Ack(false)
}

// read marks
type inbox interface {
	MarkRead(ctx context.Context, id string) error
	MarkNotificationsSeen(ctx context.Context, user string) error
}

func silentRead(ctx context.Context, s *svc, in inbox, ev Event) {
	if err := s.send(ctx, ev); err != nil {
		return
	}
	_ = in.MarkRead(ctx, ev.ID)
}

// transaction
func (s *svc) silentTx(ctx context.Context, o *Order, ev Event) error {
	return s.db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Model(o).Update("status", "sent").Error; err != nil {
			return err
		}
		return s.send(ctx, ev)
	})
}

// filter with release
type claimer interface {
	IsProcessed(ctx context.Context, id string) (bool, error)
	MarkProcessed(ctx context.Context, id string) error
	Unmark(ctx context.Context, id string) error
}

func silentFilter(ctx context.Context, r claimer, ev Event) (bool, error) {
	done, err := r.IsProcessed(ctx, ev.ID)
	if err != nil || done {
		return false, err
	}
	if err := r.MarkProcessed(ctx, ev.ID); err != nil {
		return false, err
	}
	return true, nil
}

// response acknowledges nothing
func (s *svc) silentProgress(ctx context.Context, ev Event) error {
	if err := s.send(ctx, ev); err != nil {
		return err
	}
	_ = s.repo.UpdateStatus(ctx, ev.ID, "failed")
	return nil
}

// ack after a permanent error that was kept
func (s *svc) silentDLQ(ctx context.Context, w *kafka.Writer, m kafka.Message) error {
	if err := s.send(ctx, Event{Text: string(m.Value)}); err != nil {
		if err := w.WriteMessages(ctx, kafka.Message{Value: m.Value}); err != nil {
			return err
		}
	}
	return s.r.CommitMessages(ctx, m)
}

// done for another
func (s *svc) silentWaiter(ctx context.Context, ev Event) error {
	if err := s.send(ctx, ev); err != nil {
		return err
	}
	s.log.Info("sent", "id", ev.ID)
	return nil
}

// at most once, if the configuration says so
func silentConfiguredAck(ctx context.Context, s *svc, d amqp091.Delivery, early bool) error {
	if early {
		d.Ack(false)
	}
	if err := s.send(ctx, Event{ID: d.MessageId}); err != nil {
		return err
	}
	if !early {
		d.Ack(false)
	}
	return nil
}

type entries interface {
	HashExists(ctx context.Context, hash string) (bool, error)
	CreateEntry(ctx context.Context, e Event) error
}

// what is kept is the entries themselves
func silentKept(ctx context.Context, in entries, all []Event) (fresh []Event, err error) {
	for _, e := range all {
		if err := in.CreateEntry(ctx, e); err != nil {
			return nil, err
		}
		fresh = append(fresh, e)
	}
	return fresh, nil
}

// but what could not be kept comes again
func foundUnkept(ctx context.Context, in entries, all []Event) (fresh []Event) {
	for _, e := range all {
		if err := in.CreateEntry(ctx, e); err != nil { // want effectorder
			log.Print(err)
		}
		fresh = append(fresh, e)
	}
	return fresh
}

type forge interface {
	CreateCommitStatus(ctx context.Context, sha, state string) error
}

// a status that is shown elsewhere is no mark
func silentShown(ctx context.Context, s *svc, f forge, ev Event) error {
	if err := s.send(ctx, ev); err != nil {
		return err
	}
	if err := f.CreateCommitStatus(ctx, ev.ID, "success"); err != nil {
		log.Print(err)
	}
	return nil
}

type broker interface {
	Publish(ctx context.Context, topic string, body []byte) error
}

type outboxRow struct {
	ID   string
	Body []byte
}

// a relay publishes again what it could not mark
func silentRelay(ctx context.Context, s *svc, b broker, rows []outboxRow) {
	for _, row := range rows {
		if err := b.Publish(ctx, "events", row.Body); err != nil {
			log.Print(err)
			continue
		}
		if err := s.repo.MarkProcessed(ctx, row.ID); err != nil {
			log.Print(err)
		}
	}
}
