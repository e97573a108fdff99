package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	return err == nil && len(c.Predecessors) == 0 && c.Mark.IsZero() && !c.ID.IsZero() && c.Lease > 0 && c.Budget > 0
}

func plainEffect(e idem.EffectWrite) bool {
	return e.Message == nil && (e.Mark.IsZero() || !e.Live)
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
	b := &batch{store: s}
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
	store  *Store
	claims map[string]*operation // by token
	starts map[effectRow]*operation
	moves  map[effectRow]*operation
	ends   map[string]*operation // by work

	order struct{ claims, starts, moves, ends []*operation } // as they came
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
		keep(&b.starts, effectRow{op.effect.ID.String(), op.effect.EffectID}, op, &b.order.starts)
	default:
		keep(&b.moves, effectRow{op.effect.ID.String(), op.effect.EffectID}, op, &b.order.moves)
	}
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

// run makes the writes of the batch, in one transaction.
func (b *batch) run(ctx context.Context) (err error) {
	conn, giveBack, err := b.store.pool.take(ctx)
	if err != nil {
		return err
	}
	defer giveBack()
	q := &pipeline{}
	q.exec(beginSQL)
	q.exec(settingsSQL, b.store.batch.lockTimeout, b.store.batch.timeout, b.synchronous())
	if len(b.order.claims) > 0 {
		free, err := b.freeNames(ctx, conn, q)
		if err != nil {
			return errors.Join(err, rollbackConn(ctx, conn))
		}
		q = &pipeline{}
		b.queueClaims(q, free)
	}
	b.queueEffects(q, b.order.starts, b.starts, true)
	b.queueEffects(q, b.order.moves, b.moves, false)
	b.queueEnds(q)
	q.exec(`commit`)
	// To leave in the middle of a commit is not to know what came of it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := q.send(ctx, conn); err != nil {
		return errors.Join(err, rollbackConn(ctx, conn))
	}
	if q.tag != "COMMIT" {
		return fmt.Errorf("the server answered a commit with %s", q.tag)
	}
	return nil
}

// synchronous is off for a batch of which all may lag: the next commit that waits for
// the disk takes it along. The only claims that a batch makes are of new work, so that
// none ends what nobody comes back for.
func (b *batch) synchronous() string {
	for _, op := range slices.Concat(b.order.claims, b.order.starts, b.order.moves, b.order.ends) {
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

// freeNames begins the transaction, and returns the claims whose names nobody keeps
// others away from.
func (b *batch) freeNames(ctx context.Context, conn *pgx.Conn, q *pipeline) (free []*operation, err error) {
	ids := make([]string, len(b.order.claims))
	locks := make([]int64, len(b.order.claims))
	for i, op := range b.order.claims {
		ids[i], locks[i] = op.claim.ID.String(), nameLock(op.claim.ID)
	}
	names := make(map[string]bool, len(ids))
	q.query(func(row pgx.Rows) error {
		var id string
		err := row.Scan(&id)
		names[id] = true
		return err
	}, b.store.batch.tryNames, ids, locks)
	if err := q.send(ctx, conn); err != nil {
		return nil, err
	}
	for _, op := range b.order.claims {
		if names[op.claim.ID.String()] {
			free = append(free, op)
		}
	}
	return free, nil
}

func (b *batch) queueClaims(q *pipeline, claims []*operation) {
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
	q.query(b.stands, b.store.batch.stand, ids, tokens)
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

func (b *batch) queueEffects(q *pipeline, effects []*operation, byRow map[effectRow]*operation, starts bool) {
	if len(effects) == 0 {
		return
	}
	n := len(effects)
	var (
		ids, names, pers, guards, states, keys = make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		inCodecs, outCodecs, refs              = make([]string, n), make([]string, n), make([]string, n)
		texts, shapes                          = make([]string, n), make([]string, n)
		tokens, hashes, inputs, results        = make([][]byte, n), make([][]byte, n), make([][]byte, n), make([][]byte, n)
		epochs, calls, places                  = make([]int32, n), make([]int32, n), make([]int32, n)
		live                                   = make([]bool, n)
		visible                                = make([]int64, n)
	)
	for i, op := range effects {
		e := op.effect
		ids[i], names[i], pers[i], guards[i], states[i], keys[i] = e.ID.String(), e.Name, e.Per, string(e.Guard), string(e.State), e.Key
		inCodecs[i], outCodecs[i], refs[i] = e.Input.Codec, e.Result.Codec, ledgersql.CleanText(e.ExternalRef)
		texts[i], shapes[i] = ledgersql.CleanError(e.Error), e.PayloadShape
		tokens[i], hashes[i], inputs[i], results[i] = e.Token[:], hashBytes(e.PayloadHash), bodyBytes(e.Input), bodyBytes(e.Result)
		epochs[i], calls[i], places[i], live[i], visible[i] = int32(e.Epoch), int32(e.Calls), int32(i), e.Live, toMicros(e.VisibleAfter)
	}
	q.query(func(row pgx.Rows) error {
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
	}, b.store.batch.effect, ids, tokens, names, pers, guards, states, keys, epochs, hashes,
		inCodecs, inputs, outCodecs, results, refs, live, texts, shapes, calls, visible, places, starts)
}

func (b *batch) queueEnds(q *pipeline) {
	if len(b.order.ends) == 0 {
		return
	}
	n := len(b.order.ends)
	var (
		ids, states, codecs, refs = make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		classes, texts            = make([]string, n), make([]string, n)
		newer, outcomes           = make([]string, n), make([]string, n)
		tokens, bodies            = make([][]byte, n), make([][]byte, n)
		retries, windows          = make([]*int64, n), make([]*int64, n)
		refunds                   = make([]int32, n)
	)
	for i, op := range b.order.ends {
		e := op.end
		ids[i], states[i], codecs[i], refs[i] = e.ID.String(), string(e.State), e.Result.Codec, ledgersql.CleanText(e.ExternalRef)
		classes[i], texts[i], outcomes[i] = string(e.Class), ledgersql.CleanError(e.Error), string(e.State)
		tokens[i], bodies[i] = e.Token[:], bodyBytes(e.Result)
		if e.State == idem.StateFailed {
			in := toMicros(e.RetryIn)
			retries[i] = &in
		}
		if d, forever := e.Window.Duration(); !forever && (e.State == idem.StateDone || e.State == idem.StateDead) {
			in := toMicros(d)
			windows[i] = &in
		}
		if e.Refund {
			refunds[i], outcomes[i] = 1, "released"
		}
	}
	q.query(func(row pgx.Rows) error {
		var id string
		var ended idem.Ended
		var next *time.Time
		var attempt, budget int
		if err := row.Scan(&id, &attempt, &budget, &next); err != nil {
			return err
		}
		op := b.ends[id]
		if op == nil {
			return fmt.Errorf("work_log: %s was ended by nobody", id)
		}
		ended.NextAttemptAt = loadTime(next)
		op.ended, op.settled = ended, true
		return nil
	}, b.store.batch.end, ids, tokens, states, codecs, bodies, refs, classes, texts, retries, windows, refunds, newer, outcomes)
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

func newBatchStatements(o *options) batchStatements {
	lock, statement := o.timeouts()
	return batchStatements{
		tryNames: o.sql(tryNamesSQL), claim: o.sql(claimManySQL), stand: o.sql(standManySQL),
		effect: o.sql(effectManySQL), end: o.sql(endManySQL), read: o.sql(readManySQL),
		lockTimeout: strconv.FormatInt(lock, 10), timeout: strconv.FormatInt(statement, 10),
	}
}
