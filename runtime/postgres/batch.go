package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/internal/coalesce"
	"github.com/idemgen/idem/runtime/internal/ledgersql"
)

// Writes of concurrent callers share transactions: what comes while others are under
// way goes together in the next one, in as many round trips as one write alone. A
// batch does only what is plain, such as claims of new work. What is left (work that
// has to be taken over, rows that somebody has locked, a fence that does not hold)
// and everything in a batch that fails is written alone, by its own caller, who thus
// waits and fails alone.

const (
	maxBatch = 256
	// maxWaiting bounds what is held for callers: further ones wait for a place.
	maxWaiting = 4096
	// maxUnderWay is how many batches are under way at once: while one waits for the
	// disk another is worked on. More would only make smaller ones.
	maxUnderWay = 2
)

// errAlone: the batch has not made the write, which has to be made alone.
var errAlone = errors.New("not in a batch")

// operation is one write of a batch, and the answer to it.
type operation struct {
	claim   *idem.Claim
	effect  *idem.EffectWrite
	end     *idem.End
	settled bool

	claimed idem.Claimed
	written idem.EffectWritten
	ended   idem.Ended
}

type request = coalesce.Request[*operation]

func (s *Store) newQueue() *coalesce.Queue[*operation] {
	turns := make(chan struct{}, maxUnderWay)
	return coalesce.New(coalesce.Config[*operation]{
		Turn: func(<-chan struct{}) func() {
			turns <- struct{}{}
			return func() { <-turns }
		},
		Run:      s.runBatch,
		Left:     func(op *operation, over <-chan struct{}) { s.adrift.add(op.fence().Token, over) },
		MaxBatch: maxBatch, MaxWaiting: maxWaiting,
	})
}

// together makes a write in a batch. errAlone if it has to be made alone.
func (s *Store) together(ctx context.Context, what string, op *operation) error {
	if err := s.usable(ctx); err != nil {
		return fmt.Errorf("postgres: %s: %w", what, err)
	}
	err := s.queue.Do(ctx, op, false)
	switch {
	case err == nil || errors.Is(err, errAlone):
		return err
	case errors.Is(err, coalesce.ErrClosed):
		err = idem.ErrClosed
	}
	return s.wrap(ctx, what, err)
}

// plainClaim tells whether a batch can decide about a claim: it has no other names
// to look for, no newer work, and nothing is wrong with it.
func plainClaim(c idem.Claim) bool {
	_, err := expiry(c.Window)
	return err == nil && len(c.Predecessors) == 0 && c.Mark.IsZero() && !c.ID.IsZero() && c.Lease > 0 && c.Budget > 0 && fit(c.Version, c.Budget)
}

// fit tells whether the database's integers hold numbers. What does not fit is written
// alone, where it is refused instead of cut.
func fit(numbers ...int) bool {
	return !slices.ContainsFunc(numbers, func(n int) bool { return n != int(int32(n)) })
}

func plainEffect(e idem.EffectWrite) bool {
	return e.Message == nil && (e.Mark.IsZero() || !e.Live) && fit(e.Epoch, e.Calls)
}

func plainEnd(e idem.End) bool {
	switch e.State {
	case idem.StateDone, idem.StateDead:
		if _, err := expiry(e.Window); err != nil || e.Window.UntilSuccessOf() != "" {
			return false
		}
	case idem.StateFailed, idem.StateUnknown:
	default:
		return false
	}
	return e.Mark.IsZero() && e.SupersededBy.IsZero()
}

// runBatch makes what is plain of the requests in one transaction.
func (s *Store) runBatch(ctx context.Context, requests []*request) {
	b := &batch{store: s, explicit: s.explicit.Load()}
	for _, r := range requests {
		b.add(r.Op)
	}
	err := b.run(ctx)
	for _, r := range requests {
		if err != nil || !r.Op.settled {
			// Whoever it was that failed finds out by himself.
			r.Err = errAlone
		}
	}
}

// A batch has no two claims of one owner, no effect and no work twice: in one
// statement it could not be said which came first.
type batch struct {
	store *Store
	// explicit: it begins a transaction, and does not take the connection's for granted.
	explicit bool

	claims map[string]*operation // by token
	starts map[effectRow]*operation
	moves  map[effectRow]*operation // of effects that have rows
	writes map[effectRow]*operation // of others
	ends   map[string]*operation    // by work

	order struct{ claims, starts, moves, writes, ends []*operation } // as they came
}

type effectRow struct {
	work string
	idem.EffectID
}

func (b *batch) add(op *operation) {
	switch {
	case op.claim != nil:
		keep(&b.claims, hexToken(op.claim.Token), op, &b.order.claims)
	case op.end != nil:
		keep(&b.ends, op.end.ID.String(), op, &b.order.ends)
	case op.effect.Restart:
		keep(&b.starts, rowOf(op.effect), op, &b.order.starts)
	case hasRow(op.effect):
		keep(&b.moves, rowOf(op.effect), op, &b.order.moves)
	default:
		keep(&b.writes, rowOf(op.effect), op, &b.order.writes)
	}
}

func rowOf(e *idem.EffectWrite) effectRow { return effectRow{e.ID.String(), e.EffectID} }

// hasRow tells whether an effect has a row already: what is called has one before.
func hasRow(e *idem.EffectWrite) bool { return e.Calls > 0 }

// all lists the operations.
func (b *batch) all() []*operation {
	return slices.Concat(b.order.claims, b.order.starts, b.order.moves, b.order.writes, b.order.ends)
}

func keep[K comparable](all *map[K]*operation, key K, op *operation, order *[]*operation) {
	if *all == nil {
		*all = make(map[K]*operation)
	}
	if _, twice := (*all)[key]; !twice {
		(*all)[key] = op
		*order = append(*order, op)
	}
}

func hexToken(t idem.Token) string { return hex.EncodeToString(t[:]) }

// run makes the writes of the batch, in one transaction and one round trip.
func (b *batch) run(ctx context.Context) (err error) {
	conn, giveBack, err := b.store.pool.take(ctx)
	if err != nil {
		return err
	}
	defer giveBack()
	all := b.all()
	q := &pipeline{}
	if b.explicit {
		q.exec(beginSQL)
	}
	if len(all) == 1 {
		b.queueOne(q, all[0])
	} else {
		b.queueSettings(q)
		b.queueClaims(q)
		stmts := &b.store.batch
		b.queueEffects(q, b.order.starts, b.starts, stmts.effect, true)
		b.queueEffects(q, b.order.writes, b.writes, stmts.effect, false)
		b.queueEffects(q, b.order.moves, b.moves, stmts.move)
		b.queueEnds(q)
	}
	if err := b.commit(ctx, conn, q); err != nil {
		return err
	}
	b.readStandings(ctx, conn)
	return nil
}

// commit sends the statements. What is sent together is a transaction of its own, which
// the end of it commits: one without a begin and a commit is shorter by a sixth. But it
// is as the connection's defaults have it, and where those are others than the ledger
// needs, the first batch fails and further ones begin their own.
func (b *batch) commit(ctx context.Context, conn *pgx.Conn, q *pipeline) error {
	if b.explicit {
		q.exec(`commit`)
	}
	// To leave in the middle of a commit is not to know what came of it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := q.send(ctx, conn); err != nil {
		if hasState(err, stateActiveTransaction, stateReadOnly) {
			b.store.explicit.Store(true)
		}
		return errors.Join(err, rollbackConn(ctx, conn))
	}
	if b.explicit && q.tag != "COMMIT" {
		return fmt.Errorf("the server answered a commit with %s", q.tag)
	}
	return nil
}

func (b *batch) queueSettings(q *pipeline) {
	stmts, synchronous := &b.store.batch, synchronous(b.all())
	if len(b.order.claims) == 0 {
		q.exec(stmts.settings, stmts.lockTimeout, stmts.timeout, synchronous)
		return
	}
	locks := make([]int64, len(b.order.claims))
	for i, op := range b.order.claims {
		locks[i] = nameLock(op.claim.ID)
	}
	q.exec(stmts.settingsNames, stmts.lockTimeout, stmts.timeout, synchronous, locks)
}

// synchronous is off for a batch of which all may lag: the next commit that waits for
// the disk takes it along. The only claims that a batch makes are of new work, so that
// none ends what nobody comes back for.
func synchronous(all []*operation) string {
	for _, op := range all {
		if !op.mayLag() {
			return "on"
		}
	}
	return "off"
}

func (op *operation) mayLag() bool {
	switch {
	case op.claim != nil:
		return op.claim.MayLag
	case op.effect != nil:
		return op.effect.MayLag
	}
	return false
}

func (op *operation) fence() idem.Fence {
	switch {
	case op.claim != nil:
		return op.claim.Fence
	case op.effect != nil:
		return op.effect.Fence
	}
	return op.end.Fence
}

const beginSQL = `begin isolation level read committed read write`

// rollbackConn ends a transaction that has failed, if its connection is still there.
func rollbackConn(ctx context.Context, conn *pgx.Conn) error {
	if conn.IsClosed() || conn.PgConn().TxStatus() == 'I' {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	_, err := conn.Exec(ctx, `rollback`)
	return err
}

func (b *batch) queueClaims(q *pipeline) {
	claims := b.order.claims
	if len(claims) == 0 {
		return
	}
	n := len(claims)
	var (
		ids, kinds, scopes, codecs = make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		shapes, releases, traces   = make([]string, n), make([]string, n), make([]string, n)
		versions, budgets          = make([]int32, n), make([]int32, n)
		tokens, payloads, hashes   = make([][]byte, n), make([][]byte, n), make([][]byte, n)
		leases                     = make([]int64, n)
	)
	for i, op := range claims {
		c := op.claim
		ids[i], kinds[i], scopes[i], codecs[i] = c.ID.String(), c.Kind, ledgersql.CleanText(c.Scope), c.Payload.Codec
		shapes[i], releases[i], traces[i] = c.PayloadShape, ledgersql.CleanText(c.Release), ledgersql.CleanText(c.CorrelationID)
		versions[i], budgets[i] = int32(c.Version), int32(c.Budget-1)
		tokens[i], payloads[i], hashes[i] = c.Token[:], bodyBytes(c.Payload), hashBytes(c.PayloadHash)
		leases[i] = toMicros(c.Lease)
	}
	q.query(b.claimed, b.store.batch.claim, ids, kinds, versions, scopes, tokens, budgets, codecs, payloads, hashes, shapes, leases, releases, traces)
}

// readStandings says where the work stands that claims did not get. What it cannot
// read is claimed alone.
func (b *batch) readStandings(ctx context.Context, conn *pgx.Conn) {
	var ids []string
	var tokens [][]byte
	for _, op := range b.order.claims {
		if !op.settled {
			ids, tokens = append(ids, op.claim.ID.String()), append(tokens, op.claim.Token[:])
		}
	}
	if len(ids) == 0 {
		return
	}
	q := &pipeline{}
	if b.explicit {
		q.exec(beginSQL)
	}
	q.exec(b.store.batch.settings, b.store.batch.lockTimeout, b.store.batch.timeout, "off") // it writes nothing
	q.query(b.stands, b.store.batch.stand, ids, tokens)
	_ = b.commit(ctx, conn, q)
}

// claimed reads a row of new work.
func (b *batch) claimed(row pgx.Rows) error {
	var token, id string
	var created, locked, now time.Time
	if err := row.Scan(&token, &id, &created, &locked, &now); err != nil {
		return err
	}
	op := b.claims[token]
	if op == nil {
		return fmt.Errorf("work_log: %s was claimed by nobody", id)
	}
	c := op.claim
	if now.Sub(created) > c.Lease/10 {
		return nil // it has waited for somebody: alone the claim is recognised, and gets its whole lease
	}
	work := idem.Work{
		Kind: c.Kind, Version: c.Version, Scope: ledgersql.CleanText(c.Scope), State: idem.StateRunning, Token: c.Token,
		Attempt: 1, BudgetLeft: c.Budget - 1,
		Payload: loadBody(c.Payload.Codec, c.Payload.Data), PayloadHash: c.PayloadHash, PayloadShape: c.PayloadShape,
		LockedUntil: locked.UTC(), CreatedAt: created.UTC(), Now: now.UTC(),
	}
	var err error
	if work.ID, err = idem.ParseWorkID(id); err != nil {
		return fmt.Errorf("work_log: %w", err)
	}
	op.claimed, op.settled = idem.Claimed{Won: true, Work: work}, true
	return nil
}

// stands reads a row of work that a claim did not get.
func (b *batch) stands(row pgx.Rows) error {
	var token string
	work, _, err := scanWork(first{row, &token})
	if err != nil {
		return err
	}
	if op := b.claims[token]; op != nil && !op.settled {
		op.claimed, op.settled = idem.Claimed{Work: work}, true
	}
	return nil
}

// first is a row with a text before the columns that scanWork reads.
type first struct {
	row  scanner
	text *string
}

func (f first) Scan(dest ...any) error { return f.row.Scan(append([]any{f.text}, dest...)...) }

func (b *batch) queueEffects(q *pipeline, effects []*operation, byRow map[effectRow]*operation, text string, more ...any) {
	if len(effects) == 0 {
		return
	}
	n := len(effects)
	var (
		ids, names, pers, guards, states, keys = make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		inCodecs, outCodecs, refs              = make([]string, n), make([]string, n), make([]string, n)
		texts, shapes                          = make([]string, n), make([]string, n)
		tokens, hashes, inputs, results        = make([][]byte, n), make([][]byte, n), make([][]byte, n), make([][]byte, n)
		epochs, calls                          = make([]int32, n), make([]int32, n)
		live                                   = make([]bool, n)
		visible                                = make([]int64, n)
	)
	for i, op := range effects {
		e := op.effect
		ids[i], names[i], pers[i], guards[i], states[i], keys[i] = e.ID.String(), e.Name, e.Per, string(e.Guard), string(e.State), e.Key
		inCodecs[i], outCodecs[i], refs[i] = e.Input.Codec, e.Result.Codec, ledgersql.CleanText(e.ExternalRef)
		texts[i], shapes[i] = ledgersql.CleanError(e.Error), e.PayloadShape
		tokens[i], hashes[i], inputs[i], results[i] = e.Token[:], hashBytes(e.PayloadHash), bodyBytes(e.Input), bodyBytes(e.Result)
		epochs[i], calls[i], live[i], visible[i] = int32(e.Epoch), int32(e.Calls), e.Live, toMicros(e.VisibleAfter)
	}
	q.query(effectsWritten(byRow), text, append([]any{ids, tokens, names, pers, guards, states, keys, epochs, hashes,
		inCodecs, inputs, outCodecs, results, refs, live, visible, texts, shapes, calls}, more...)...)
}

// effectsWritten reads a row of an effect that was written.
func effectsWritten(byRow map[effectRow]*operation) func(row pgx.Rows) error {
	return func(row pgx.Rows) error {
		var at effectRow
		var started time.Time
		if err := row.Scan(&at.work, &at.Name, &at.Per, &started); err != nil {
			return err
		}
		op := byRow[at]
		if op == nil {
			return fmt.Errorf("effect_log: %s of %s was written by nobody", at.Name, at.work)
		}
		op.written, op.settled = idem.EffectWritten{StartedAt: started.UTC()}, true
		return nil
	}
}

func (b *batch) queueEnds(q *pipeline) {
	if len(b.order.ends) == 0 {
		return
	}
	n := len(b.order.ends)
	var (
		ids, states, codecs, refs = make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		classes, texts, outcomes  = make([]string, n), make([]string, n), make([]string, n)
		tokens, bodies            = make([][]byte, n), make([][]byte, n)
		retries, windows          = make([]*int64, n), make([]*int64, n)
		refunds                   = make([]int32, n)
	)
	for i, op := range b.order.ends {
		e := op.end
		ids[i], states[i], codecs[i], refs[i] = e.ID.String(), string(e.State), e.Result.Codec, ledgersql.CleanText(e.ExternalRef)
		classes[i], texts[i] = string(e.Class), ledgersql.CleanError(e.Error)
		tokens[i], bodies[i] = e.Token[:], bodyBytes(e.Result)
		retries[i], windows[i], refunds[i], outcomes[i] = endTimes(e)
	}
	q.query(b.ended, b.store.batch.end, ids, tokens, states, codecs, bodies, refs, classes, texts, retries, windows, refunds, outcomes)
}

// endTimes are, of a plain end, when the work is due, how long it is remembered, what
// it gives back to the budget, and what its attempt has come to.
func endTimes(e *idem.End) (retryIn, window *int64, refund int32, outcome string) {
	if e.State == idem.StateFailed {
		in := toMicros(e.RetryIn)
		retryIn = &in
	}
	if d, forever := e.Window.Duration(); !forever && (e.State == idem.StateDone || e.State == idem.StateDead) {
		in := toMicros(d)
		window = &in
	}
	if e.Refund {
		return retryIn, window, 1, "released"
	}
	return retryIn, window, 0, string(e.State)
}

// ended reads a row of work that has ended.
func (b *batch) ended(row pgx.Rows) error {
	var id string
	var ended idem.Ended
	var next *time.Time
	if err := row.Scan(&id, &next); err != nil {
		return err
	}
	op := b.ends[id]
	if op == nil {
		return fmt.Errorf("work_log: %s was ended by nobody", id)
	}
	ended.NextAttemptAt = loadTime(next)
	op.ended, op.settled = ended, true
	return nil
}

// queueOne makes the one operation of a batch: with the same statements less what
// makes lists of them.
func (b *batch) queueOne(q *pipeline, op *operation) {
	stmts, sync := &b.store.batch, synchronous([]*operation{op})
	switch {
	case op.claim != nil:
		c := op.claim
		q.exec(stmts.settingsName, stmts.lockTimeout, stmts.timeout, sync, nameLock(c.ID))
		q.query(b.claimed, stmts.claimOne, c.ID.String(), c.Kind, c.Version, ledgersql.CleanText(c.Scope), c.Token[:], c.Budget-1,
			c.Payload.Codec, storeBody(c.Payload), storeHash(c.PayloadHash), c.PayloadShape,
			toMicros(c.Lease), ledgersql.CleanText(c.Release), ledgersql.CleanText(c.CorrelationID))
	case op.end != nil:
		e := op.end
		q.exec(stmts.settings, stmts.brief, stmts.timeout, sync)
		retryIn, window, refund, outcome := endTimes(e)
		q.query(b.ended, stmts.endOne, e.ID.String(), e.Token[:], string(e.State), e.Result.Codec, storeBody(e.Result), ledgersql.CleanText(e.ExternalRef),
			string(e.Class), ledgersql.CleanError(e.Error), retryIn, window, refund, outcome)
	default:
		q.exec(stmts.settings, stmts.lockTimeout, stmts.timeout, sync)
		switch args := moveArgs(op.effect); {
		case op.effect.Restart:
			q.query(effectsWritten(b.starts), stmts.effectOne, append(args, true)...)
		case hasRow(op.effect):
			q.query(effectsWritten(b.moves), stmts.moveOne, args...)
		default:
			q.query(effectsWritten(b.writes), stmts.effectOne, append(args, false)...)
		}
	}
}

// bodyBytes is storeBody for an array.
func bodyBytes(b idem.Body) []byte {
	data, _ := storeBody(b).([]byte)
	return data
}

func hashBytes(h idem.Hash) []byte {
	data, _ := storeHash(h).([]byte)
	return data
}

// A pipeline is statements that are sent in one round trip, with what reads their
// rows. tag is what the server said of the last one.
type pipeline struct {
	batch pgx.Batch
	read  []func(row pgx.Rows) error
	tag   string
}

func (p *pipeline) exec(text string, args ...any) { p.query(nil, text, args...) }

func (p *pipeline) query(read func(row pgx.Rows) error, text string, args ...any) {
	p.batch.Queue(text, args...)
	p.read = append(p.read, read)
}

func (p *pipeline) send(ctx context.Context, conn *pgx.Conn) (err error) {
	results := conn.SendBatch(ctx, &p.batch)
	defer func() { err = errors.Join(err, results.Close()) }()
	for _, read := range p.read {
		rows, err := results.Query()
		if err != nil {
			return err
		}
		for err == nil && rows.Next() {
			if read != nil {
				err = read(rows)
			}
		}
		rows.Close()
		if err = errors.Join(err, rows.Err()); err != nil {
			return err
		}
		p.tag = rows.CommandTag().String()
	}
	return nil
}
