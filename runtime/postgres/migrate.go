package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idem/runtime"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations are in order: applying the one at index i makes the schema's
// version i+1.
var migrations = [...]string{"migrations/0001_ledger.sql"}

// schemaVersion is what this package reads and writes.
const schemaVersion = len(migrations)

// migrateLock keeps two programs that start at once from migrating at once. The
// number is a random one, and the same for all schemas: nobody waits for long.
const migrateLock = `SELECT pg_advisory_xact_lock(7234594003468775017)`

// Migrate creates the ledger's schema and tables in the pool's database, or brings
// them up to date, in one transaction. It does nothing where nothing is to be
// done, and several processes may call it at once.
//
// [idem.ErrSchema] if the tables are of a newer version that this one must not
// touch.
func Migrate(ctx context.Context, pool *pgxpool.Pool, opts ...Option) error {
	return migrateOn(ctx, pgxPool{pool}, opts)
}

func migrateOn(ctx context.Context, pool pool, opts []Option) (err error) {
	o, err := newOptions(opts)
	if err != nil {
		return err
	}
	tx, err := pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: o.begin(false)})
	if err != nil {
		return wrapDB(ctx, "migrate", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, rollback(ctx, tx))
		}
	}()
	if _, err := tx.Exec(ctx, migrateLock); err != nil {
		return wrapDB(ctx, "migrate: waiting for others that do", err)
	}
	if err := migrate(ctx, tx, o); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return wrapDB(ctx, "migrate: commit", err)
	}
	return nil
}

func migrate(ctx context.Context, tx pgx.Tx, o *options) error {
	version, minRuntime, err := readVersion(ctx, tx, o)
	if err != nil {
		return wrapDB(ctx, "migrate: schema version", err)
	}
	if minRuntime > schemaVersion {
		return tooNew(version, minRuntime)
	}
	var there bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1::text)`, o.schema).Scan(&there); err != nil {
		return wrapDB(ctx, "migrate: schema", err)
	}
	for version < schemaVersion {
		name := migrations[version]
		script, err := migrationFiles.ReadFile(name)
		if err != nil {
			return fmt.Errorf("postgres: migrate: %w", err)
		}
		if _, err := tx.Exec(ctx, o.script(string(script), there)); err != nil {
			return wrapDB(ctx, "migrate: "+name, err)
		}
		version++
	}
	return nil
}

// readVersion returns zeros if there are no tables.
func readVersion(ctx context.Context, tx pgx.Tx, o *options) (version, minRuntime int, err error) {
	var there bool
	err = tx.QueryRow(ctx, `SELECT EXISTS (
		SELECT 1 FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname = $1::text AND c.relname = 'ledger_meta')`, o.schema).Scan(&there)
	if err != nil || !there {
		return 0, 0, err
	}
	err = tx.QueryRow(ctx, o.sql(versionSQL)).Scan(&version, &minRuntime)
	return version, minRuntime, err
}

// checkSchema says what to do if the tables are not the ones that this package
// was written for.
func checkSchema(ctx context.Context, tx pgx.Tx, o *options) error {
	version, minRuntime, err := readVersion(ctx, tx, o)
	switch {
	case err != nil:
		return wrapDB(ctx, "schema version", err)
	case version == 0:
		return fmt.Errorf("postgres: the schema %q has none of the ledger's tables, call postgres.Migrate: %w", o.schema, idem.ErrSchema)
	case minRuntime > schemaVersion:
		return tooNew(version, minRuntime)
	case version < schemaVersion:
		return fmt.Errorf("postgres: the ledger's tables are of version %d and this program needs %d, call postgres.Migrate: %w", version, schemaVersion, idem.ErrSchema)
	}
	return nil
}

func tooNew(version, minRuntime int) error {
	return fmt.Errorf("postgres: the ledger's tables are of version %d, which programs below version %d must not touch, and this one is of version %d, update it: %w",
		version, minRuntime, schemaVersion, idem.ErrSchema)
}
