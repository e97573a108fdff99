package house

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

// psqlVariable is how psql is told to put a value in, as a literal.
var psqlVariable = regexp.MustCompile(`:'([a-z_]+)'`)

// grants are the rights of the role that works.
var grants = regexp.MustCompile(`GRANT .*;`)

// books are what the outside world has seen, whatever becomes of the ledger.
type books struct {
	charges map[string]int // by key: the provider dedupes
	mails   map[string]int // by order: nobody dedupes
}

var errLater = errors.New("the mail server is away")

// mailingShop charges, which its provider dedupes, and mails, which nobody does. While away
// is set the mail is certainly not sent.
func mailingShop(ledger *idem.Ledger[pgx.Tx], b *books, away *bool) idem.Contract[payment, charged] {
	form := idem.Payload[payment]{Shape: "1", Append: canonicalPayment}
	charge := idem.IdempotencyKey(idem.Effect[payment, charged]{Name: "charge", Payload: form,
		Call: func(_ context.Context, call idem.Call, in payment) (charged, error) {
			b.charges[call.Key()] = 1
			return charged{"charge of " + in.ID}, nil
		}}, 24*time.Hour)
	mail := idem.Once(idem.Effect[payment, charged]{Name: "mail", Payload: form,
		Call: func(_ context.Context, _ idem.Call, in payment) (charged, error) {
			if *away {
				return charged{}, idem.NotApplied(errLater)
			}
			b.mails[in.ID]++
			return charged{"mail to " + in.ID}, nil
		}}, idem.Ask)
	s := paymentOf("example.com/shop", func(ctx context.Context, run *idem.Run, in payment) (charged, error) {
		if _, err := charge.Do(ctx, run, in); err != nil {
			return charged{}, err
		}
		return mail.Do(ctx, run, in)
	})
	s.Retry = idem.Retry{MaxAttempts: 5, Initial: time.Microsecond, Max: time.Microsecond, Multiplier: 1}
	s.Effects = []idem.Declared{charge, mail}
	return idem.Define(ledger, s)
}

// openShop opens the ledger of a database.
func openShop(t *testing.T, at string, b *books, away *bool) (*idem.Ledger[pgx.Tx], idem.Contract[payment, charged]) {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	store, err := postgres.Open(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	ledger := idem.NewLedger(store)
	return ledger, mailingShop(ledger, b, away)
}

// do delivers until it is done.
func do(t *testing.T, c idem.Contract[payment, charged], id string) charged {
	t.Helper()
	for {
		result, err := c.Do(t.Context(), payment{id})
		switch {
		case err == nil:
			return result.Value
		case !errors.Is(err, idem.ErrRetryLater):
			t.Fatalf("%s: %v", id, err)
		}
	}
}

// TestARestoredLedgerRepeatsNothingAfterTheProcedureOfTheDocs loses a day's commits
// to a restore, once without docs/restore.md and once with it.
func TestARestoredLedgerRepeatsNothingAfterTheProcedureOfTheDocs(t *testing.T) {
	b, away := &books{map[string]int{}, map[string]int{}}, false
	lost := server.Database(t)
	mustMigrate(t, lost)
	_, c := openShop(t, lost, b, &away)
	do(t, c, "before")
	away = true
	if _, err := c.Do(t.Context(), payment{"across"}); !errors.Is(err, errLater) {
		t.Fatal(err)
	}
	away = false
	backup := run(t, nil, pgtest.Tool(t, "pg_dump"), "--dbname", lost)
	do(t, c, "across") // it was failed in the backup, and its mail went out since
	do(t, c, "after")

	// The table, in the rows that have a provider here: the charge is answered, the
	// mail happens again.
	careless := restore(t, backup)
	again := &books{b.charges, map[string]int{"before": 1, "across": 1, "after": 1}}
	_, c = openShop(t, careless, again, &away)
	for _, id := range []string{"before", "across", "after"} {
		do(t, c, id)
	}
	if again.mails["before"] != 1 || again.mails["across"] != 2 || again.mails["after"] != 2 || len(again.charges) != 3 {
		t.Errorf("without the procedure: %v and %d charges; the test shows nothing if nothing repeats", again.mails, len(again.charges))
	}

	careful := restore(t, backup)
	procedure := newProcedure(t, careful)
	procedure.exec("## Freeze", 0, nil)
	ledger, c := openShop(t, procedure.worker, b, &away)
	if _, err := c.Do(t.Context(), payment{"after"}); !errors.Is(err, idem.ErrLedger) || idem.ShouldAck(err) {
		t.Fatalf("a frozen kind: %v, and it may be acknowledged: %t", err, idem.ShouldAck(err))
	}
	var begins time.Time
	if err := procedure.admin.QueryRow(t.Context(), procedure.statements["## Reconcile"][0]).Scan(&begins); err != nil || begins.IsZero() {
		t.Fatalf("the gap begins at %s, %v", begins, err)
	}
	for id := range b.mails { // the outbox
		procedure.enter(c, id, "mail to "+id)
	}
	procedure.exec("## Resume", 0, nil)
	for _, id := range []string{"before", "across", "after"} {
		if got := do(t, c, id); got.Ref != "mail to "+id {
			t.Errorf("%s: %+v", id, got)
		}
		if b.mails[id] != 1 {
			t.Errorf("%s: %d mails", id, b.mails[id])
		}
	}
	do(t, c, "later")
	if len(b.charges) != 4 || b.mails["later"] != 1 {
		t.Errorf("%d charges and %v", len(b.charges), b.mails)
	}
	if err := ledger.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// procedure is docs/restore.md on a database.
type procedure struct {
	t          *testing.T
	admin      *pgxpool.Pool
	worker     string // the database's URL for the role that works
	statements map[string][]string
	role       string
}

func newProcedure(t *testing.T, at string) *procedure {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	p := &procedure{t: t, admin: pool, role: "idem_worker_" + strings.ToLower(rand.Text()), statements: map[string][]string{}}
	for heading, want := range map[string]int{"## Freeze": 1, "## Reconcile": 3, "## Resume": 1} {
		p.statements[heading] = blocks(section(t, read(t, "docs/restore.md"), heading), "sql")
		if n := len(p.statements[heading]); n != want {
			t.Fatalf("%d statements in %q of docs/restore.md, want %d", n, heading, want)
		}
	}
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("user", p.role)
	u.RawQuery, u.User = query.Encode(), nil
	p.worker = u.String()
	p.mustExec(`CREATE ROLE ` + p.role + ` LOGIN`)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if _, err := pool.Exec(ctx, `DROP OWNED BY `+p.role+`; DROP ROLE `+p.role); err != nil {
			t.Error(err)
		}
		pool.Close()
	})
	for _, grant := range grants.FindAllString(section(t, read(t, "docs/postgres.md"), "## What it needs"), -1) {
		p.mustExec(strings.ReplaceAll(grant, "worker", p.role))
	}
	return p
}

func (p *procedure) mustExec(text string, args ...any) {
	p.t.Helper()
	if _, err := p.admin.Exec(p.t.Context(), text, args...); err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
}

// exec runs a statement of the page.
func (p *procedure) exec(heading string, number int, values pgx.NamedArgs) {
	p.t.Helper()
	text := strings.ReplaceAll(p.statements[heading][number], "worker", p.role)
	text = psqlVariable.ReplaceAllString(text, "@$1")
	if values == nil {
		p.mustExec(text)
		return
	}
	p.mustExec(text, values)
}

// enter tells the ledger of a mail that the outbox has, and what it was.
func (p *procedure) enter(c idem.Contract[payment, charged], order, ref string) {
	p.t.Helper()
	id, err := c.ID(payment{order})
	if err != nil {
		p.t.Fatal(err)
	}
	store, err := postgres.Open(p.t.Context(), p.admin)
	if err != nil {
		p.t.Fatal(err)
	}
	people := idem.NewLedger(store)
	seen, err := people.Inspect(p.t.Context(), id)
	if err == nil && seen.Work.State == idem.StateDone {
		return // the ledger has it
	}
	p.exec("## Reconcile", 1, pgx.NamedArgs{"work_id": id.String(), "kind": "payment", "version": 1})
	p.exec("## Reconcile", 2, pgx.NamedArgs{"work_id": id.String(), "effect": "mail", "per_hash": ""})
	if seen, err = people.Inspect(p.t.Context(), id); err != nil {
		p.t.Fatal(err)
	}
	decision := idem.Decision{ID: id, Seen: seen.Revision(), Who: "ann@example.com", Why: "it is in the outbox"}
	outcome := idem.Outcome{Effect: "mail", Verdict: idem.VerdictApplied, Result: []byte(`{"Ref": ` + strconv.Quote(ref) + `}`)}
	if r, err := people.Resolve(p.t.Context(), decision, outcome); err != nil || r.State != idem.StateFailed {
		p.t.Fatalf("%s: %+v, %v", order, r, err)
	}
}

func mustMigrate(t *testing.T, at string) {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if err := postgres.Migrate(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
}

// restore makes a new database of a backup.
func restore(t *testing.T, backup string) string {
	t.Helper()
	at := server.Database(t)
	run(t, strings.NewReader(backup), pgtest.Tool(t, "psql"), "--dbname", at, "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1")
	return at
}

func run(t *testing.T, in *strings.Reader, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	if in != nil {
		cmd.Stdin = in
	}
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, problems.String())
	}
	return string(out)
}
