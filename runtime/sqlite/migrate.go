package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"

	idem "github.com/idemgen/idem/runtime"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations are in order: applying the one at index i makes the schema's
// version i+1.
var migrations = [...]string{"migrations/0001_ledger.sql"}

// schemaVersion is what this package reads and writes.
const schemaVersion = len(migrations)

// Migrate creates the ledger's tables in the file at path, or brings them up to
// date; it creates the file if there is none, and turns the write-ahead log on.
// It does nothing where nothing is to be done, and several processes may call it
// at once.
//
// [idem.ErrSchema] if the tables are of a newer version that this one must not
// touch.
func Migrate(ctx context.Context, path string) (err error) {
	abs, err := checkPath(path)
	if err != nil {
		return err
	}
	gate := new(commitGate)
	db, err := openWriter(abs, newOptions(nil), gate)
	if err != nil {
		return wrapDB(ctx, "migrate", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	if err := connect(ctx, db); err != nil {
		return wrapDB(ctx, "migrate", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return wrapDB(ctx, "migrate", err)
	}
	if err := migrate(ctx, tx); err != nil {
		return errors.Join(err, rollback(tx))
	}
	if err := gate.pass(tx.Commit); err != nil {
		return wrapDB(ctx, "migrate: commit", err)
	}
	return nil
}

// MigrateDB is [Migrate] for the file of the application's own handle, which
// must be one that [OpenDB] would accept.
func MigrateDB(ctx context.Context, db *sql.DB) error {
	path, err := pathOf(ctx, db)
	if err != nil {
		return err
	}
	return Migrate(ctx, path)
}

func migrate(ctx context.Context, tx *sql.Tx) error {
	version, minRuntime, err := readVersion(ctx, tx)
	if err != nil {
		return wrapDB(ctx, "migrate: schema version", err)
	}
	if minRuntime > schemaVersion {
		return tooNew(version, minRuntime)
	}
	for version < schemaVersion {
		name := migrations[version]
		script, err := migrationFiles.ReadFile(name)
		if err != nil {
			return fmt.Errorf("sqlite: migrate: %w", err)
		}
		if _, err := tx.ExecContext(ctx, string(script)); err != nil {
			return wrapDB(ctx, "migrate: "+name, err)
		}
		version++
	}
	return nil
}

// queryer is a handle, a connection or a transaction.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readVersion returns zeros if there are no tables.
func readVersion(ctx context.Context, q queryer) (version, minRuntime int, err error) {
	var tables int
	if err := q.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'ledger_meta'`).Scan(&tables); err != nil {
		return 0, 0, err
	}
	if tables == 0 {
		return 0, 0, nil
	}
	err = q.QueryRowContext(ctx, `SELECT schema_version, min_runtime FROM ledger_meta`).Scan(&version, &minRuntime)
	return version, minRuntime, err
}

// checkSchema says what to do if the tables are not the ones that this package
// was written for.
func checkSchema(ctx context.Context, q queryer) error {
	version, minRuntime, err := readVersion(ctx, q)
	switch {
	case err != nil:
		return wrapDB(ctx, "schema version", err)
	case version == 0:
		return fmt.Errorf("sqlite: the ledger's tables are missing, call sqlite.Migrate: %w", idem.ErrSchema)
	case minRuntime > schemaVersion:
		return tooNew(version, minRuntime)
	case version < schemaVersion:
		return fmt.Errorf("sqlite: the ledger's tables are of version %d and this program needs %d, call sqlite.Migrate: %w", version, schemaVersion, idem.ErrSchema)
	}
	return nil
}

func tooNew(version, minRuntime int) error {
	return fmt.Errorf("sqlite: the ledger's tables are of version %d, which programs below version %d must not touch, and this one is of version %d, update it: %w",
		version, minRuntime, schemaVersion, idem.ErrSchema)
}
