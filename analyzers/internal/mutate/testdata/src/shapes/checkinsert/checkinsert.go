// Package checkinsert looks things up before it does them, with and without a claim.
package checkinsert

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
	"github.com/redis/go-redis/v9"
	"github.com/slack-go/slack"
	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/charge"
	"gorm.io/gorm"
)

type Event struct {
	ID, To, Text string
	Amount       int64
}

type WebhookEvent struct {
	EventID     string
	ProcessedAt time.Time
}

type svc struct {
	rdb    *redis.Client
	db     *gorm.DB
	sdb    *sql.DB
	sx     *sqlx.DB
	pool   *pgxpool.Pool
	slack  *slack.Client
	repo   repo
	pay    payments
	orders orders
}

type repo interface {
	EventExists(ctx context.Context, id string) (bool, error)
	SaveEvent(ctx context.Context, id string) error
	FindByKey(ctx context.Context, key string) (*Payment, error)
	Create(ctx context.Context, p *Payment) error
}

type Payment struct {
	ID, Key, Status string
	Paid            bool
}

type payments interface {
	Charge(ctx context.Context, amount int64) (string, error)
}

type Order struct {
	ID, Status string
	Refunded   bool
	EmailSent  bool
}

type orders interface {
	Get(ctx context.Context, id string) (*Order, error)
	UpdateStatus(ctx context.Context, id, status string) error
	Update(ctx context.Context, o *Order) error
}

const StatusPaid = "paid"

func (s *svc) send(ctx context.Context, ev Event) error {
	_, _, err := s.slack.PostMessageContext(ctx, ev.To, slack.MsgOptionText(ev.Text, false))
	return err
}

func (s *svc) foundRedisExists(ctx context.Context, ev Event) error {
	n, err := s.rdb.Exists(ctx, "event:"+ev.ID).Result() // want checkinsert
	if err != nil {
		return err
	}
	if n > 0 {
		return nil
	}
	if err := s.send(ctx, ev); err != nil {
		return err
	}
	return s.rdb.Set(ctx, "event:"+ev.ID, "1", time.Hour).Err()
}

func (s *svc) foundRedisGetNil(ctx context.Context, ev Event) error {
	key := "processed:" + ev.ID
	_, err := s.rdb.Get(ctx, key).Result() // want checkinsert
	if err == nil {
		return nil
	}
	if err != redis.Nil {
		return err
	}
	if err := s.send(ctx, ev); err != nil {
		return err
	}
	if err := s.rdb.Set(ctx, key, time.Now().Unix(), 24*time.Hour).Err(); err != nil {
		return err
	}
	return nil
}

func (s *svc) foundSIsMember(ctx context.Context, ev Event) error {
	if ok, err := s.rdb.SIsMember(ctx, "sent", ev.ID).Result(); err != nil { // want checkinsert
		return err
	} else if ok {
		return nil
	}
	if err := s.send(ctx, ev); err != nil {
		return err
	}
	return s.rdb.SAdd(ctx, "sent", ev.ID).Err()
}

// gorm first + create
func (s *svc) foundGorm(c *gin.Context) {
	var ev Event
	if err := c.ShouldBindJSON(&ev); err != nil {
		c.Status(400)
		return
	}
	var seen WebhookEvent
	if err := s.db.Where("event_id = ?", ev.ID).First(&seen).Error; err == nil { // want checkinsert
		c.Status(200)
		return
	}
	if err := s.send(c.Request.Context(), ev); err != nil {
		c.Status(500)
		return
	}
	if err := s.db.Create(&WebhookEvent{EventID: ev.ID, ProcessedAt: time.Now()}).Error; err != nil {
		c.Status(500)
		return
	}
	c.Status(200)
}

// gorm count
func (s *svc) foundGormCount(ctx context.Context, ev Event) error {
	var n int64
	s.db.Model(&WebhookEvent{}).Where("event_id = ?", ev.ID).Count(&n) // want checkinsert
	if n > 0 {
		return nil
	}
	if err := s.send(ctx, ev); err != nil {
		return err
	}
	return s.db.Create(&WebhookEvent{EventID: ev.ID}).Error
}

// pgx select exists, act, insert
func (s *svc) foundPgx(ctx context.Context, ev Event) error {
	var done bool
	err := s.pool.QueryRow(ctx, "SELECT EXISTS(SELECT 1 FROM processed_events WHERE event_id = $1)", ev.ID).Scan(&done) // want checkinsert
	if err != nil {
		return err
	}
	if done {
		return nil
	}
	if err := s.send(ctx, ev); err != nil {
		return err
	}
	_, err = s.pool.Exec(ctx, "INSERT INTO processed_events (event_id) VALUES ($1)", ev.ID)
	return err
}

// status read, act, update
func (s *svc) foundStatus(ctx context.Context, id string) error {
	order, err := s.orders.Get(ctx, id) // want checkinsert
	if err != nil {
		return err
	}
	if order.Status == StatusPaid {
		return nil
	}
	if _, err := s.pay.Charge(ctx, 100); err != nil {
		return err
	}
	return s.orders.UpdateStatus(ctx, id, StatusPaid)
}

// bool field
func (s *svc) foundFlag(ctx context.Context, id string) error {
	order, err := s.orders.Get(ctx, id) // want checkinsert
	if err != nil {
		return err
	}
	if order.EmailSent {
		return nil
	}
	if err := s.send(ctx, Event{ID: order.ID}); err != nil {
		return err
	}
	order.EmailSent = true
	return s.orders.Update(ctx, order)
}

// idempotency key lookup with stored response
func (s *svc) foundFindByKey(c echo.Context) error {
	ctx := c.Request().Context()
	key := c.Request().Header.Get("Idempotency-Key")
	existing, err := s.repo.FindByKey(ctx, key) // want checkinsert
	if err == nil && existing != nil {
		return c.JSON(200, existing)
	}
	id, err := s.pay.Charge(ctx, 100)
	if err != nil {
		return err
	}
	p := &Payment{ID: id, Key: key}
	if err := s.repo.Create(ctx, p); err != nil {
		return err
	}
	return c.JSON(201, p)
}

// redis cached response by idempotency key
func (s *svc) foundMiddleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		idempotencyKey := r.Header.Get("Idempotency-Key")
		if idempotencyKey == "" {
			next.ServeHTTP(w, r)
			return
		}
		cached, err := s.rdb.Get(r.Context(), idempotencyKey).Result() // want checkinsert
		if err == nil {
			w.Write([]byte(cached))
			return
		}
		id, err := s.pay.Charge(r.Context(), 100)
		if err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		s.rdb.Set(r.Context(), idempotencyKey, id, time.Hour)
		w.Write([]byte(id))
	})
}

// sqlx get
func (s *svc) foundSqlx(ctx context.Context, ev Event) error {
	var row struct{ ID int }
	err := s.sx.GetContext(ctx, &row, "SELECT id FROM notifications WHERE event_id = $1", ev.ID) // want checkinsert
	if err == nil {
		return nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if err := s.send(ctx, ev); err != nil {
		return err
	}
	_, err = s.sx.ExecContext(ctx, "INSERT INTO notifications (event_id) VALUES ($1)", ev.ID)
	return err
}

// asynq handler
func (s *svc) foundAsynq(ctx context.Context, t *asynq.Task) error {
	var ev Event
	if err := json.Unmarshal(t.Payload(), &ev); err != nil {
		return err
	}
	exists, err := s.repo.EventExists(ctx, ev.ID) // want checkinsert
	if err != nil {
		return err
	}
	if exists {
		log.Println("skip")
		return nil
	}
	params := &stripe.ChargeParams{Amount: stripe.Int64(ev.Amount)}
	if _, err := charge.New(params); err != nil {
		return err
	}
	return s.repo.SaveEvent(ctx, ev.ID)
}

// hash field
func (s *svc) foundHExists(ctx context.Context, ev Event) error {
	if s.rdb.HExists(ctx, "sent", ev.ID).Val() { // want checkinsert
		return nil
	}
	if err := s.send(ctx, ev); err != nil {
		return err
	}
	return s.rdb.HSet(ctx, "sent", ev.ID, 1).Err()
}

// error treated as absent
func (s *svc) foundErrorIgnored(ctx context.Context, ev Event) error {
	exists, _ := s.repo.EventExists(ctx, ev.ID) // want checkinsert
	if exists {
		return nil
	}
	return s.send(ctx, ev)
}

// select status
func (s *svc) foundSelectStatus(ctx context.Context, id string) error {
	var status string
	if err := s.sdb.QueryRowContext(ctx, "SELECT status FROM refunds WHERE id = $1", id).Scan(&status); err != nil { // want checkinsert
		return err
	}
	if status == "refunded" {
		return nil
	}
	if _, err := s.pay.Charge(ctx, -100); err != nil {
		return err
	}
	_, err := s.sdb.ExecContext(ctx, "UPDATE refunds SET status = 'refunded' WHERE id = $1", id)
	return err
}

// What follows stays silent.

func (s *svc) silentConditional(ctx context.Context, id string) error {
	var status string
	if err := s.sdb.QueryRowContext(ctx, "SELECT status FROM refunds WHERE id = $1", id).Scan(&status); err != nil {
		return err
	}
	if status == "refunded" {
		return nil
	}
	res, err := s.sdb.ExecContext(ctx, "UPDATE refunds SET status = 'processing' WHERE id = $1 AND status = 'pending'", id)
	if err != nil {
		return err
	}
	if n, _ := res.RowsAffected(); n == 0 {
		return nil
	}
	if _, err := s.pay.Charge(ctx, -100); err != nil {
		return err
	}
	_, err = s.sdb.ExecContext(ctx, "UPDATE refunds SET status = 'refunded' WHERE id = $1", id)
	return err
}

func (s *svc) silentSetNX(ctx context.Context, ev Event) error {
	ok, err := s.rdb.SetNX(ctx, "event:"+ev.ID, "1", time.Hour).Result()
	if err != nil {
		return err
	}
	if !ok {
		return nil
	}
	if err := s.send(ctx, ev); err != nil {
		s.rdb.Del(ctx, "event:"+ev.ID)
		return err
	}
	return nil
}

func (s *svc) silentCache(ctx context.Context, id string) (string, error) {
	if v, err := s.rdb.Get(ctx, "quote:"+id).Result(); err == nil {
		return v, nil
	}
	v, err := s.pay.Charge(ctx, 1)
	if err != nil {
		return "", err
	}
	s.rdb.Set(ctx, "quote:"+id, v, time.Hour)
	return v, nil
}

func (s *svc) silentTx(ctx context.Context, ev Event) error {
	return s.db.Transaction(func(tx *gorm.DB) error {
		var seen WebhookEvent
		if err := tx.Where("event_id = ?", ev.ID).First(&seen).Error; err == nil {
			return nil
		}
		return tx.Create(&WebhookEvent{EventID: ev.ID}).Error
	})
}

func (s *svc) silentPgxTx(ctx context.Context, ev Event) error {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	var id int
	err = tx.QueryRow(ctx, "SELECT id FROM deliveries WHERE event_id = $1 FOR UPDATE", ev.ID).Scan(&id)
	if err == nil {
		return nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if _, err := tx.Exec(ctx, "INSERT INTO deliveries (event_id) VALUES ($1)", ev.ID); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

type users interface {
	GetByEmail(ctx context.Context, email string) (*Payment, error)
	Create(ctx context.Context, email string) error
}

// sign-up: unique email
func silentSignup(ctx context.Context, us users, s *svc, email string) error {
	if u, _ := us.GetByEmail(ctx, email); u != nil {
		return errors.New("taken")
	}
	if err := us.Create(ctx, email); err != nil {
		return err
	}
	return s.send(ctx, Event{To: email})
}

// insert first, unique violation
func (s *svc) silentInsertFirst(ctx context.Context, ev Event) error {
	if _, err := s.pool.Exec(ctx, "INSERT INTO deliveries (event_id) VALUES ($1) ON CONFLICT DO NOTHING", ev.ID); err != nil {
		return err
	}
	return s.send(ctx, ev)
}

// a preference
func (s *svc) silentPreference(ctx context.Context, id string) error {
	muted, err := s.rdb.Exists(ctx, "muted:"+id).Result()
	if err != nil || muted > 0 {
		return err
	}
	return s.send(ctx, Event{To: id})
}

// rate limit
func (s *svc) silentRate(ctx context.Context, id string) error {
	if n, _ := s.rdb.Exists(ctx, "cooldown:"+id).Result(); n > 0 {
		return nil
	}
	if err := s.send(ctx, Event{To: id}); err != nil {
		return err
	}
	return s.rdb.Set(ctx, "cooldown:"+id, 1, time.Minute).Err()
}

// session
func (s *svc) silentSession(c *gin.Context) {
	sid := c.GetHeader("Session")
	if _, err := s.rdb.Get(c.Request.Context(), "session:"+sid).Result(); err == nil {
		c.Next()
		return
	}
	if err := s.send(c.Request.Context(), Event{To: sid}); err != nil {
		c.Status(500)
		return
	}
	s.rdb.Set(c.Request.Context(), "session:"+sid, "1", time.Hour)
}

// state machine with version
func (s *svc) silentValidate(ctx context.Context, id string) error {
	order, err := s.orders.Get(ctx, id)
	if err != nil {
		return err
	}
	if order.Status != StatusPaid {
		return errors.New("not paid")
	}
	if err := s.send(ctx, Event{ID: order.ID}); err != nil {
		return err
	}
	return s.orders.UpdateStatus(ctx, id, "shipped")
}

// the charge has a derived key
func (s *svc) silentKeyed(ctx context.Context, id string) error {
	order, err := s.orders.Get(ctx, id)
	if err != nil {
		return err
	}
	if order.Status == StatusPaid {
		return nil
	}
	params := &stripe.ChargeParams{Amount: stripe.Int64(1)}
	params.SetIdempotencyKey("charge-" + order.ID)
	if _, err := charge.New(params); err != nil {
		return err
	}
	return s.orders.UpdateStatus(ctx, id, StatusPaid)
}

type collection struct{}

type single struct{}

func (single) Decode(v any) error { return nil }

type M map[string]any

func (collection) FindOne(ctx context.Context, filter any) single         { return single{} }
func (collection) InsertOne(ctx context.Context, doc any) (string, error) { return "", nil }

var errNoDocuments = errors.New("no documents")

type mongoSvc struct {
	svc
	deliveries collection
}

// documents
func (s *mongoSvc) foundMongo(ctx context.Context, ev Event) error {
	var doc M
	err := s.deliveries.FindOne(ctx, M{"event_id": ev.ID}).Decode(&doc) // want checkinsert
	if err == nil {
		return nil
	}
	if !errors.Is(err, errNoDocuments) {
		return err
	}
	if err := s.send(ctx, ev); err != nil {
		return err
	}
	_, err = s.deliveries.InsertOne(ctx, WebhookEvent{EventID: ev.ID, ProcessedAt: time.Now()})
	return err
}

// a row in a variable
func (s *svc) foundRow(ctx context.Context, ev Event) error {
	row := s.pool.QueryRow(ctx, "SELECT count(*) FROM sent_events WHERE event_id = $1", ev.ID) // want checkinsert
	var n int
	if err := row.Scan(&n); err != nil {
		return err
	}
	if n > 0 {
		return nil
	}
	if err := s.send(ctx, ev); err != nil {
		return err
	}
	_, err := s.pool.Exec(ctx, "INSERT INTO sent_events (event_id) VALUES ($1)", ev.ID)
	return err
}

type transaction interface {
	Exists(query string, args ...any) (bool, error)
	Execute(query string, args ...any) (int64, error)
}

// in a transaction by its name
func silentTrx(using func(func(trx transaction) error) error, ev Event) error {
	return using(func(trx transaction) error {
		assigned, err := trx.Exists("SELECT 1 FROM tags WHERE event_id = $1 AND tag = $2", ev.ID, ev.Text)
		if err != nil || assigned {
			return err
		}
		_, err = trx.Execute("INSERT INTO tags (event_id, tag) VALUES ($1, $2)", ev.ID, ev.Text)
		return err
	})
}

// an idempotency middleware
func (s *svc) foundKeyMiddleware(c *gin.Context) {
	key := c.GetHeader("Idempotency-Key")
	cached, err := s.rdb.Get(c.Request.Context(), "idempotency:"+key).Result() // want checkinsert
	if err == nil {
		c.JSON(200, cached)
		return
	}
	c.Next()
	s.rdb.Set(c.Request.Context(), "idempotency:"+key, "done", time.Hour)
}

// a cache of pages
func (s *svc) silentPageCache(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if page, err := s.rdb.Get(r.Context(), "page:"+r.URL.Path).Result(); err == nil {
			w.Write([]byte(page))
			return
		}
		next(w, r)
		s.rdb.Set(r.Context(), "page:"+r.URL.Path, "…", time.Minute)
	}
}
