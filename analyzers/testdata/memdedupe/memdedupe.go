// Package inbox remembers what it has done.
package inbox

import (
	"sync"
	"time"

	"example.com/shop/marks"
)

type mailer interface{ Send(to string) error }

type event struct{ ID, To string }

var delivered = map[string]bool{}

type service struct {
	mu     sync.Mutex
	sent   map[string]struct{}
	last   map[string]time.Time
	syncs  sync.Map
	tokens map[string]string
	busy   map[string]bool
	tried  map[string]struct{}
	mail   mailer
	marks  *marks.Memory
	kept   *marks.File
}

func (s *service) set(e event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.sent[e.ID]; ok { // want `a restart or a second instance forgets what was done, and does it again: s.sent → mailer.Send \(keep the marks in the database, claimed before the effect\)`
		return nil
	}
	s.sent[e.ID] = struct{}{}
	return s.mail.Send(e.To)
}

func (s *service) global(e event) error {
	if !delivered[e.ID] { // want `does it again: delivered → mailer.Send`
		if err := s.mail.Send(e.To); err != nil {
			return err
		}
		delivered[e.ID] = true
	}
	return nil
}

func (s *service) globalGuard(e event) error {
	if delivered[e.ID] { // want `forgets what was done, and does it again: delivered → mailer.Send`
		return nil
	}
	if err := s.mail.Send(e.To); err != nil {
		return err
	}
	delivered[e.ID] = true
	return nil
}

func (s *service) since(e event, now time.Time) error {
	last := s.last[e.ID] // want `does it again: s.last → mailer.Send`
	if now.Sub(last) < time.Hour {
		return nil
	}
	s.last[e.ID] = now
	return s.mail.Send(e.To)
}

func (s *service) syncMap(e event) error {
	if _, loaded := s.syncs.LoadOrStore(e.ID, true); loaded { // want `s.syncs.LoadOrStore|syncs.LoadOrStore → mailer.Send`
		return nil
	}
	return s.mail.Send(e.To)
}

func (s *service) elsewhere(e event) error {
	if s.marks.Reserve(e.ID) { // want `does it again: marks.Reserve → mailer.Send`
		return nil
	}
	return s.mail.Send(e.To)
}

// What follows stays silent.

func (s *service) local(all []event) error {
	seen := map[string]bool{}
	for _, e := range all {
		if seen[e.ID] {
			continue
		}
		seen[e.ID] = true
		if err := s.mail.Send(e.To); err != nil {
			return err
		}
	}
	return nil
}

func (s *service) values(id string) (string, error) {
	if t, ok := s.tokens[id]; ok {
		return t, nil
	}
	err := s.mail.Send(id)
	s.tokens[id] = "token" + id
	return s.tokens[id], err
}

func (s *service) takenBack(e event) error {
	if _, ok := s.tried[e.ID]; ok {
		return nil
	}
	s.tried[e.ID] = struct{}{}
	if err := s.mail.Send(e.To); err != nil {
		delete(s.tried, e.ID)
		return err
	}
	return nil
}

func (s *service) inFlight(e event) error {
	if s.busy[e.ID] {
		return nil
	}
	s.busy[e.ID] = true
	defer delete(s.busy, e.ID)
	return s.mail.Send(e.To)
}

func (s *service) noEffect(e event) bool {
	if _, ok := s.sent[e.ID]; ok {
		return false
	}
	s.sent[e.ID] = struct{}{}
	return true
}

func (s *service) inFile(e event) error {
	if s.kept.Reserve(e.ID) {
		return nil
	}
	return s.mail.Send(e.To)
}

func (s *service) neverMarked(e event) error {
	if _, ok := s.sent[e.ID]; ok {
		return nil
	}
	return s.mail.Send(e.To)
}
