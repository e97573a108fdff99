// This program derives the work IDs of pairs of random inputs by generated code
// and looks for pairs that should share one and do not, or the other way round.
// What is the same work it decides by comparing values and never texts: nothing
// here joins, quotes or escapes.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// shape is one contract's derivation.
type shape struct {
	name string
	pair func(r *rand.Rand) outcome
}

func shapes() []shape {
	key, err := idem.NewKey([]byte("any 32 bytes that are not equal."))
	if err != nil {
		fatal("%v", err)
	}
	return []shape{
		of("order", orderID),
		of("lookup", func(l Lookup) (idem.WorkID, error) { return lookupID(Order(l)) }),
		of("form", formID),
		of("page", pageID),
		of("person", func(p Person) (idem.WorkID, error) { return personID(key, p) }),
		of("document", documentID),
	}
}

func main() {
	pairs, seed := setting("IDEM_PAIRS", 30_000), setting("IDEM_SEED", 1)
	start := time.Now()
	all := shapes()
	tallies := make([]tally, len(all))
	var workers sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	for w := range n {
		workers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(seed), uint64(w)))
			for i := w; i < pairs; i += n {
				s := i / n % len(all)
				tallies[s].add(all[s].pair(r))
			}
		})
	}
	workers.Wait()
	fmt.Printf("%d pairs, seed %d, %d at a time, %s\n", pairs, seed, n, time.Since(start).Round(time.Second))
	for i, s := range all {
		fmt.Printf("%-9s %s\n", s.name, tallies[i].check(pairs))
	}
}

func setting(name string, otherwise int) int {
	text, ok := os.LookupEnv(name)
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		fatal("%s: %v", name, err)
	}
	return n
}

func fatal(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

// outcome is what a pair turned out to be.
type outcome int

const (
	sameWork    outcome = iota // written otherwise, and one key
	equalWork                  // changed or independent, and equal all the same
	otherWork                  // two keys
	nothingInIt                // one is an empty identity, and refused
	outcomes
)

type tally struct {
	mu    sync.Mutex
	count [outcomes]int
}

func (t *tally) add(o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count[o]++
}

// check tells the figures, and refuses those of a program that tries nothing.
func (t *tally) check(pairs int) string {
	c := t.count
	if pairs >= 30_000 && (c[sameWork] == 0 || c[equalWork] == 0 || c[otherWork] == 0) {
		fatal("%v: the program tries nothing", c)
	}
	return fmt.Sprintf("%8d the same written otherwise, %8d equal by chance, %8d different, %7d empty", c[sameWork], c[equalWork], c[otherWork], c[nothingInIt])
}

// of makes pairs for one derivation.
func of[T any](name string, derive func(T) (idem.WorkID, error)) shape {
	return shape{name, func(r *rand.Rand) outcome {
		seed := r.Uint64()
		a, b := random[T](seed), random[T](seed) // equal, and sharing nothing
		made := r.IntN(4)
		switch made {
		case 0, 1:
			vary(r, reflect.ValueOf(&b).Elem(), "")
		case 2:
			vary(r, reflect.ValueOf(&b).Elem(), "")
			change(r, reflect.ValueOf(&b).Elem())
		case 3:
			b = random[T](r.Uint64())
		}
		same := reflect.DeepEqual(plain(reflect.ValueOf(a), ""), plain(reflect.ValueOf(b), ""))
		idA, errA := derive(a)
		idB, errB := derive(b)
		switch {
		case made < 2 && !same:
			fatal("%s: the program wrote other work, not the same otherwise:\n%#v\n%#v", name, a, b)
		case same && (errA == nil) != (errB == nil):
			fatal("%s: of the same work one is refused:\n%#v: %v\n%#v: %v", name, a, errA, b, errB)
		case errA != nil || errB != nil:
			return nothingInIt
		case same != (idA == idB):
			fatal("%s: the same work: %v; the same key: %v\n%#v\n%#v", name, same, idA == idB, a, b)
		case made < 2:
			return sameWork
		case same:
			return equalWork
		}
		return otherWork
	}}
}

func random[T any](seed uint64) T {
	var v T
	fill(rand.New(rand.NewPCG(seed, 0)), reflect.ValueOf(&v).Elem(), "", 0)
	return v
}
