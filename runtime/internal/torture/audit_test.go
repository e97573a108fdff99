package torture

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	idem "github.com/idemgen/idem/runtime"
)

// sums are what a round or several have come to.
type sums struct {
	kills, troubles                    int
	works, done, unknown, dead         int
	deliveries, lostLeases, attempts   int
	drafts, keyed, upserted, found     int
	sent, repeated, extra, unknownSent int
	messages                           int
	revisions, superseded              int
}

func (s *sums) add(o sums) {
	s.kills += o.kills
	s.troubles += o.troubles
	s.works += o.works
	s.done += o.done
	s.unknown += o.unknown
	s.dead += o.dead
	s.deliveries += o.deliveries
	s.lostLeases += o.lostLeases
	s.attempts += o.attempts
	s.drafts += o.drafts
	s.keyed += o.keyed
	s.upserted += o.upserted
	s.found += o.found
	s.sent += o.sent
	s.repeated += o.repeated
	s.extra += o.extra
	s.unknownSent += o.unknownSent
	s.messages += o.messages
	s.revisions += o.revisions
	s.superseded += o.superseded
}

func (s sums) String() string {
	return fmt.Sprintf(`%d kills, %d other troubles
	works        %7d   %d deliveries, %d attempts, %d leases lost
	done         %7d
	unknown      %7d   of them with a message %d
	dead         %7d   of the kind that has %d attempts
	transaction  %7d
	key          %7d
	upsert       %7d
	find_first   %7d   of them extra %d
	once         %7d
	repeatable   %7d
	messages     %7d   each wanted by two works
	revisions    %7d   of them superseded %d`,
		s.kills, s.troubles, s.works, s.deliveries, s.attempts, s.lostLeases, s.done, s.unknown, s.unknownSent, s.dead, briefAttempts,
		s.drafts, s.keyed, s.upserted, s.found, s.extra, s.sent, s.repeated, s.messages, s.revisions, s.superseded)
}

// record is what the ledger says of one piece of work.
type record struct {
	parcel
	state      idem.State
	attempts   int
	budget     int
	lostLeases int
	open       int // attempts without an end
	result     receipt
	lastError  string
	superseded bool
	effects    map[string]effectRecord
}

type effectRecord struct {
	guard idem.Guard
	state idem.EffectState
}

// drafted is what the application's table says of one effect.
type drafted struct {
	rows  int
	price int64
}

// audit holds what happened against what was promised. Once a person has decided
// what nobody could know, all work is done.
func (r *round) audit(ctx context.Context, ledger *opened, db *sql.DB, prefix string, decided bool) sums {
	if err := r.host.check(ctx, db); err != nil {
		r.t.Error(err)
	}
	records, err := readRecords(ctx, ledger, db, prefix)
	if err != nil {
		r.t.Fatal(err)
	}
	drafts, err := readDrafts(ctx, db)
	if err != nil {
		r.t.Fatal(err)
	}
	a := &auditor{round: r, records: records, drafts: drafts, decided: decided}
	for _, wrong := range slices.Concat(r.provider.wrong, r.source.wrong) {
		r.t.Error(wrong)
	}
	for p := range r.source.all() {
		if _, ok := records[p]; !ok {
			r.t.Errorf("%s %s was delivered, and the ledger does not know it: it is lost", p.kind, p.subject)
		}
	}
	for _, rec := range records {
		for _, broken := range a.broken(rec) {
			r.t.Errorf("%s %s is %s after %d attempts and %d lost leases: %s", rec.kind, rec.subject, rec.state, rec.attempts, rec.lostLeases, broken)
		}
	}
	if most := 1 + a.sums.lostLeases/20; a.sums.extra > most && r.trouble != processStopped && r.trouble != clocksApart {
		// One is promised per lost lease. But who is killed sends nothing any more, and
		// the search lags less than declared, so that hardly any is due.
		r.t.Errorf("%d effects were made again that could have been found, for %d lost leases", a.sums.extra, a.sums.lostLeases)
	}
	a.sums.kills, a.sums.troubles, a.sums.deliveries = r.killed(), int(r.troubles.Load()), r.source.sums.deliveries
	return a.sums
}

type auditor struct {
	round   *round
	records map[parcel]record
	drafts  map[[3]string]drafted
	decided bool
	sums    sums
}

// effectsOf are the effects that done work of a kind has made.
func effectsOf(kind string) []string {
	switch kind {
	case "one":
		return []string{"second", "transaction"}
	case "brief", "greet", "newest":
		return []string{"upsert"}
	case "parent":
		return []string{"child", "upsert"}
	}
	return []string{"find_first", "idempotency_key", "once", "read", "repeatable", "transaction", "upsert"}
}

// broken says which promises about one piece of work were not kept.
func (a *auditor) broken(rec record) (broken []string) {
	a.sums.works++
	a.sums.attempts += rec.attempts
	a.sums.lostLeases += rec.lostLeases
	complain := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	if rec.kind == "parent" && rec.state == idem.StateFailed && a.mayBeUnknown(rec) {
		rec.state = idem.StateUnknown // in all but name
	}
	if rec.open > 0 {
		complain("%d of its attempts have no end", rec.open)
	}
	if a.decided && rec.state != idem.StateDone {
		complain("although a person has decided about it: %s", rec.lastError)
	}
	switch rec.state {
	case idem.StateDone:
		a.sums.done++
		if rec.superseded {
			break
		}
		for _, name := range effectsOf(rec.kind) {
			if e := rec.effects[name]; e.state != idem.EffectDone && !(e.state == idem.EffectGivenUp && rec.kind == "give_up") {
				complain("%s is %q", name, e.state)
			}
		}
	case idem.StateUnknown:
		a.sums.unknown++
		if !a.mayBeUnknown(rec) {
			complain("no effect has a reason to be unknown: %s", rec.lastError)
		}
	case idem.StateDead:
		a.sums.dead++
		if rec.kind != "brief" || rec.attempts != briefAttempts || rec.budget != 0 {
			complain("with a budget of %d: %s", rec.budget, rec.lastError)
		}
	default:
		complain("it has not ended: %s", rec.lastError)
	}
	for _, name := range effectsOf(rec.kind) {
		if name == "child" || name == "read" {
			continue
		}
		if why := a.brokenEffect(rec, name, rec.effects[name]); why != "" {
			complain("%s is %q: %s", name, rec.effects[name].state, why)
		}
	}
	if rec.kind == "newest" {
		if why := a.brokenRevision(rec); why != "" {
			complain("%s", why)
		}
	}
	for name := range rec.effects {
		if !slices.Contains(effectsOf(rec.kind), name) {
			complain("it has an effect %s", name)
		}
	}
	return broken
}

// brokenRevision says how a revision of a thing was treated wrongly.
func (a *auditor) brokenRevision(rec record) string {
	a.sums.revisions++
	if !rec.superseded {
		return ""
	}
	a.sums.superseded++
	thing, by, err := revisionOf(rec.subject)
	if err != nil {
		return err.Error()
	}
	for newer := by + 1; newer <= revisions; newer++ {
		other := a.records[parcel{rec.kind, fmt.Sprintf("%s/%d", thing, newer)}]
		if other.state == idem.StateDone && !other.superseded {
			return ""
		}
	}
	return "it is superseded, and nothing newer is done"
}

// mayBeUnknown: only a message that is not to be repeated leaves work unknown, and a
// key that the provider has forgotten.
func (a *auditor) mayBeUnknown(rec record) bool {
	switch rec.kind {
	case "one", "brief", "greet", "newest":
		return false
	case "parent":
		return a.records[parcel{"child", rec.subject}].state == idem.StateUnknown
	}
	asked := rec.kind == "ask" || rec.kind == "child"
	return asked && rec.effects["once"].state == idem.EffectUnknown ||
		a.round.trouble == memoryShort && rec.effects["idempotency_key"].state == idem.EffectUnknown
}

// brokenEffect says how one effect breaks the promise of its guard.
func (a *auditor) brokenEffect(rec record, name string, e effectRecord) string {
	count, price := a.made(rec, name)
	a.count(rec, name, count)
	if count > 0 && rec.state == idem.StateDone && !rec.superseded && price != rec.result.Price {
		return fmt.Sprintf("it was made with the price %d, and the result says %d", price, rec.result.Price)
	}
	least, most := 0, 1
	switch name {
	case "find_first":
		most = 1 + rec.lostLeases
	case "repeatable":
		most = count
	case "once":
		if rec.kind == "repeat" {
			most = count
		}
	}
	switch e.state {
	case idem.EffectDone:
		least = 1
	case "":
		most = 0
	case idem.EffectNotApplied:
		most = 0
		if name == "find_first" {
			most = rec.lostLeases // of a stopped owner, which went on later
		}
	case idem.EffectRefused:
		return "nobody refuses anything here"
	case idem.EffectStarted:
		// An upsert of an older revision may be left alone, whether it was made or not.
		if rec.state == idem.StateDone && !rec.superseded {
			return "and yet the work is done"
		}
	}
	if count < least || count > most {
		return fmt.Sprintf("it was made %d times, and %d to %d are promised", count, least, most)
	}
	return ""
}

// made is how often an effect was made, by those who saw it.
func (a *auditor) made(rec record, name string) (count int, price int64) {
	if name == "transaction" || name == "second" {
		d := a.drafts[[3]string{rec.kind, rec.subject, name}]
		return d.rows, d.price
	}
	at := place{rec.kind, recipient(rec.subject), idem.Guard(name)}
	return a.round.provider.count(at), a.round.provider.prices[at]
}

func (a *auditor) count(rec record, name string, count int) {
	s := &a.sums
	if rec.kind == "greet" {
		if rec.subject == recipient(rec.subject) {
			s.messages += count
		}
		return
	}
	switch name {
	case "transaction", "second":
		s.drafts += count
	case "idempotency_key":
		s.keyed += count
	case "upsert":
		s.upserted += count
	case "find_first":
		s.found += count
		s.extra += max(0, count-1)
	case "once":
		s.sent += count
		if rec.state == idem.StateUnknown {
			s.unknownSent += count
		}
	case "repeatable":
		s.repeated += count
	}
}

func readRecords(ctx context.Context, ledger *opened, db *sql.DB, prefix string) (map[parcel]record, error) {
	query := strings.ReplaceAll(`SELECT work_id, kind, payload_codec, payload, state, attempt, budget_left, result_codec, result, last_error, superseded_by IS NOT NULL AND superseded_by <> '',
		(SELECT count(*) FROM $attempt_log a WHERE a.work_id = w.work_id AND a.outcome = 'abandoned'),
		(SELECT count(*) FROM $attempt_log a WHERE a.work_id = w.work_id AND a.outcome IS NULL)
		FROM $work_log w`, "$", prefix)
	effects, err := readEffects(ctx, db, prefix)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	records := make(map[parcel]record)
	for rows.Next() {
		var id string
		var payload, result idem.Body
		var rec record
		if err := rows.Scan(&id, &rec.kind, &payload.Codec, &payload.Data, &rec.state, &rec.attempts, &rec.budget, &result.Codec, &result.Data, &rec.lastError, &rec.superseded, &rec.lostLeases, &rec.open); err != nil {
			return nil, err
		}
		row, err := idem.ParseWorkID(id)
		if err != nil {
			return nil, err
		}
		var in order
		if err := ledger.decode(payload, row, idem.PartPayload, &in); err != nil {
			return nil, err
		}
		if rec.subject = in.Subject; result.Codec != idem.CodecNone {
			if err := ledger.decode(result, row, idem.PartResult, &rec.result); err != nil {
				return nil, err
			}
		}
		rec.effects = effects[id]
		if _, twice := records[rec.parcel]; twice {
			return nil, fmt.Errorf("%s %s has two rows", rec.kind, rec.subject)
		}
		records[rec.parcel] = rec
	}
	return records, rows.Err()
}

func readEffects(ctx context.Context, db *sql.DB, prefix string) (map[string]map[string]effectRecord, error) {
	rows, err := db.QueryContext(ctx, `SELECT work_id, effect, guard, state FROM `+prefix+`effect_log`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	effects := make(map[string]map[string]effectRecord)
	for rows.Next() {
		var id, name string
		var e effectRecord
		if err := rows.Scan(&id, &name, &e.guard, &e.state); err != nil {
			return nil, err
		}
		if effects[id] == nil {
			effects[id] = make(map[string]effectRecord)
		}
		effects[id][name] = e
	}
	return effects, rows.Err()
}

func readDrafts(ctx context.Context, db *sql.DB) (map[[3]string]drafted, error) {
	rows, err := db.QueryContext(ctx, `SELECT kind, subject, effect, count(*), max(price) FROM drafts GROUP BY kind, subject, effect`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	drafts := make(map[[3]string]drafted)
	for rows.Next() {
		var at [3]string
		var d drafted
		if err := rows.Scan(&at[0], &at[1], &at[2], &d.rows, &d.price); err != nil {
			return nil, err
		}
		drafts[at] = d
	}
	return drafts, rows.Err()
}
