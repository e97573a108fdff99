// Package checkinsert looks things up before it does them.
package checkinsert

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"net/http"
	"sync"
	"time"
)

type cache interface {
	Get(ctx context.Context, key string) (string, error)
	Set(ctx context.Context, key, value string, ttl time.Duration) error
	SetNX(ctx context.Context, key, value string, ttl time.Duration) (bool, error)
}

type events interface {
	Processed(id string) (bool, error)
	IsNew(id string) bool
	MarkProcessed(id string) error
}

type mailer interface {
	Send(to, text string) error
}

type router struct{ handlers map[string]func(string) error }

func (r *router) Handle(kind string) error { return r.handlers[kind](kind) }

type service struct {
	cache  cache
	events events
	mail   mailer
	router *router
	db     *sql.DB
	mu     sync.Mutex
}

type event struct{ ID, Kind, To string }

func (s *service) webhook(ctx context.Context, w http.ResponseWriter, e event) {
	key := "webhook:" + e.ID
	_, err := s.cache.Get(ctx, key) // want `two that overlap both find nothing and both act: cache.Get → router.Handle → cache.Set \(claim the key before acting\)`
	if err == nil {
		w.WriteHeader(http.StatusOK)
		return
	}
	processErr := s.router.Handle(e.Kind)
	if processErr == nil {
		if err := s.cache.Set(ctx, key, "processed", time.Hour); err != nil {
			log.Print(err)
		}
	}
}

func (s *service) marked(e event) error {
	done, err := s.events.Processed(e.ID) // want `both act: events.Processed → mailer.Send → events.MarkProcessed`
	if err != nil {
		return err
	}
	if done {
		return nil
	}
	if err := s.mail.Send(e.To, "hello"); err != nil {
		return err
	}
	return s.events.MarkProcessed(e.ID)
}

func (s *service) inTheBranch(e event) error {
	if s.events.IsNew(e.ID) { // want `both act: events.IsNew → mailer.Send → events.MarkProcessed`
		if err := s.mail.Send(e.To, "hello"); err != nil {
			return err
		}
		return s.events.MarkProcessed(e.ID)
	}
	return nil
}

func (s *service) loop(all []event) error {
	for _, e := range all {
		if done, err := s.events.Processed(e.ID); err != nil { // want `both act`
			return err
		} else if done {
			continue
		}
		if err := s.mail.Send(e.To, "hello"); err != nil {
			continue
		}
		if err := s.events.MarkProcessed(e.ID); err != nil {
			return err
		}
	}
	return nil
}

// What follows stays silent.

func (s *service) claimed(ctx context.Context, e event) error {
	if ok, err := s.cache.SetNX(ctx, e.ID, "1", time.Minute); err != nil || !ok {
		return err
	}
	if _, err := s.cache.Get(ctx, e.ID); err == nil {
		return nil
	}
	if err := s.mail.Send(e.To, "hello"); err != nil {
		return err
	}
	return s.cache.Set(ctx, e.ID, "done", time.Hour)
}

func (s *service) locked(e event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if done, err := s.events.Processed(e.ID); err != nil || done {
		return err
	}
	if err := s.mail.Send(e.To, "hello"); err != nil {
		return err
	}
	return s.events.MarkProcessed(e.ID)
}

func (s *service) cached(ctx context.Context, id string) (string, error) {
	if v, err := s.cache.Get(ctx, id); err == nil {
		return v, nil
	}
	v, err := s.compute(id)
	if err != nil {
		return "", err
	}
	return v, s.cache.Set(ctx, id, v, time.Hour)
}

func (s *service) compute(id string) (string, error) { return id + id, nil }

func (s *service) recordedFirst(e event) error {
	if done, err := s.events.Processed(e.ID); err != nil || done {
		return err
	}
	if err := s.events.MarkProcessed(e.ID); err != nil {
		return err
	}
	return s.mail.Send(e.To, "hello")
}

func (s *service) another(e, f event) error {
	if done, err := s.events.Processed(e.ID); err != nil || done {
		return err
	}
	if err := s.mail.Send(e.To, "hello"); err != nil {
		return err
	}
	return s.events.MarkProcessed(f.ID)
}

func (s *service) noEffect(e event) error {
	if done, err := s.events.Processed(e.ID); err != nil || done {
		return err
	}
	log.Print(e.ID)
	return s.events.MarkProcessed(e.ID)
}

func (s *service) onTheOtherBranch(e event) error {
	done, err := s.events.Processed(e.ID)
	if err != nil {
		return err
	}
	if done {
		return s.mail.Send(e.To, "again")
	}
	return s.events.MarkProcessed(e.ID)
}

// Rows.

func (s *service) row(ctx context.Context, e event) error {
	var n int
	err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM deliveries WHERE event_id = $1", e.ID).Scan(&n)
	if err != nil {
		return err
	}
	if n == 0 {
		_, err = s.db.ExecContext(ctx, `INSERT INTO deliveries (event_id, at) VALUES ($1, now())`, e.ID) // want `two that overlap both find no row and both insert one: SELECT FROM deliveries BY event_id → INSERT INTO deliveries \(put a unique index on event_id and insert with ON CONFLICT DO NOTHING\)`
	}
	return err
}

func (s *service) noRows(e event) error {
	var id int
	err := s.db.QueryRow("SELECT id FROM jobs WHERE hash = ? AND kind = ?", e.ID, e.Kind).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		_, err = s.db.Exec("INSERT INTO jobs (hash, kind) VALUES (?, ?)", e.ID, e.Kind) // want `both find no row and both insert one: SELECT FROM jobs BY hash, kind`
		return err
	}
	return err
}

func (s *service) conflict(e event) error {
	var id int
	err := s.db.QueryRow("SELECT id FROM jobs WHERE hash = ?", e.ID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		_, err = s.db.Exec("INSERT INTO jobs (hash) VALUES (?) ON CONFLICT DO NOTHING", e.ID)
	}
	return err
}

func (s *service) byID(e event) error {
	var n int
	err := s.db.QueryRow("SELECT count(*) FROM jobs WHERE id = ?", e.ID).Scan(&n)
	if err == nil && n == 0 {
		_, err = s.db.Exec("INSERT INTO jobs (id) VALUES (?)", e.ID)
	}
	return err
}

func (s *service) anotherTable(e event) error {
	var n int
	err := s.db.QueryRow("SELECT count(*) FROM jobs WHERE hash = ?", e.ID).Scan(&n)
	if err == nil && n == 0 {
		_, err = s.db.Exec("INSERT INTO misses (hash) VALUES (?)", e.ID)
	}
	return err
}

func (s *service) inTransaction(e event) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM jobs WHERE hash = ?", e.ID).Scan(&n); err != nil {
		return err
	}
	if n == 0 {
		if _, err := tx.Exec("INSERT INTO jobs (hash) VALUES (?)", e.ID); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Errors.

func (s *service) logged(all []event) []event {
	var fresh []event
	for _, e := range all {
		done, err := s.events.Processed(e.ID) // want `what could not be looked up counts as new: events.Processed → error only logged → append \(stop or try again later if the lookup fails\)`
		if err != nil {
			log.Print(err)
		}
		if done {
			continue
		}
		fresh = append(fresh, e)
	}
	return fresh
}

func (s *service) dropped(e event) error {
	if done, _ := s.events.Processed(e.ID); done { // want `counts as new: events.Processed → error dropped → mailer.Send`
		return nil
	}
	return s.mail.Send(e.To, "hello")
}

type disk interface {
	Exists(path string) (bool, error)
	Create(path string) error
}

func file(d disk, path string) error {
	if ok, _ := d.Exists(path); ok {
		return nil
	}
	return d.Create(path)
}

func (s *service) skipped(all []event) []event {
	var fresh []event
	for _, e := range all {
		done, err := s.events.Processed(e.ID)
		if err != nil {
			log.Print(err)
			continue
		}
		if done {
			continue
		}
		fresh = append(fresh, e)
	}
	return fresh
}
