package idem_test

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	idem "github.com/idemgen/idem/runtime"
)

type sqlState string

func (s sqlState) Error() string    { return "sql: " + string(s) }
func (s sqlState) SQLState() string { return string(s) }

func TestClassesOfErrors(t *testing.T) {
	errLimited := errors.New("rate limited")
	permanent := []idem.ErrorMatch{idem.MatchValue("errAddress", errAddress)}
	transient := []idem.ErrorMatch{idem.MatchValue("errLimited", errLimited), idem.MatchType[*net.OpError]("*net.OpError")}
	wrapped := func(err error) error { return fmt.Errorf("charge: %w", err) }
	own := func(class idem.Class, reason error) error {
		return &idem.Error{Reason: reason, Class: class, Cause: errBoom}
	}
	const (
		unknown, notApplied, perm, trans = idem.ClassUnknown, idem.ClassNotApplied, idem.ClassPermanent, idem.ClassTransient
	)
	tests := []struct {
		name          string
		err           error
		call, handler idem.Class
	}{
		{"nobody knows it", errBoom, unknown, trans},
		{"cancelled", context.Canceled, unknown, unknown},
		{"deadline", wrapped(context.DeadlineExceeded), unknown, unknown},
		{"timeout of the file system", os.ErrDeadlineExceeded, unknown, unknown},
		{"reset", errReset, unknown, unknown},
		{"reset, listed as transient: still no proof", wrapped(errReset), unknown, unknown},
		{"end of file", io.ErrUnexpectedEOF, unknown, unknown},
		{"dial refused", wrapped(errRefused), notApplied, notApplied},
		{"dial timed out", &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, notApplied, notApplied},
		{"no such host", &net.DNSError{Err: "no such host"}, notApplied, notApplied},
		{"refused by the system", syscall.ECONNREFUSED, notApplied, notApplied},
		{"bad connection", driver.ErrBadConn, notApplied, notApplied},
		{"400", status(400), perm, perm},
		{"401 may pass once the key is renewed", status(401), notApplied, notApplied},
		{"404", status(404), perm, perm},
		{"408", status(408), unknown, unknown},
		{"409 is also a first call under way", status(409), unknown, unknown},
		{"429", wrapped(status(429)), notApplied, notApplied},
		{"500", status(500), unknown, unknown},
		{"503", status(503), unknown, unknown},
		{"402 given to an error that had none", wrapped(idem.HTTPStatus(402, errBoom)), perm, perm},
		{"503 given to an error that had none", idem.HTTPStatus(503, errBoom), unknown, unknown},
		{"serialization failure", sqlState("40001"), notApplied, notApplied},
		{"unique violation", sqlState("23505"), perm, perm},
		{"connection failure", sqlState("08006"), unknown, unknown},
		{"the completion of a statement is unknown", sqlState("40003"), unknown, unknown},
		{"499: told to give up by whoever waited", status(499), unknown, unknown},
		{"two tries in one, the first cut off", fmt.Errorf("gave up: %w; %w", errReset, errRefused), unknown, unknown},
		{"the same, listed as transient", fmt.Errorf("%w: %w; %w", errLimited, errReset, errRefused), unknown, unknown},
		{"a connection that was made fails, listed as transient", &net.OpError{Op: "read", Err: syscall.EHOSTUNREACH}, unknown, unknown},
		{"a known error beside one that says nothing", fmt.Errorf("%w: %w", errBoom, errRefused), notApplied, notApplied},
		{"a refused effect beside the handler's own error", fmt.Errorf("%w: %w", errBoom, own(perm, idem.ErrEffectRefused)), perm, perm},
		{"marked", idem.NotApplied(errReset), notApplied, notApplied},
		{"marked inside", wrapped(idem.Permanent(errBoom)), perm, perm},
		{"the outer mark counts", idem.Unknown(idem.Permanent(errBoom)), unknown, unknown},
		{"listed as permanent", wrapped(errAddress), perm, perm},
		{"listed as permanent and cut off: still no proof", fmt.Errorf("%w: %w", errAddress, errReset), unknown, perm},
		{"listed as permanent and not sent", fmt.Errorf("%w: %w", errAddress, errRefused), perm, perm},
		{"listed as permanent beside its cause", fmt.Errorf("%w: %w", errAddress, status(500)), perm, perm},
		{"listed as transient", errLimited, notApplied, notApplied},
		{"joined, one may be retried", errors.Join(errAddress, errBoom), unknown, trans},
		{"joined, all permanent", errors.Join(errAddress, status(422)), perm, perm},
		{"joined, one may have been applied", errors.Join(errAddress, status(429), status(500)), unknown, notApplied},
		{"an effect's own error", wrapped(own(notApplied, idem.ErrEffectFailed)), notApplied, notApplied},
		{"a refused effect", wrapped(own(perm, idem.ErrEffectRefused)), perm, perm},
		{"other work that is dead", own("", idem.ErrDead), perm, perm},
		{"other work that is to come again", own("", idem.ErrRetryLater), unknown, trans},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := idem.CallClassForTest(test.err, permanent, transient); got != test.call {
				t.Errorf("of an effect: %q, want %q", got, test.call)
			}
			if got := idem.HandlerClassForTest(test.err, permanent, transient); got != test.handler {
				t.Errorf("of a handler: %q, want %q", got, test.handler)
			}
		})
	}
}

func TestShouldAck(t *testing.T) {
	e := func(reason error) error { return fmt.Errorf("consumer: %w", &idem.Error{Reason: reason}) }
	tests := []struct {
		name string
		err  error
		want bool
	}{
		{"no error", nil, true},
		{"done", e(idem.ErrDone), true},
		{"dead", e(idem.ErrDead), true},
		{"result dropped", e(idem.ErrResultDropped), true},
		{"retry later", e(idem.ErrRetryLater), false},
		{"running", e(idem.ErrRunning), false},
		{"unknown", e(idem.ErrOutcomeUnknown), false},
		{"other payload", e(idem.ErrPayloadMismatch), false},
		{"no identity", e(idem.ErrIdentity), false},
		{"no ledger", e(idem.ErrLedger), false},
		{"lease lost", e(idem.ErrLeaseLost), false},
		{"not ours", errBoom, false},
		{"a batch of outcomes", errors.Join(e(idem.ErrDead), e(idem.ErrDone)), true},
		{"a batch with one to come again", errors.Join(e(idem.ErrDead), e(idem.ErrRetryLater)), false},
		{"dead work inside work that is to come again", &idem.Error{Reason: idem.ErrRetryLater, Cause: e(idem.ErrDead)}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := idem.ShouldAck(test.err); got != test.want {
				t.Errorf("ShouldAck(%v) = %v", test.err, got)
			}
		})
	}
}

func TestEffectKeysMatchTheVectors(t *testing.T) {
	data, err := os.ReadFile("canon/testdata/key-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Effects []struct {
			WorkID    string `json:"work_id"`
			Effect    string `json:"effect"`
			Per       any    `json:"per"`
			EffectKey string `json:"effect_key"`
		} `json:"effects"`
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Effects) < 2 {
		t.Fatalf("%d vectors", len(vectors.Effects))
	}
	for _, v := range vectors.Effects {
		id, err := idem.ParseWorkID(v.WorkID)
		if err != nil {
			t.Fatal(err)
		}
		var per []byte
		if v.Per != nil {
			if per, err = json.Marshal(v.Per); err != nil {
				t.Fatal(err)
			}
		}
		if got := idem.EffectKeyForTest(id, v.Effect, per, 0); got != v.EffectKey {
			t.Errorf("%s: %s, want %s", v.Effect, got, v.EffectKey)
		}
		if idem.EffectKeyForTest(id, v.Effect, per, 1) == v.EffectKey {
			t.Error("another epoch has the same key")
		}
	}
}

func TestParseWorkIDChecksTheForm(t *testing.T) {
	id := idem.HashWorkID([]byte("order:v1:1"))
	if back, err := idem.ParseWorkID(id.String()); err != nil || back != id {
		t.Errorf("got %v, %v", back, err)
	}
	for _, bad := range []string{"", "zz", id.String()[1:], id.String() + "0", "X" + id.String()[1:], "A" + id.String()[1:]} {
		if _, err := idem.ParseWorkID(bad); err == nil {
			t.Errorf("%q was taken for a work ID", bad)
		}
	}
	text, err := json.Marshal(map[string]idem.WorkID{"id": id})
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]idem.WorkID
	if err := json.Unmarshal(text, &back); err != nil || back["id"] != id {
		t.Errorf("JSON %s, %v", text, err)
	}
}
