package torture

import (
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"net"
	"reflect"
	"sync"
	"time"
)

// parcel is one piece of work that the source has to get done.
type parcel struct{ kind, subject string }

// delivery is due at a time.
type delivery struct {
	parcel
	due time.Time
}

type deliveries []delivery

func (d deliveries) Len() int           { return len(d) }
func (d deliveries) Less(i, j int) bool { return d[i].due.Before(d[j].due) }
func (d deliveries) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *deliveries) Push(x any)        { *d = append(*d, x.(delivery)) }
func (d *deliveries) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	*d = (*d)[:last]
	return x
}

// settlement is how work has ended, as a victim was told.
type settlement struct {
	outcome outcome
	result  *receipt
}

// source delivers at least once: what was not settled when the connection broke
// over which it had been delivered is delivered again, and much of it is
// delivered twice to begin with.
type source struct {
	log  *logbook
	most int // pieces of work that may be unsettled at once

	mu        sync.Mutex
	dice      *rand.Rand
	waiting   deliveries
	delivered map[parcel]bool
	settled   map[parcel]settlement
	began     map[int]beginning
	closed    bool
	sums      struct{ deliveries, again int }
	wrong     []string
}

func newSource(log *logbook, dice *rand.Rand, most int) *source {
	return &source{
		log: log, most: most, dice: dice,
		delivered: make(map[parcel]bool), settled: make(map[parcel]settlement), began: make(map[int]beginning),
	}
}

// beginning is when a victim is under way: its first delivery is handed out, and
// its first call reaches the provider.
type beginning struct{ delivered, called chan struct{} }

// begins watches a victim that is about to be started.
func (s *source) begins(victim int) beginning {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := beginning{make(chan struct{}), make(chan struct{})}
	s.began[victim] = b
	return b
}

// calls notes that a victim calls the provider.
func (s *source) calls(victim int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.began[victim]; ok && !isClosed(b.called) {
		close(b.called)
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// next takes what is due longest, or something new.
func (s *source) next(victim int) (parcel, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.began[victim]; ok && !isClosed(b.delivered) {
		close(b.delivered)
	}
	now := time.Now()
	for len(s.waiting) > 0 && !s.waiting[0].due.After(now) {
		d := heap.Pop(&s.waiting).(delivery)
		if _, ok := s.settled[d.parcel]; ok && s.dice.IntN(4) > 0 {
			continue // most duplicates of what is over are of no interest
		}
		s.sums.again++
		return s.hand(victim, d.parcel), true
	}
	if s.closed || len(s.delivered)-len(s.settled) >= s.most {
		return parcel{}, false
	}
	p := parcel{s.kind(), fmt.Sprint(len(s.delivered) + 1)}
	if p.kind == "newest" {
		return s.hand(victim, s.revise(p)), true
	}
	s.delivered[p] = true
	if p.kind == "greet" {
		other := parcel{p.kind, p.subject + twin}
		s.delivered[other] = true
		s.wait(other, s.dice.IntN(20))
	}
	if s.dice.IntN(3) == 0 {
		s.wait(p, s.dice.IntN(100))
	}
	return s.hand(victim, p), true
}

// revise has all revisions of a thing delivered, in any order, of which the first is
// returned.
func (s *source) revise(thing parcel) (first parcel) {
	for i, by := range s.dice.Perm(revisions) {
		p := parcel{thing.kind, fmt.Sprintf("%s/%d", thing.subject, by+1)}
		s.delivered[p] = true
		if i == 0 {
			first = p
		} else {
			s.wait(p, s.dice.IntN(20))
		}
	}
	return first
}

func (s *source) hand(victim int, p parcel) parcel {
	s.sums.deliveries++
	s.log.printf("source: %s %s to victim %d", p.kind, p.subject, victim)
	return p
}

func (s *source) kind() string {
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	n := s.dice.IntN(total)
	for _, k := range kinds {
		if n -= k.weight; n < 0 {
			return k.name
		}
	}
	panic("the weights do not add up")
}

func (s *source) wait(p parcel, milliseconds int) {
	heap.Push(&s.waiting, delivery{p, time.Now().Add(time.Duration(milliseconds) * time.Millisecond)})
}

// settle hears what became of a delivery.
func (s *source) settle(r request, p parcel) {
	s.log.printf("source: %s %s is %s at victim %d %s", p.kind, p.subject, r.Outcome, r.Victim, r.Error)
	if r.Outcome.final() {
		s.conclude(p, settlement{r.Outcome, r.Result})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Outcome {
	case outcomeRunning:
		// Until its lease is over, more or less.
		s.wait(p, s.dice.IntN(int(lease.Milliseconds())))
	default:
		s.wait(p, 20+s.dice.IntN(100))
	}
}

// conclude holds that all answers about work that is over are one.
func (s *source) conclude(p parcel, now settlement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, ok := s.settled[p]
	if ok && !reflect.DeepEqual(before, now) {
		s.wrong = append(s.wrong, fmt.Sprintf("%s %s was %s %+v, and is now %s %+v", p.kind, p.subject, before.outcome, before.result, now.outcome, now.result))
	}
	s.settled[p] = now
}

// lost puts back what a victim had when its connection broke.
func (s *source) lost(p parcel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wait(p, s.dice.IntN(int(lease.Milliseconds())*5/4))
}

// close lets nothing new come in.
func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// desk is where victims reach the source and the provider.
type desk struct {
	listener net.Listener
	source   *source
	provider *provider
	serving  sync.WaitGroup
}

func openDesk(socket string, s *source, p *provider) (*desk, error) {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	d := &desk{listener: listener, source: s, provider: p}
	d.serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			d.serving.Go(func() { d.serve(conn) })
		}
	})
	return d, nil
}

// close waits for who is still connected: victims that are dead.
func (d *desk) close() error {
	err := d.listener.Close()
	d.serving.Wait()
	return err
}

// serve speaks with one connection of a victim until that ends.
func (d *desk) serve(conn net.Conn) {
	defer conn.Close()
	dec, enc := json.NewDecoder(conn), json.NewEncoder(conn)
	var has parcel // delivered over this connection and not settled
	defer func() {
		if has != (parcel{}) {
			d.source.lost(has)
		}
	}()
	for {
		var r request
		if err := dec.Decode(&r); err != nil {
			if !errors.Is(err, io.EOF) {
				d.source.log.printf("desk: %v", err)
			}
			return
		}
		var got response
		switch r.Op {
		case opNext:
			if p, ok := d.source.next(r.Victim); ok {
				has = p
				got.Kind, got.Subject = p.kind, p.subject
			}
		case opSettle:
			d.source.settle(r, has)
			has = parcel{}
		default:
			d.source.calls(r.Victim)
			var ok bool
			if got, ok = d.provider.serve(r); !ok {
				return
			}
		}
		if enc.Encode(got) != nil {
			return // it is dead
		}
	}
}

// all are the pieces of work that were delivered.
func (s *source) all() iter.Seq[parcel] { return maps.Keys(s.delivered) }
