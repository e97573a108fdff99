package sqlite_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/sqlite"
)

func TestEveryAttemptIsRecordedWithItsOutcome(t *testing.T) {
	path := newLedger(t)
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	s := openStore(t, path, sqlite.WithClock(func() time.Time { return now }))
	db := openApp(t, uri(path))
	attempts := func() string {
		return scalar[string](t, db, `SELECT coalesce(group_concat(attempt || ' ' || coalesce(outcome, 'runs') || ' ' || error_class || ' ' || error || ' ' || release, '; '), '')
			FROM (SELECT * FROM attempt_log ORDER BY work_id, attempt)`)
	}
	want := func(want string) {
		t.Helper()
		if got := attempts(); got != want {
			t.Errorf("attempts:\n got %s\nwant %s", got, want)
		}
	}
	claim := func(token byte) idem.Fence {
		t.Helper()
		c := claimOf("a", token)
		c.Budget, c.Release = 3, "r"
		c.Release += string('0' + rune(token))
		mustWin(t, s, c)
		return c.Fence
	}
	end := func(e idem.End) {
		t.Helper()
		if _, err := s.End(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	claim(1)
	want("1 runs   r1")
	now = now.Add(time.Minute)
	f := claim(2)
	want("1 abandoned   r1; 2 runs   r2")
	end(idem.End{Fence: f, State: idem.StateFailed, Refund: true})
	want("1 abandoned   r1; 2 released   r2")
	end(idem.End{Fence: claim(3), State: idem.StateFailed, Class: idem.ClassTransient, Error: "no route"})
	want("1 abandoned   r1; 2 released   r2; 3 failed transient no route r3")
	end(doneOf(claim(4)))
	want("1 abandoned   r1; 2 released   r2; 3 failed transient no route r3; 4 done   r4")
}

func TestTheLastAttemptOfDeadWorkIsClosed(t *testing.T) {
	path := newLedger(t)
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	s := openStore(t, path, sqlite.WithClock(func() time.Time { return now }))
	c := claimOf("a", 1)
	c.Budget = 1
	mustWin(t, s, c)
	now = now.Add(time.Minute)
	if claimed, err := s.Claim(t.Context(), claimOf("a", 2)); err != nil || claimed.Won {
		t.Fatalf("claim: won %t, %v", claimed.Won, err)
	}
	db := openApp(t, uri(path))
	if got := scalar[string](t, db, `SELECT outcome || ' ' || (ended_at - started_at) FROM attempt_log`); got != "abandoned 60000000" {
		t.Errorf("attempt: %s", got)
	}
	if got := scalar[string](t, db, `SELECT last_error FROM work_log`); !strings.Contains(got, "lease of attempt 1 ended") {
		t.Errorf("error: %s", got)
	}
}

func TestForgottenWorkTakesItsAttemptsAndEffectsAlong(t *testing.T) {
	path := newLedger(t)
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	s := openStore(t, path, sqlite.WithClock(func() time.Time { return now }))
	for token := byte(1); token <= 3; token++ { // two takeovers
		c := claimOf("a", token)
		mustWin(t, s, c)
		if _, err := s.WriteEffect(t.Context(), effectOf(c.Fence, idem.EffectStarted)); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Minute)
	}
	if _, err := s.End(t.Context(), doneOf(claimOf("a", 3).Fence)); err != nil {
		t.Fatal(err)
	}
	neighbour := claimOf("b", 1)
	mustWin(t, s, neighbour)
	if _, err := s.WriteEffect(t.Context(), effectOf(neighbour.Fence, idem.EffectStarted)); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	mustWin(t, s, claimOf("a", 4))
	db := openApp(t, uri(path))
	if got := scalar[string](t, db, `SELECT (SELECT count(*) FROM attempt_log) || ' ' || (SELECT count(*) FROM effect_log)`); got != "2 1" {
		t.Errorf("%s attempts and effects are left, want 2 1: one new attempt, and the neighbour's", got)
	}
}

func TestOperatorReadsTheViewWithPlainSQL(t *testing.T) {
	path := newLedger(t)
	now := time.Date(2031, 1, 2, 3, 4, 5, 6000, time.UTC)
	s := openStore(t, path, sqlite.WithClock(func() time.Time { return now }))
	c := claimOf("a", 1)
	mustWin(t, s, c)
	e := doneOf(c.Fence)
	e.Result = idem.Body{Codec: idem.CodecJSON, Data: []byte(`{"id":"x"}`)}
	if _, err := s.End(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	got := scalar[string](t, openApp(t, uri(path)), `SELECT json_object('work', work_id, 'state', state, 'payload', payload, 'result', result, 'id', result ->> 'id', 'created', created_at, 'expires', expires_at, 'locked', locked_until) FROM work_view`)
	want, err := json.Marshal(map[string]any{
		"work": c.ID.String(), "state": "done", "payload": `{"n":1}`, "result": `{"id":"x"}`, "id": "x",
		"created": "2031-01-02T03:04:05.000006Z", "expires": "2031-01-02T04:04:05.000006Z", "locked": nil,
	})
	if err != nil {
		t.Fatal(err)
	}
	if !sameJSON(t, got, string(want)) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var texts [2]string
	for i, s := range []string{a, b} {
		var v map[string]any
		if err := json.Unmarshal([]byte(s), &v); err != nil {
			t.Fatal(err)
		}
		sorted, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(sorted)
	}
	return texts[0] == texts[1]
}
