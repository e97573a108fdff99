// Package scenario is what the scenarios of folder good have at hand: a ledger in
// an SQLite file, a clock that they move, and a place to say what happened.
package scenario

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

// World is what one scenario acts in.
type World struct {
	// Ledger is new and empty when the scenario begins.
	Ledger *idem.Ledger[*sql.Tx]
	// DB is a handle to the ledger's file, as the application would have one.
	DB *sql.DB

	path   string
	opened []*idem.Ledger[*sql.Tx]

	began  time.Time
	mu     sync.Mutex
	offset time.Duration
	out    bytes.Buffer
}

// Say writes one line of the scenario's output.
func (w *World) Say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(&w.out, format+"\n", args...)
}

// Check stops the scenario if err is not nil.
func (w *World) Check(err error) {
	if err != nil {
		panic(err)
	}
}

// Pass lets time pass for the ledger.
func (w *World) Pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.offset += d
}

// now is the time of the world, which stands still unless the scenario lets it pass.
func (w *World) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.began.Add(w.offset)
}

// Due lets time pass until the work that err is about may be tried again.
func (w *World) Due(err error) {
	var e *idem.Error
	if !errors.As(err, &e) || e.RetryAt.IsZero() {
		panic(fmt.Errorf("nothing to wait for: %w", err))
	}
	if d := e.RetryAt.Sub(w.now()); d > 0 {
		w.Pass(d + time.Millisecond)
	}
}

// Open opens the ledger once more, as another process would, and makes it
// the world's.
func (w *World) Open(opts ...idem.Option) *idem.Ledger[*sql.Tx] {
	store, err := sqlite.Open(context.Background(), w.path, sqlite.WithClock(w.now), sqlite.WithSynchronous(sqlite.Normal))
	w.Check(err)
	w.Ledger = idem.NewLedger(store, opts...)
	w.opened = append(w.opened, w.Ledger)
	return w.Ledger
}

// Rows says what a query gives, one line for each row.
func (w *World) Rows(query string, args ...any) {
	rows, err := w.DB.Query(query, args...)
	w.Check(err)
	defer rows.Close()
	columns, err := rows.Columns()
	w.Check(err)
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(sql.NullString)
		}
		w.Check(rows.Scan(values...))
		var texts []string
		for _, v := range values {
			text := "null"
			if s := v.(*sql.NullString); s.Valid {
				text = s.String
			}
			texts = append(texts, text)
		}
		w.Say("%s", strings.Join(texts, " | "))
	}
	w.Check(rows.Err())
}

// Do calls the contract and says what it gives.
func Do[In, Out any](w *World, c idem.Contract[In, Out], in In) error {
	result, err := c.Do(context.Background(), in)
	w.Answer(result.Value, result.Replayed, result.State, err)
	return err
}

// Answer says what a contract gave.
func (w *World) Answer(value any, replayed bool, state idem.State, err error) {
	switch {
	case err != nil:
		w.Say("error: %s", Text(err))
	case replayed:
		w.Say("replayed (%s): %+v", state, value)
	default:
		w.Say("%s: %+v", state, value)
	}
}

var (
	shortID = regexp.MustCompile(` [0-9a-f]{12}: `)
	someday = regexp.MustCompile(`(, next|, its lease ends) at [0-9TZ:.-]+\)`)
)

// Text is an error's text without what differs from run to run.
func Text(err error) string {
	return someday.ReplaceAllString(shortID.ReplaceAllString(err.Error(), ": "), "$1 LATER)")
}

// Works says which of the inputs are the same work: work A, work B and so on.
func Works[In, Out any](w *World, c idem.Contract[In, Out], inputs ...In) {
	var ids []idem.WorkID
	for i, in := range inputs {
		id, err := c.ID(in)
		if err != nil {
			w.Say("input %d: %s", i+1, Text(err))
			continue
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		w.Say("input %d: work %c", i+1, 'A'+slices.Index(ids, id))
	}
}

// Preimage says whether the input's work ID is the hash of that text.
func Preimage[In, Out any](w *World, c idem.Contract[In, Out], in In, text string) {
	id, err := c.ID(in)
	switch {
	case err != nil:
		w.Say("%s", Text(err))
	case id.String() == fmt.Sprintf("%x", sha256.Sum256([]byte(text))):
		w.Say("key of %s", text)
	default:
		w.Say("NOT the key of %s", text)
	}
}

// report is what a scenario came to.
type report struct {
	Output string
	Failed string // with a stack, if it did not come to its end
}

// Main runs scenarios by name and writes their reports as JSON.
func Main(scenarios map[string]func(*World)) {
	reports := map[string]report{}
	var mu sync.Mutex
	var all sync.WaitGroup
	places := make(chan bool, 8) // too many files at once are slow to close
	for name, run := range scenarios {
		all.Go(func() {
			places <- true
			r := play(run)
			<-places
			mu.Lock()
			defer mu.Unlock()
			reports[name] = r
		})
	}
	all.Wait()
	if err := json.NewEncoder(os.Stdout).Encode(reports); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play(run func(*World)) (r report) {
	dir, err := os.MkdirTemp("", "scenario")
	if err != nil {
		return report{Failed: err.Error()}
	}
	defer os.RemoveAll(dir)
	w := &World{path: filepath.Join(dir, "ledger.db"), began: time.Now()}
	defer func() {
		if e := recover(); e != nil {
			r = report{w.out.String(), fmt.Sprintf("%v\n%s", e, debug.Stack())}
		}
	}()
	ctx := context.Background()
	w.Check(sqlite.Migrate(ctx, w.path))
	w.DB, err = sql.Open("sqlite", w.path+"?_pragma=busy_timeout(5000)&_txlock=immediate")
	w.Check(err)
	defer w.DB.Close()
	w.Open()
	run(w)
	for _, ledger := range w.opened {
		w.Check(ledger.Close(ctx))
	}
	return report{Output: w.out.String()}
}
