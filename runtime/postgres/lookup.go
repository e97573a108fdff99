package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/internal/coalesce"
)

// maxReads is how many readings of several pieces of work are under way at once.
const maxReads = 2

// readManySQL is readSQL for several IDs. The limit keeps each a look into the index.
const readManySQL = `
SELECT c.id, work.*
FROM unnest($1::text[]) AS c (id)
CROSS JOIN LATERAL (
	SELECT ` + workColumns + `, clock_timestamp(), work_log.state = 'done' AND ` + windowOver + `
	FROM idem.work_log
	WHERE work_id = coalesce((SELECT leads_to FROM idem.work_alias WHERE work_alias.work_id = c.id), c.id)
	LIMIT 1
) AS work`

// reading is one piece of work that somebody wants to see.
type reading struct {
	id   idem.WorkID
	work idem.Work
}

func (s *Store) newReads() *coalesce.Queue[*reading] {
	turns := make(chan struct{}, maxReads)
	return coalesce.New(coalesce.Config[*reading]{
		Turn: func(<-chan struct{}) func() {
			turns <- struct{}{}
			return func() { <-turns }
		},
		Run:      s.readMany,
		MaxBatch: maxBatch, MaxWaiting: maxWaiting,
	})
}

// Lookup reads one piece of work: see [idem.Store]. Those that come at once are one
// statement, which waits for nobody.
func (s *Store) Lookup(ctx context.Context, id idem.WorkID) (idem.Work, error) {
	r := &reading{id: id}
	err := s.reads.Do(ctx, r, false)
	switch {
	case err == nil:
		return r.work, nil
	case s.closed.Load(), errors.Is(err, coalesce.ErrClosed):
		return idem.Work{}, fmt.Errorf("postgres: lookup: %w", idem.ErrClosed)
	}
	return idem.Work{}, s.wrap(ctx, "lookup", err)
}

// LookupAll reads several pieces of work, in one statement: see [idem.Store].
func (s *Store) LookupAll(ctx context.Context, ids []idem.WorkID) ([]idem.Work, error) {
	if s.closed.Load() {
		return nil, fmt.Errorf("postgres: lookup: %w", idem.ErrClosed)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	wanted := make(map[string][]*reading, len(ids))
	readings := make([]reading, len(ids))
	for i, id := range ids {
		wanted[id.String()] = append(wanted[id.String()], &readings[i])
	}
	if err := s.scanMany(ctx, wanted); err != nil {
		return nil, s.wrap(ctx, "lookup", err)
	}
	works := make([]idem.Work, len(ids))
	for i, r := range readings {
		works[i] = r.work
	}
	return works, nil
}

func (s *Store) readMany(ctx context.Context, requests []*coalesce.Request[*reading]) {
	wanted := make(map[string][]*reading, len(requests))
	for _, r := range requests {
		wanted[r.Op.id.String()] = append(wanted[r.Op.id.String()], r.Op)
	}
	err := s.scanMany(ctx, wanted)
	for _, r := range requests {
		r.Err = err
	}
}

// readSettingsSQL has a reading planned once, as those of writes are: see settings.
const readSettingsSQL = `SELECT ` + planSettings

// scanMany reads what is wanted by the IDs, each of them once.
func (s *Store) scanMany(ctx context.Context, wanted map[string][]*reading) error {
	conn, giveBack, err := s.pool.take(ctx)
	if err != nil {
		return err
	}
	defer giveBack()
	q := &pipeline{}
	q.exec(readSettingsSQL) // for the transaction that statements sent together are
	give := func(id string, work idem.Work, forgotten bool, err error) error {
		for _, r := range wanted[id] {
			if err == nil && !forgotten {
				r.work = work
			}
		}
		return err
	}
	ids := slices.Collect(maps.Keys(wanted))
	if len(ids) == 1 {
		q.query(func(row pgx.Rows) error {
			work, forgotten, err := scanWork(row)
			return give(ids[0], work, forgotten, err)
		}, s.stmts.read, ids[0])
	} else {
		q.query(func(row pgx.Rows) error {
			var id string
			work, forgotten, err := scanWork(first{row, &id})
			return give(id, work, forgotten, err)
		}, s.batch.read, ids)
	}
	return q.send(ctx, conn)
}
