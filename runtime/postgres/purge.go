package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
)

// A purge waits for nobody, so that nobody waits for it in a circle: it takes the
// locks that are free, and leaves work of which it does not get them all.

// expiredSQL reads the time once, or the indexes would be read to their ends. It
// merges two lists that are in order already.
const expiredSQL = `
SELECT work_id FROM (
	SELECT work_id, expires_at FROM idem.work_log
	WHERE state = 'done' AND expires_at IS NOT NULL AND expires_at <= (SELECT clock_timestamp()) AND ` + succeeded + `
	UNION ALL
	SELECT work_id, expires_at FROM idem.work_log
	WHERE acknowledged_at IS NOT NULL AND expires_at <= (SELECT clock_timestamp()) AND ` + succeeded + `
) AS work ORDER BY expires_at LIMIT $1::integer`

// lockExpiredSQL decides. Only dead work is acknowledged.
const lockExpiredSQL = `
SELECT work_id, until_success_of, scope FROM idem.work_log
WHERE work_id = ANY ($1::text[]) AND (state = 'done' OR acknowledged_at IS NOT NULL) AND ` + windowOver + `
FOR UPDATE SKIP LOCKED`

const lockFamilySQL = `SELECT work_id FROM idem.work_log WHERE work_id = ANY ($1::text[]) FOR UPDATE SKIP LOCKED`

// existingSQL sees the rows that lockFamilySQL has skipped.
const existingSQL = `SELECT work_id FROM idem.work_log WHERE work_id = ANY ($1::text[])`

const familySQL = `
SELECT e.work_id, coalesce(a.leads_to, e.effect_key)
FROM idem.effect_log AS e LEFT JOIN idem.work_alias AS a ON a.work_id = e.effect_key
WHERE e.work_id = ANY ($1::text[]) AND e.guard = 'work'`

// namesOfSQL lists the other names of work, and the series that it has raised.
const (
	namesOfSQL = `SELECT leads_to, work_id FROM idem.work_alias WHERE leads_to = ANY ($1::text[])`
	marksOfSQL = `SELECT work_id, encode(series, 'hex') FROM idem.latest_log WHERE work_id = ANY ($1::text[])`
)

const tryLocksSQL = `SELECT pg_try_advisory_xact_lock(l) FROM unnest($1::bigint[]) WITH ORDINALITY AS t (l, place) ORDER BY place`

const (
	purgeEffectsSQL  = `DELETE FROM idem.effect_log WHERE work_id = ANY ($1::text[])`
	purgeAttemptsSQL = `DELETE FROM idem.attempt_history WHERE work_id = ANY ($1::text[])`
	purgeAliasesSQL  = `DELETE FROM idem.work_alias WHERE leads_to = ANY ($1::text[])`
	purgeMarksSQL    = `DELETE FROM idem.latest_log WHERE work_id = ANY ($1::text[])`
	purgeWorkSQL     = `
WITH gone AS (DELETE FROM idem.work_log WHERE work_id = ANY ($1::text[]) RETURNING attempt)
SELECT count(*), count(*) FILTER (WHERE attempt > 0) FROM gone`
)

// purgeKindsSQL deletes the kinds that nobody waits for. What waits for a success of
// one scope waits for that of none as well.
const purgeKindsSQL = `
WITH free AS (
	SELECT s.kind, s.scope FROM idem.success_log AS s JOIN unnest($1::text[], $2::text[]) AS gone (kind, scope) ON s.kind = gone.kind AND s.scope = gone.scope
	WHERE CASE s.scope
		WHEN '' THEN NOT EXISTS (SELECT 1 FROM idem.work_log WHERE until_success_of <> '' AND until_success_of = s.kind)
		ELSE NOT EXISTS (SELECT 1 FROM idem.work_log WHERE until_success_of <> '' AND until_success_of = s.kind AND work_log.scope = s.scope) END
	FOR UPDATE OF s SKIP LOCKED
)
DELETE FROM idem.success_log AS s USING free WHERE s.kind = free.kind AND s.scope = free.scope`

// purgeMessagesSQL leaves what is being sent until it is known whether it was: its
// end has a row to be written to. It counts, since an EXISTS would be answered from
// a hash of all effects.
const purgeMessagesSQL = `
WITH gone AS (
	SELECT channel, chat_id, content_hash FROM idem.sent_messages AS m
	WHERE expires_at <= (SELECT clock_timestamp()) AND (state <> 'sending' OR 0 = (
		SELECT count(*) FROM idem.effect_log AS e
		WHERE e.work_id = m.work_id AND e.effect_key = m.effect_key AND e.state IN ('started', 'unknown')))
	ORDER BY expires_at LIMIT $1::integer
	FOR UPDATE SKIP LOCKED
)
DELETE FROM idem.sent_messages AS m USING gone
WHERE m.channel = gone.channel AND m.chat_id = gone.chat_id AND m.content_hash = gone.content_hash`

// placesSQL lists the series that a transaction has entered and nobody has raised.
const placesSQL = `SELECT encode(series, 'hex') FROM idem.latest_log WHERE work_id = '' LIMIT $1::integer`

const purgePlacesSQL = `
DELETE FROM idem.latest_log USING unnest($1::text[]) AS free (series)
WHERE latest_log.series = decode(free.series, 'hex') AND work_id = ''`

// Expired lists work that may be deleted: see [idem.Store].
func (s *Store) Expired(ctx context.Context, limit int) ([]idem.WorkID, error) {
	if s.closed.Load() {
		return nil, fmt.Errorf("postgres: purge: %w", idem.ErrClosed)
	}
	rows, err := s.pool.Query(ctx, s.stmts.expired, limit)
	if err != nil {
		return nil, s.wrap(ctx, "purge", err)
	}
	ids, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (idem.WorkID, error) {
		var id string
		if err := row.Scan(&id); err != nil {
			return idem.WorkID{}, err
		}
		return idem.ParseWorkID(id)
	})
	return ids, s.wrap(ctx, "purge", err)
}

// Purge deletes work that nobody remembers: see [idem.Store].
func (s *Store) Purge(ctx context.Context, ids []idem.WorkID) (idem.Purged, error) {
	if len(ids) == 0 {
		return idem.Purged{}, nil
	}
	return write(ctx, s, "purge", func(ctx context.Context, w *writer) (idem.Purged, error) { return w.purge(ctx, ids) })
}

// PurgeMemory deletes messages whose time is over: see [idem.Store].
func (s *Store) PurgeMemory(ctx context.Context, limit int) (idem.Purged, error) {
	return write(ctx, s, "purge", func(ctx context.Context, w *writer) (purged idem.Purged, err error) {
		if purged.Marks, err = w.purgePlaces(ctx, limit); err != nil {
			return idem.Purged{}, err
		}
		purged.Messages, err = w.count(ctx, call{s.stmts.purgeMessages, []any{limit}})
		return purged, err
	})
}

func (w *writer) purge(ctx context.Context, ids []idem.WorkID) (purged idem.Purged, err error) {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.String()
	}
	g := going{w: w, root: map[string]string{}, kept: map[string]bool{}, locks: map[int64][]string{}}
	waited, err := g.lockRoots(ctx, names)
	if err != nil || len(g.root) == 0 {
		return idem.Purged{}, err
	}
	for _, step := range []func(context.Context) error{g.lockFamilies, g.findLocks, g.takeLocks} {
		if err := step(ctx); err != nil {
			return idem.Purged{}, err
		}
	}
	gone := []any{g.rows()}
	for _, part := range []struct {
		count *int
		text  string
	}{
		{&purged.Effects, w.store.stmts.purgeEffects},
		{&purged.Attempts, w.store.stmts.purgeAttempts},
		{&purged.Aliases, w.store.stmts.purgeAliases},
		{&purged.Marks, w.store.stmts.purgeMarks},
	} {
		if *part.count, err = w.count(ctx, call{part.text, gone}); err != nil {
			return idem.Purged{}, err
		}
	}
	var latest int // attempts, which are in the works' own rows
	if err := w.tx.QueryRow(ctx, w.store.stmts.purgeWork, gone...).Scan(&purged.Work, &latest); err != nil {
		return idem.Purged{}, err
	}
	purged.Attempts += latest
	purged.Kinds, err = w.purgeKinds(ctx, waited)
	return purged, err
}

// going is the work that a purge is about to delete.
type going struct {
	w *writer
	// root is the work because of which a row goes: itself, or that which it is a
	// child of.
	root map[string]string
	// kept are the roots that stay, for somebody else has locked something of them.
	kept map[string]bool
	// locks are the numbers to be locked, each with the roots that need it.
	locks map[int64][]string
}

// rows are those that go.
func (g *going) rows() []string {
	rows := []string{} // an array without an element, not null
	for row, root := range g.root {
		if !g.kept[root] {
			rows = append(rows, row)
		}
	}
	slices.Sort(rows)
	return rows
}

// waitedFor is what work has waited for.
type waitedFor struct{ kind, scope string }

// lockRoots decides which of the rows may go, by locking them.
func (g *going) lockRoots(ctx context.Context, ids []string) (map[waitedFor]bool, error) {
	waited := map[waitedFor]bool{}
	rows, err := g.w.tx.Query(ctx, g.w.store.stmts.lockExpired, ids)
	if err != nil {
		return nil, err
	}
	var id string
	var f waitedFor
	_, err = pgx.ForEachRow(rows, []any{&id, &f.kind, &f.scope}, func() error {
		g.root[id] = id
		if f.kind != "" {
			waited[f] = true
			waited[waitedFor{kind: f.kind}] = true
		}
		return nil
	})
	return waited, err
}

// lockFamilies adds the children, generation by generation.
func (g *going) lockFamilies(ctx context.Context) error {
	for parents := g.rows(); len(parents) > 0; {
		children := map[string]string{} // and their roots
		err := g.w.pairs(ctx, g.w.store.stmts.family, parents, func(parent, child string) {
			if g.root[child] == "" {
				children[child] = g.root[parent]
			}
		})
		if err != nil || len(children) == 0 {
			return err
		}
		parents = slices.Sorted(maps.Keys(children))
		locked, err := g.w.texts(ctx, g.w.store.stmts.lockFamily, parents)
		if err != nil {
			return err
		}
		there, err := g.w.texts(ctx, g.w.store.stmts.existing, parents)
		if err != nil {
			return err
		}
		for _, row := range there {
			if slices.Contains(locked, row) {
				g.root[row] = children[row]
			} else {
				g.kept[children[row]] = true
			}
		}
		parents = locked
	}
	return nil
}

// findLocks lists what else somebody may be working with: names that lead to the
// rows, and series that they have raised. Names are given to rows that are locked,
// so that from now on there are no new ones.
func (g *going) findLocks(ctx context.Context) error {
	need := func(lock int64, row string) { g.locks[lock] = append(g.locks[lock], g.root[row]) }
	err := g.w.pairs(ctx, g.w.store.stmts.namesOf, g.rows(), func(row, name string) {
		for _, id := range []string{row, name} {
			need(lockOf(id), row)
		}
	})
	if err != nil {
		return err
	}
	return g.w.pairs(ctx, g.w.store.stmts.marksOf, g.rows(), func(row, series string) { need(lockOf(series), row) })
}

func (g *going) takeLocks(ctx context.Context) error {
	locks := slices.Sorted(maps.Keys(g.locks))
	taken, err := g.w.tryLocks(ctx, locks)
	if err != nil {
		return err
	}
	for i, lock := range locks {
		if !taken[i] {
			for _, root := range g.locks[lock] {
				g.kept[root] = true
			}
		}
	}
	return nil
}

// tryLocks takes those of the locks that nobody has.
func (w *writer) tryLocks(ctx context.Context, locks []int64) ([]bool, error) {
	if len(locks) == 0 {
		return nil, nil
	}
	rows, err := w.tx.Query(ctx, w.store.stmts.tryLocks, locks)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[bool])
}

// purgeKinds deletes the kinds that nobody waits for any more.
func (w *writer) purgeKinds(ctx context.Context, waited map[waitedFor]bool) (int, error) {
	var of []waitedFor
	var locks []int64
	for f := range waited {
		of, locks = append(of, f), append(locks, kindLock(f.kind))
	}
	taken, err := w.tryLocks(ctx, locks)
	if err != nil {
		return 0, err
	}
	var kinds, scopes []string
	for i, f := range of {
		if taken[i] {
			kinds, scopes = append(kinds, f.kind), append(scopes, f.scope)
		}
	}
	if len(kinds) == 0 {
		return 0, nil
	}
	return w.count(ctx, call{w.store.stmts.purgeKinds, []any{kinds, scopes}})
}

func (w *writer) purgePlaces(ctx context.Context, limit int) (int, error) {
	rows, err := w.tx.Query(ctx, w.store.stmts.places, limit)
	if err != nil {
		return 0, err
	}
	places, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(places) == 0 {
		return 0, err
	}
	locks := make([]int64, len(places))
	for i, series := range places {
		locks[i] = lockOf(series)
	}
	taken, err := w.tryLocks(ctx, locks)
	if err != nil {
		return 0, err
	}
	free := []string{}
	for i, series := range places {
		if taken[i] {
			free = append(free, series)
		}
	}
	return w.count(ctx, call{w.store.stmts.purgePlaces, []any{free}})
}

// lockOf is the number by which a name or a series is locked, from its hexadecimal
// digits: see nameLock.
func lockOf(digits string) int64 {
	b, err := hex.DecodeString(digits[:16])
	if err != nil {
		panic("neither a name nor a series: " + err.Error())
	}
	return int64(binary.BigEndian.Uint64(b))
}

func seriesLock(series idem.Hash) int64 { return int64(binary.BigEndian.Uint64(series[:8])) }

// kindLock is the number by which a kind is locked that work waits for.
func kindLock(kind string) int64 {
	sum := sha256.Sum256([]byte("success of:" + kind))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// watch makes the rows of the kind that ended work waits for. The lock keeps them
// there: nobody sees yet that this work waits.
func (w *writer) watch(id idem.WorkID, window idem.Window) []call {
	return []call{
		{w.store.stmts.nameShared, []any{kindLock(window.UntilSuccessOf())}},
		{w.store.stmts.watch, []any{id.String()}},
	}
}

// pairs reads rows of two texts each.
func (w *writer) pairs(ctx context.Context, text string, ids []string, each func(a, b string)) error {
	rows, err := w.tx.Query(ctx, text, ids)
	if err != nil {
		return err
	}
	var a, b string
	_, err = pgx.ForEachRow(rows, []any{&a, &b}, func() error {
		each(a, b)
		return nil
	})
	return err
}

func (w *writer) texts(ctx context.Context, text string, ids []string) ([]string, error) {
	rows, err := w.tx.Query(ctx, text, ids)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// count makes a statement and returns how many rows it has changed.
func (w *writer) count(ctx context.Context, c call) (int, error) {
	tag, err := w.tx.Exec(ctx, c.text, c.args...)
	return int(tag.RowsAffected()), err
}
