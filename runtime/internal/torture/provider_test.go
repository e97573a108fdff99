package torture

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// place is where the provider counts: one effect of one piece of work.
type place struct {
	kind, subject string
	guard         idem.Guard
}

// application is one time that the provider has done something.
type application struct {
	ref  string
	key  string
	made time.Time
}

// provider is the world outside. It counts what it has done, and fails now and
// then, before it did it or after.
type provider struct {
	log *logbook
	// remembers is how long it knows a key again.
	remembers time.Duration
	trouble   bool

	mu      sync.Mutex
	dice    *rand.Rand
	numbers int
	applied map[place][]application
	prices  map[place]int64 // that all calls have to name
	wrong   []string        // what no provider should ever see
}

func newProvider(log *logbook, dice *rand.Rand, remembers time.Duration, trouble bool) *provider {
	return &provider{
		log: log, dice: dice, remembers: remembers, trouble: trouble,
		applied: make(map[place][]application), prices: make(map[place]int64),
	}
}

// lot is how one call goes: how long it takes before and after it is applied, and
// what goes wrong.
type lot struct {
	before, after time.Duration
	fate          fate
}

type fate int

const (
	fateAnswered fate = iota
	fateBusy          // refused for now
	fateCut           // cut off before it was applied
	fateUnheard       // cut off after it was applied
)

func (p *provider) draw() lot {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := lot{before: time.Duration(p.dice.IntN(3000)) * time.Microsecond, after: time.Duration(p.dice.IntN(3000)) * time.Microsecond}
	if p.trouble {
		switch p.dice.IntN(50) {
		case 0:
			l.fate = fateBusy
		case 1:
			l.fate = fateCut
		case 2:
			l.fate = fateUnheard
		}
	}
	return l
}

// serve answers one request. Without ok the connection is to be closed instead.
func (p *provider) serve(r request) (got response, ok bool) {
	l := p.draw()
	time.Sleep(l.before)
	switch l.fate {
	case fateBusy:
		return response{Busy: true}, true
	case fateCut:
		return response{}, false
	}
	if r.Op == opFind {
		got = p.find(r)
	} else {
		got = p.apply(r)
	}
	time.Sleep(l.after)
	return got, l.fate != fateUnheard
}

func (p *provider) apply(r request) response {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.numbers++
	if r.Guard == idem.GuardRead {
		// Another answer each time: only what is recorded stays the same.
		p.log.printf("provider: %s %s reads %d", r.Kind, r.Subject, p.numbers)
		return response{Answer: answer{Price: int64(p.numbers)}}
	}
	at := place{r.Kind, r.Subject, r.Guard}
	p.look(at, r)
	now := time.Now()
	if known, ok := p.known(at, r.Key, now); ok {
		p.log.printf("provider: %s %s %s again, attempt %d of victim %d", r.Kind, r.Subject, r.Guard, r.Attempt, r.Victim)
		return response{Answer: answer{Ref: known}}
	}
	ref := fmt.Sprintf("ref-%d", p.numbers)
	p.applied[at] = append(p.applied[at], application{ref, r.Key, now})
	p.log.printf("provider: %s %s %s applied as %s, attempt %d of victim %d", r.Kind, r.Subject, r.Guard, ref, r.Attempt, r.Victim)
	return response{Answer: answer{Ref: ref}}
}

// look holds that all calls of one effect are one intent.
func (p *provider) look(at place, r request) {
	if price, ok := p.prices[at]; ok && price != r.Price {
		p.wrong = append(p.wrong, fmt.Sprintf("%s %s: %s is called with the price %d and with %d: the answer of the read did not stand", at.kind, at.subject, at.guard, price, r.Price))
	}
	p.prices[at] = r.Price
	if made := p.applied[at]; len(made) > 0 && made[0].key != r.Key {
		p.wrong = append(p.wrong, fmt.Sprintf("%s %s: %s is called under the keys %s and %s", at.kind, at.subject, at.guard, made[0].key, r.Key))
	}
}

// known is what the provider itself makes sure is not done twice.
func (p *provider) known(at place, key string, now time.Time) (ref string, ok bool) {
	for _, a := range p.applied[at] {
		switch {
		case a.key != key:
		case at.guard == idem.GuardUpsert:
			return a.ref, true
		case at.guard == idem.GuardIdempotencyKey && now.Sub(a.made) < p.remembers:
			return a.ref, true
		}
	}
	return "", false
}

// find lags behind.
func (p *provider) find(r request) response {
	const lag = visibleAfter / 3
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.applied[place{r.Kind, r.Subject, idem.GuardFindFirst}] {
		if a.key == r.Key && time.Since(a.made) >= lag {
			p.log.printf("provider: %s %s found as %s, attempt %d of victim %d", r.Kind, r.Subject, a.ref, r.Attempt, r.Victim)
			return response{Found: true, Answer: answer{Ref: a.ref}}
		}
	}
	p.log.printf("provider: %s %s not found, attempt %d of victim %d", r.Kind, r.Subject, r.Attempt, r.Victim)
	return response{}
}

// count is how often an effect was made.
func (p *provider) count(at place) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.applied[at])
}

// calls is how many calls have reached the provider, looks aside.
func (p *provider) calls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.numbers
}

// ref is what the provider calls what it has done first.
func (p *provider) ref(at place) (ref string, applied bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if made := p.applied[at]; len(made) > 0 {
		return made[0].ref, true
	}
	return "", false
}
