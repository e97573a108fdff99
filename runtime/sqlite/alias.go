package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	idem "github.com/idemgen/idem/runtime"
)

// aliased is the ID of the row that ?1 stands for.
const aliased = `coalesce((SELECT leads_to FROM work_alias WHERE work_alias.work_id = ?1), ?1)`

// standingsSQL tells where IDs lead, in the order of a JSON array of them.
const standingsSQL = `
SELECT coalesce(a.leads_to, given.value), a.leads_to IS NOT NULL,
	CASE WHEN work_log.state = 'done' AND ` + windowOver + `?2 THEN 0 ELSE coalesce(work_log.version, 0) END
FROM json_each(?1) AS given
LEFT JOIN work_alias AS a ON a.work_id = given.value
LEFT JOIN work_log ` + byWork + ` ON work_log.work_id = coalesce(a.leads_to, given.value)
ORDER BY given.key`

// forgetAliasesSQL is for a row that begins a new life: other work may begin
// one of its own. The ID under which the row is claimed still leads there.
const forgetAliasesSQL = `DELETE FROM work_alias WHERE leads_to = ?1 AND work_id <> ?2`

// recordAliasSQL and dropAliasesSQL keep every alias one step long: what leads to
// an ID that leads on from now on led to a row whose window is over.
const (
	recordAliasSQL = `
INSERT INTO work_alias (work_id, leads_to, created_at) VALUES (?1, ?2, ?3)
ON CONFLICT (work_id) DO UPDATE SET leads_to = excluded.leads_to, created_at = excluded.created_at`
	dropAliasesSQL = `DELETE FROM work_alias WHERE leads_to = ?1`
	freeSQL        = `DELETE FROM work_alias WHERE work_id = ?1`
)

// place finds the row that a claim with predecessors is made on.
func (w *writer) place(ctx context.Context, c *idem.Claim, now int64) (place idem.Place, err error) {
	for _, p := range c.Predecessors {
		if p.ID.IsZero() || p.ID == c.ID || p.Version <= 0 || p.Version >= c.Version {
			return place, invalid("version %d of the work %s cannot come before version %d of %s", p.Version, p.ID, c.Version, c.ID)
		}
	}
	known, err := w.standings(ctx, c.IDs(), now)
	if err != nil {
		return place, err
	}
	if place, err = c.Place(known); err != nil {
		return place, err
	}
	if place.Freed {
		err = w.exec(ctx, &w.store.stmts.free, place.Row.String())
	}
	return place, err
}

func (w *writer) standings(ctx context.Context, ids []idem.WorkID, now int64) (known []idem.Standing, err error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("work IDs: %w", err)
	}
	err = w.each(ctx, &w.store.stmts.standings, func(r scanner) error {
		var s idem.Standing
		var row string
		if err := r.Scan(&row, &s.Aliased, &s.Version); err != nil {
			return err
		}
		if s.Row, err = idem.ParseWorkID(row); err != nil {
			return fmt.Errorf("work_alias: %w", err)
		}
		known = append(known, s)
		return nil
	}, string(list), now)
	return known, err
}

// recordAliases makes a place's aliases lead to its row.
func (w *writer) recordAliases(ctx context.Context, place idem.Place, now int64) error {
	for _, id := range place.Aliases {
		w.rare.aliases = true
		if err := w.exec(ctx, &w.store.stmts.dropAliases, id.String()); err != nil {
			return err
		}
		if err := w.exec(ctx, &w.store.stmts.recordAlias, id.String(), place.Row.String(), now); err != nil {
			return err
		}
	}
	return nil
}
