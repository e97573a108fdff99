package sqlite

import (
	"context"

	idem "github.com/idemgen/idem/runtime"
)

// Prepared by nobody: a process registers once.
const (
	registerSQL = `
INSERT INTO contract_log (kind, version, digest, module, first_seen) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO NOTHING`

	registeredSQL = `SELECT digest, module, first_seen FROM contract_log WHERE kind = ?1 AND version = ?2`
)

// Register makes the rows that are missing: see [idem.Store].
func (s *Store) Register(ctx context.Context, contracts []idem.Registration) ([]idem.Registration, error) {
	if len(contracts) == 0 {
		return nil, nil
	}
	return write(ctx, s, "register", func(ctx context.Context, w *writer) ([]idem.Registration, error) { return w.register(ctx, contracts) })
}

func (w *writer) register(ctx context.Context, contracts []idem.Registration) ([]idem.Registration, error) {
	now := w.store.clock.now()
	rows := make([]idem.Registration, 0, len(contracts))
	for _, c := range contracts {
		if c.Kind == "" || c.Version < 1 {
			return nil, invalid("a contract is registered by its kind and version, not as %q, %d", c.Kind, c.Version)
		}
		if _, err := w.execText(ctx, registerSQL, c.Kind, c.Version, c.Digest, c.Module, now); err != nil {
			return nil, err
		}
		row := idem.Registration{Kind: c.Kind, Version: c.Version}
		var seen int64
		if err := w.rowText(ctx, registeredSQL, c.Kind, c.Version).Scan(&row.Digest, &row.Module, &seen); err != nil {
			return nil, err
		}
		row.FirstSeen = fromMicros(seen)
		rows = append(rows, row)
	}
	return rows, nil
}
