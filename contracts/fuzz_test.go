package contracts

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// FuzzParse holds what is true of any input: no panic, diagnostics that are
// sorted, none twice, inside the file and with their carets under the line,
// the same for the same bytes; and of any accepted one: that it is complete
// and reads the same with CRLF.
func FuzzParse(f *testing.F) {
	addArchives(f)
	for _, src := range []string{
		smallContract, strings.ReplaceAll(smallContract, "\n", "\r\n"), "\uFEFF" + smallContract,
		"\x00", "\xff\xfe", "a: \u2028", "\t", "---\n---\n", "%YAML 1.1\n---\n", "? [a]\n: b\n", "&a [*a]", "<<: *a", "- - - -\n", "{{{", "]", `"\x`, "'", "a: |\n b\n c", "a: >-\n\n\n", "contracts:\n  ? a\n",
		"contracts: {a: {version: 0x1}}", "#\n#\n", "a: !!binary aGk=\n", "a: b: c", "...\n", "--- a\n...\n--- b\n",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, ds := Parse("f", src)
		checkDiagnostics(t, src, ds)
		again, dsAgain := Parse("f", bytes.Clone(src))
		if ds.Text() != dsAgain.Text() {
			t.Fatalf("two runs differ:\n%s\n%s", ds.Text(), dsAgain.Text())
		}
		if ds.HasErrors() {
			return
		}
		if diff := cmp.Diff(file.Contracts, again.Contracts); diff != "" {
			t.Fatalf("two runs differ:\n%s", diff)
		}
		if len(file.Contracts) == 0 {
			t.Fatal("a file without contracts was accepted")
		}
		for _, c := range file.Contracts {
			checkComplete(t, c)
		}
		crlf, ds := Parse("f", bytes.ReplaceAll(bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n")))
		if ds.Text() != dsAgain.Text() {
			t.Fatalf("other messages with CRLF:\n%s", ds.Text())
		}
		if diff := cmp.Diff(file.Contracts, crlf.Contracts); diff != "" {
			t.Fatalf("CRLF reads as something else:\n%s", diff)
		}
	})
}

func addArchives(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no archives found: %v", err)
	}
	for _, name := range append(files, "testdata/valid.txtar") {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, in := range archive.Files {
			if strings.HasSuffix(in.Name, ".yaml") {
				f.Add(in.Data)
			}
		}
	}
}

// checkComplete holds what the model promises of an accepted contract.
func checkComplete(t *testing.T, c *Contract) {
	t.Helper()
	for name, ok := range map[string]bool{
		"kind":          nameForm.MatchString(c.Kind.V),
		"version":       c.Version.Set && c.Version.V >= 1,
		"supersedes":    !c.Supersedes.Set || c.Supersedes.Version.V >= 1 && c.Supersedes.Version.V < c.Version.V && c.Supersedes.Because.Set && c.Supersedes.OldWork.Set,
		"statement":     c.Statement.Set && strings.TrimSpace(c.Statement.V) != "",
		"handler":       c.Handler.Set,
		"identity":      c.Identity.Set && (c.Identity.Strategy != ByHash) == (len(c.Identity.Key) > 0) && c.Identity.Strategy != "",
		"hash":          len(c.Identity.Fields) == 0 || len(c.Identity.Except) == 0,
		"allow_empty":   len(c.Identity.AllowEmpty) == 0 || c.Identity.KeyList && len(c.Identity.AllowEmpty) < len(c.Identity.Key),
		"window":        c.Window.Set && c.Window.Forever == (c.Window.Duration == 0) && c.Window.Duration >= 0 && c.Window.Duration <= MaxDuration,
		"until":         !c.Window.Until.Set || !c.Window.Forever && nameForm.MatchString(c.Window.Until.V) && c.Window.Until.V != c.Kind.V,
		"latest":        c.Latest.Set == (len(c.Latest.Of) > 0) && c.Latest.Set == c.Latest.By.Set && !setOf(c.Latest.Of)[c.Latest.By.V],
		"delivered_by":  c.Delivery.Set == (c.Delivery.RedeliversFor.V > 0) && c.Delivery.AckWithin.V >= 0 && (c.Window.Forever || c.Window.Duration >= c.Remember()),
		"payload":       c.Payload.V == KeepPayload || c.Payload.V == NoPayload && c.Delivery.Set && c.Delivery.Keeps > c.RetrySchedule(),
		"redact":        len(c.Redact) == 0 || c.Payload.V == KeepPayload && c.Delivery.Set && c.Delivery.Keeps > c.RetrySchedule(),
		"when_done":     c.Response.WhenDone.Set,
		"while_running": c.Response.WhileRunning.Set && (c.Response.WhileRunning.V == WhileRunningWait) == c.Response.Wait.Set && c.Response.Wait.Set == (c.Response.Wait.V > 0),
		"other_payload": c.Response.OtherPayload.Set,
		"max_attempts":  c.Retry.MaxAttempts.V >= 1 && c.Retry.MaxAttempts.V <= 1000,
		"backoff":       c.Retry.Backoff.Initial.V > 0 && c.Retry.Backoff.Initial.V <= c.Retry.Backoff.Max.V && c.Retry.Backoff.Multiplier.V >= 1 && c.Retry.Backoff.Multiplier.V <= 10,
		"lease":         c.Lease.V > 0,
		"timeout":       c.Timeout.V > 0,
		"schedule":      c.RetrySchedule() > 0,
	} {
		if !ok {
			t.Errorf("accepted with an impossible %s: %+v", name, c)
		}
	}
	methods := map[string]bool{}
	for _, e := range c.Effects {
		memory := e.RemembersFor.V > c.RetrySchedule()
		if n := e.KeyFormat.V.Length(); n < MinBase62 || n > 64 || e.KeyPlace == "" {
			t.Errorf("accepted with an impossible key: %+v", e)
		}
		if !e.Guard.Set || (e.Guard.V == ChildWork) != e.Work.Set || (e.Guard.V == FindFirst) != (e.Find.Set && e.VisibleAfter.V > 0) || (e.Guard.V == IdempotencyKey) != memory || e.IfUnknown.V == "" || e.Header.V == "" || methods[e.Method()] {
			t.Errorf("accepted with an impossible effect: %+v", e)
		}
		if calls := e.MaxAttempts; calls.Set != (calls.V > 0) || calls.V > c.Retry.MaxAttempts.V || calls.Set && (e.Guard.V == Transaction || e.Guard.V == Read) {
			t.Errorf("accepted with an impossible budget: %+v", e)
		}
		m := e.Message
		sends := m.Channel.Set && m.To.Set && len(m.Body) > 0 && m.TTL.V > c.Timeout.V
		if m.Set != sends || m.Set && (e.Guard.V == Transaction || e.Guard.V == Read || e.Guard.V == Repeatable) || m.BodyList && !m.Set {
			t.Errorf("accepted with an impossible message: %+v", e)
		}
		methods[e.Method()] = true
	}
}
