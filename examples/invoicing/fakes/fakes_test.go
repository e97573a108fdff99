package fakes_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idem/examples/invoicing/fakes"
)

// call makes one request, and returns status and body.
func call(t *testing.T, method, url, key, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return answer.StatusCode, strings.TrimSpace(string(text))
}

func serve(t *testing.T, h http.Handler) string {
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

const bill = `{"reference":"1"}`

func TestAKeyIsAnsweredAsTheFirstTime(t *testing.T) {
	var offset atomic.Int64
	p := &fakes.Payments{RemembersFor: time.Hour, Now: func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }}
	url := serve(t, p) + "/payment_intents"
	for _, step := range []struct {
		name, key, body string
		later           time.Duration
		status          int
		answer          string
	}{
		{"the first call", "k1", bill, 0, 200, `{"id":"pi_1"}`},
		{"the same call", "k1", bill, 0, 200, `{"id":"pi_1"}`},
		{"another body", "k1", `{"reference":"2"}`, 0, 422, "this key came with another request before"},
		{"another key", "k2", bill, 0, 200, `{"id":"pi_2"}`},
		{"no key", "", bill, 0, 200, `{"id":"pi_3"}`},
		{"no key again", "", bill, 0, 200, `{"id":"pi_4"}`},
		{"the key within memory", "k1", bill, 59 * time.Minute, 200, `{"id":"pi_1"}`},
		{"the key after it", "k1", bill, 2 * time.Minute, 200, `{"id":"pi_5"}`},
		{"no reference", "k3", `{}`, 0, 400, "want a reference"},
	} {
		offset.Add(int64(step.later))
		if status, answer := call(t, "POST", url, step.key, step.body); status != step.status || answer != step.answer {
			t.Errorf("%s: %d %s, want %d %s", step.name, status, answer, step.status, step.answer)
		}
	}
	if n := p.Applied("1"); n != 5 {
		t.Errorf("%d intents, want 5", n)
	}
}

func TestAKeyWhoseFirstCallIsStillRunningIsAConflict(t *testing.T) {
	p := new(fakes.Payments)
	url := serve(t, p) + "/payment_intents"
	p.SetDelay(500 * time.Millisecond)
	var statuses [8]int
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() { statuses[i], _ = call(t, "POST", url, "k1", bill) })
	}
	all.Wait()
	if !slices.Contains(statuses[:], http.StatusConflict) || !slices.Contains(statuses[:], http.StatusOK) {
		t.Errorf("statuses %v, want one 200 and 409s", statuses)
	}
	if n := p.Applied("1"); n != 1 {
		t.Errorf("%d intents, want 1", n)
	}
}

// TestAFaultAppliesWhatItsNameSays, and the call after it goes well.
func TestAFaultAppliesWhatItsNameSays(t *testing.T) {
	for fault, want := range map[fakes.Fault]struct{ status, applied int }{
		fakes.None:            {200, 1},
		fakes.AppliedError:    {500, 1},
		fakes.AppliedReset:    {0, 1},
		fakes.AppliedHang:     {0, 1},
		fakes.Error:           {500, 0},
		fakes.Reset:           {0, 0},
		fakes.TooManyRequests: {429, 0},
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			c := new(fakes.Chat)
			url := serve(t, c) + "/messages"
			c.Next(fault)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if fault == fakes.AppliedHang {
				// Leave once it is there: the fake hangs until then.
				go func() {
					for c.Applied("7") == 0 && ctx.Err() == nil {
						time.Sleep(time.Millisecond)
					}
					cancel()
				}()
			}
			status := send(ctx, url)
			if applied := c.Applied("7"); status != want.status || applied != want.applied {
				t.Errorf("status %d, applied %d times, want %d and %d", status, applied, want.status, want.applied)
			}
			if status := send(t.Context(), url); status != 200 {
				t.Errorf("the next call: status %d", status)
			}
		})
	}
}

// send sends a message; its status is 0 if there was no answer.
func send(ctx context.Context, url string) int {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(`{"chat_id":7,"text":"hello"}`))
	if err != nil {
		return -1
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

func TestANoteIsFoundOnceTheIndexHasIt(t *testing.T) {
	var offset atomic.Int64
	c := &fakes.CRM{Lag: time.Minute, Now: func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }}
	url := serve(t, c)
	if status, answer := call(t, "POST", url+"/notes", "", `{"customer":"ada","text":"ref abc"}`); status != 200 {
		t.Fatal(status, answer)
	}
	if _, answer := call(t, "GET", url+"/notes?contains=abc", "", ""); answer != "[]" {
		t.Errorf("at once: %s, want nothing", answer)
	}
	offset.Add(int64(time.Minute))
	if _, answer := call(t, "GET", url+"/notes?contains=abc", "", ""); !strings.Contains(answer, "note_1") {
		t.Errorf("after the lag: %s, want the note", answer)
	}
	if _, answer := call(t, "GET", url+"/notes?contains=abd", "", ""); answer != "[]" {
		t.Errorf("another text: %s, want nothing", answer)
	}
}

func TestAPersonCanLetTheNextCallGoWrong(t *testing.T) {
	c := new(fakes.Chat)
	control := serve(t, http.HandlerFunc(c.ServeControl))
	if status, answer := call(t, "POST", control+"?fault=applied-500", "", ""); status != 200 {
		t.Fatal(status, answer)
	}
	if status, _ := call(t, "POST", control+"?fault=bad-luck", "", ""); status != 400 {
		t.Errorf("a fault that there is not: status %d", status)
	}
	if status := send(t.Context(), serve(t, c)+"/messages"); status != 500 {
		t.Errorf("status %d, want the fault", status)
	}
	if _, answer := call(t, "GET", control, "", ""); answer != `{"7":1}` {
		t.Errorf("counts are %s", answer)
	}
}
