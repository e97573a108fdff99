// Package marks keeps marks in memory, in ways that are found and others that are no mistake.
package marks

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/patrickmn/go-cache"
	"github.com/segmentio/kafka-go"
	"github.com/slack-go/slack"
)

type Event struct {
	ID, To, Text string
	At           time.Time
}

type Source interface {
	Fetch(ctx context.Context) ([]Event, error)
}

type Bot struct {
	api    *tgbotapi.BotAPI
	slack  *slack.Client
	writer *kafka.Writer
	src    Source

	mu        sync.RWMutex
	seen      map[string]struct{}
	lastSent  map[string]int64
	handled   []string
	processed map[int]bool
	recent    *lru.Cache[string, time.Time]
	cache     *cache.Cache
	entries   map[string]entry
	state     state
	lastID    int
	status    map[string]string
}

type entry struct {
	at    time.Time
	count int
}

type state struct{ done map[string]bool }

func (b *Bot) send(ctx context.Context, ev Event) error {
	_, _, err := b.slack.PostMessageContext(ctx, ev.To, slack.MsgOptionText(ev.Text, false))
	return err
}

// poller loop with a local set
func (b *Bot) foundPoller(ctx context.Context) {
	seen := make(map[string]bool)
	for {
		events, err := b.src.Fetch(ctx)
		if err != nil {
			log.Print(err)
			continue
		}
		for _, ev := range events {
			if seen[ev.ID] { // want memdedupe
				continue
			}
			if err := b.send(ctx, ev); err != nil {
				log.Print(err)
				continue
			}
			seen[ev.ID] = true
		}
		time.Sleep(time.Minute)
	}
}

// ticker
func (b *Bot) foundTicker(ctx context.Context) error {
	notified := map[string]struct{}{}
	t := time.NewTicker(time.Minute)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			events, _ := b.src.Fetch(ctx)
			for _, ev := range events {
				if _, ok := notified[ev.ID]; ok { // want memdedupe
					continue
				}
				notified[ev.ID] = struct{}{}
				b.send(ctx, ev)
			}
		}
	}
}

// middleware closure
func foundMiddleware(w *kafka.Writer) gin.HandlerFunc {
	var mu sync.Mutex
	seen := map[string]time.Time{}
	return func(c *gin.Context) {
		id := c.GetHeader("X-Delivery")
		mu.Lock()
		_, dup := seen[id] // want memdedupe
		seen[id] = time.Now()
		mu.Unlock()
		if dup {
			c.Status(200)
			return
		}
		if err := w.WriteMessages(c.Request.Context(), kafka.Message{Value: []byte(id)}); err != nil {
			c.Status(500)
		}
	}
}

// locked check and mark in a helper of the same type, work elsewhere
func (b *Bot) isDuplicate(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.seen[id]; ok { // want memdedupe
		return true
	}
	b.seen[id] = struct{}{}
	return false
}

func (b *Bot) foundHelper(ctx context.Context, ev Event) {
	if b.isDuplicate(ev.ID) { // want memdedupe
		return
	}
	go b.process(ctx, ev)
}

func (b *Bot) process(ctx context.Context, ev Event) {
	if err := b.send(ctx, ev); err != nil {
		log.Print(err)
	}
}

// RLock check, then mark after
func (b *Bot) foundRLock(ctx context.Context, ev Event) error {
	b.mu.RLock()
	done := b.state.done[ev.ID] // want memdedupe
	b.mu.RUnlock()
	if done {
		return nil
	}
	if err := b.send(ctx, ev); err != nil {
		return err
	}
	b.mu.Lock()
	b.state.done[ev.ID] = true
	b.mu.Unlock()
	return nil
}

// slice
func (b *Bot) foundSlice(ctx context.Context, ev Event) error {
	if slices.Contains(b.handled, ev.ID) { // want memdedupe
		return nil
	}
	b.handled = append(b.handled, ev.ID)
	return b.send(ctx, ev)
}

// struct entries
func (b *Bot) foundEntries(ctx context.Context, ev Event) error {
	if e, ok := b.entries[ev.ID]; ok && time.Since(e.at) < time.Hour { // want memdedupe
		return nil
	}
	b.entries[ev.ID] = entry{at: time.Now()}
	return b.send(ctx, ev)
}

// unix seconds
func (b *Bot) foundUnix(ctx context.Context, ev Event) error {
	now := time.Now().Unix()
	if last, ok := b.lastSent[ev.ID]; ok && now-last < 3600 { // want memdedupe
		return nil
	}
	if err := b.send(ctx, ev); err != nil {
		return err
	}
	b.lastSent[ev.ID] = now
	return nil
}

// telegram updates
func (b *Bot) foundTelegram() {
	for u := range b.api.GetUpdatesChan(0) {
		if b.processed[u.UpdateID] { // want memdedupe
			continue
		}
		b.processed[u.UpdateID] = true
		b.api.Send(tgbotapi.NewMessage(u.Message.Chat.ID, "hi"))
	}
}

// LRU
func (b *Bot) foundLRU(ctx context.Context, ev Event) error {
	if _, ok := b.recent.Get(ev.ID); ok { // want memdedupe
		return nil
	}
	b.recent.Add(ev.ID, time.Now())
	return b.send(ctx, ev)
}

// go-cache Add
func (b *Bot) foundGoCacheAdd(ctx context.Context, ev Event) error {
	if err := b.cache.Add("ev:"+ev.ID, true, time.Hour); err != nil { // want memdedupe
		return nil // there already
	}
	return b.send(ctx, ev)
}

// go-cache Get/Set
func (b *Bot) foundGoCache(ctx context.Context, ev Event) error {
	if _, found := b.cache.Get(ev.ID); found { // want memdedupe
		return nil
	}
	if err := b.send(ctx, ev); err != nil {
		return err
	}
	b.cache.Set(ev.ID, struct{}{}, cache_ttl)
	return nil
}

const cache_ttl = time.Hour

// in-memory idempotency store of responses
type IdempotencyStore struct {
	mu        sync.Mutex
	responses map[string][]byte
}

func (s *IdempotencyStore) Lookup(key string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.responses[key] // want memdedupe
	return r, ok
}

func (s *IdempotencyStore) Save(key string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.responses[key] = body
}

// handler with global idempotency map
var idempotencyKeys = make(map[string]string)
var idemMu sync.Mutex

type charger interface {
	Charge(ctx context.Context, amount int64) (string, error)
}

func foundPay(ch charger) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		idemMu.Lock()
		if id, ok := idempotencyKeys[key]; ok { // want memdedupe
			idemMu.Unlock()
			w.Write([]byte(id))
			return
		}
		idemMu.Unlock()
		id, err := ch.Charge(r.Context(), 100)
		if err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		idemMu.Lock()
		idempotencyKeys[key] = id
		idemMu.Unlock()
		w.Write([]byte(id))
	}
}

// generic set type
type Set[T comparable] struct{ m map[T]struct{} }

func (s *Set[T]) Has(v T) bool { _, ok := s.m[v]; return ok }
func (s *Set[T]) Add(v T)      { s.m[v] = struct{}{} }

type Worker struct {
	done *Set[string]
	bot  *Bot
}

func (w *Worker) foundSet(ctx context.Context, ev Event) error {
	if w.done.Has(ev.ID) { // want memdedupe
		return nil
	}
	w.done.Add(ev.ID)
	return w.bot.send(ctx, ev)
}

// sync.Map with Load and Store
var processedEvents sync.Map

func foundSyncMap(ctx context.Context, b *Bot, ev Event) error {
	if _, ok := processedEvents.Load(ev.ID); ok { // want memdedupe
		log.Println("dup")
		return nil
	}
	processedEvents.Store(ev.ID, time.Now())
	return b.send(ctx, ev)
}

// closure handler registered
func foundRegister(mux *http.ServeMux, b *Bot) {
	seen := map[string]bool{}
	mux.HandleFunc("/hook", func(w http.ResponseWriter, r *http.Request) {
		var ev Event
		if err := json.NewDecoder(r.Body).Decode(&ev); err != nil {
			return
		}
		if seen[ev.ID] { // want memdedupe
			w.WriteHeader(200)
			return
		}
		seen[ev.ID] = true
		if err := b.send(r.Context(), ev); err != nil {
			w.WriteHeader(500)
		}
	})
}

// What follows stays silent.

func (b *Bot) silentLocal(ctx context.Context, evs []Event) {
	seen := map[string]bool{}
	for _, ev := range evs {
		if seen[ev.ID] {
			continue
		}
		seen[ev.ID] = true
		b.send(ctx, ev)
	}
}

// retry loop around one batch: the set is of the batch
func (b *Bot) silentLocalRetry(ctx context.Context, evs []Event) error {
	sent := map[string]bool{}
	for attempt := 0; attempt < 3; attempt++ {
		failed := false
		for _, ev := range evs {
			if sent[ev.ID] {
				continue
			}
			if err := b.send(ctx, ev); err != nil {
				failed = true
				continue
			}
			sent[ev.ID] = true
		}
		if !failed {
			return nil
		}
	}
	return nil
}

// paging until the end
func (b *Bot) silentPaging(ctx context.Context) error {
	seen := map[string]bool{}
	for {
		evs, err := b.src.Fetch(ctx)
		if err != nil {
			return err
		}
		if len(evs) == 0 {
			return nil
		}
		for _, ev := range evs {
			if seen[ev.ID] {
				continue
			}
			seen[ev.ID] = true
			if err := b.send(ctx, ev); err != nil {
				return err
			}
		}
	}
}

// topics created once per process: setting up
type topicAdmin interface {
	CreateTopic(ctx context.Context, name string) error
}

type topics struct {
	mu      sync.Mutex
	created map[string]bool
	admin   topicAdmin
}

func (t *topics) silentEnsure(ctx context.Context, name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.created[name] {
		return nil
	}
	if err := t.admin.CreateTopic(ctx, name); err != nil {
		return err
	}
	t.created[name] = true
	return nil
}

// connected clients
type hub struct {
	mu      sync.Mutex
	clients map[string]bool
	out     *kafka.Writer
}

func (h *hub) silentJoin(ctx context.Context, id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clients[id] {
		return nil
	}
	h.clients[id] = true
	return h.out.WriteMessages(ctx, kafka.Message{Value: []byte("joined")})
}

func (h *hub) Leave(id string) { h.mu.Lock(); delete(h.clients, id); h.mu.Unlock() }

// feature flags
type flags struct{ on map[string]bool }

func (f *flags) silentFlag(ctx context.Context, b *Bot, ev Event) error {
	if f.on["mute"] {
		return nil
	}
	f.on["x"] = true
	return b.send(ctx, ev)
}

// metrics registered
var registered = map[string]bool{}

func silentRegister(name string) {
	if registered[name] {
		return
	}
	registered[name] = true
	http.HandleFunc(name, nil)
}

// warnings logged once
var warnedOnce sync.Map

func (b *Bot) silentWarn(ctx context.Context, ev Event) error {
	if _, ok := warnedOnce.LoadOrStore(ev.To, true); !ok {
		log.Print("deprecated")
	}
	return b.send(ctx, ev)
}

// token cache
func (b *Bot) silentToken(ctx context.Context, ch charger, id string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if v, ok := b.status[id]; ok {
		return v, nil
	}
	v, err := ch.Charge(ctx, 1)
	if err != nil {
		return "", err
	}
	b.status[id] = v
	return v, nil
}

// cooldown of users
type limits struct{ cooldown map[int64]time.Time }

func (l *limits) silentCooldown(b *Bot, u tgbotapi.Update) {
	if time.Since(l.cooldown[u.Message.Chat.ID]) < time.Second {
		return
	}
	l.cooldown[u.Message.Chat.ID] = time.Now()
	b.api.Send(tgbotapi.NewMessage(u.Message.Chat.ID, "hi"))
}

// in flight with release in a deferred closure
func (b *Bot) silentInFlight(ctx context.Context, ev Event) error {
	b.mu.Lock()
	if _, ok := b.seen[ev.ID]; ok {
		b.mu.Unlock()
		return nil
	}
	b.seen[ev.ID] = struct{}{}
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		delete(b.seen, ev.ID)
		b.mu.Unlock()
	}()
	return b.send(ctx, ev)
}

// first in memory, then database claim
type claims interface {
	Claim(ctx context.Context, id string) (bool, error)
}

func (b *Bot) silentBacked(ctx context.Context, db claims, ev Event) error {
	if _, ok := b.seen[ev.ID]; ok {
		return nil
	}
	mine, err := db.Claim(ctx, ev.ID)
	if err != nil || !mine {
		return err
	}
	b.seen[ev.ID] = struct{}{}
	return b.send(ctx, ev)
}

// last known state, sends on change
func (b *Bot) silentOnChange(ctx context.Context, ev Event) error {
	up := ev.Text == "up"
	if b.state.done[ev.To] == up {
		return nil
	}
	b.state.done[ev.To] = up
	return b.send(ctx, ev)
}

// graph walk
func (b *Bot) silentWalk(ctx context.Context, id string, visited map[string]bool) {
	if visited[id] {
		return
	}
	visited[id] = true
	b.send(ctx, Event{ID: id})
	b.silentWalk(ctx, id+"x", visited)
}

type pipeline struct {
	mu              sync.Mutex
	processedEvents map[string]time.Time
}

func (p *pipeline) processEvent(ev Event) { log.Print(ev.ID) }

// work that is not seen, in a goroutine
func (p *pipeline) foundWork(ev Event) {
	p.mu.Lock()
	if _, dup := p.processedEvents[ev.ID]; dup { // want memdedupe
		p.mu.Unlock()
		return
	}
	p.processedEvents[ev.ID] = time.Now()
	p.mu.Unlock()
	go p.processEvent(ev)
}

// an idempotency middleware that keeps answers in memory
func foundKeyMiddleware(next http.Handler) http.Handler {
	var idempotent sync.Map
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if _, loaded := idempotent.LoadOrStore(key, true); loaded { // want memdedupe
			w.WriteHeader(http.StatusConflict)
			return
		}
		next.ServeHTTP(w, r)
	})
}
