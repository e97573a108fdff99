package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"time"

	"github.com/idemgen/idem/generator/migrate"
)

func migrationsVerb() verb {
	return verb{
		name:  "migrations",
		args:  "[flags]",
		short: "write the ledger's tables as migrations",
		long: `Writes the migrations that make the ledger's tables, for a team that applies its
migrations with a tool. Those that the folder has are found by their names and
never touched; what is missing is numbered behind everything else in the folder,
in its manner. After an update of idem, run it again.

Programs that have no such tool call sqlite.Migrate or postgres.Migrate instead.
For postgres the tables are in the schema idem, unless -schema names another one.
With -partitions those that have a row for each piece of work are split by the hash
of its ID. Say the same each time: a migration is what it was when it was written.

To take a migration back drops the tables, and the ledger with them: work that is
delivered again after that is done again. For atlas, which plans that itself,
none is written.`,
		flags: func(fs *flag.FlagSet) func(context.Context, *program, []string) int {
			root := fs.String("C", "", "change to `DIR` first")
			dir := fs.String("dir", "", "the `FOLDER` of the migrations")
			dialect := choiceFlag{"", migrate.Dialects()}
			fs.Var(&dialect, "dialect", "the `DATABASE`: sqlite or postgres")
			schema := fs.String("schema", "", "the `SCHEMA` of the tables, for postgres (default idem)")
			partitions := fs.Int("partitions", 0, "split the large tables into `N`, for postgres")
			format := choiceFlag{"plain", migrate.Formats()}
			fs.Var(&format, "format", "the `TOOL` that applies them: plain, goose, golang-migrate or atlas")
			return func(_ context.Context, p *program, args []string) int {
				switch {
				case len(args) > 0:
					return p.badUsage("migrations", "want no arguments but flags")
				case dialect.value == "":
					return p.badUsage("migrations", "for which database? Say -dialect sqlite or postgres")
				case *dir == "":
					return p.badUsage("migrations", "where do the migrations go? Say -dir FOLDER")
				}
				return p.migrations(*root, *dir, migrate.Options{
					Dialect: dialect.value, Format: format.value, Schema: *schema, Partitions: *partitions, Now: time.Now(),
				})
			}
		},
	}
}

func (p *program) badUsage(verb, msg string) int {
	fmt.Fprintf(p.stderr, "idemgen %s: %s\nRun idemgen help %s for its flags.\n", verb, msg, verb)
	return exitErrors
}

func (p *program) migrations(root, dir string, o migrate.Options) int {
	o.Dir = dir
	if root != "" && !filepath.IsAbs(dir) {
		o.Dir = filepath.Join(root, dir)
	}
	files, err := migrate.Write(o)
	if err != nil {
		fmt.Fprintf(p.stderr, "idemgen migrations: %v\n", err)
		return exitErrors
	}
	for _, f := range files {
		path := filepath.ToSlash(filepath.Join(dir, f.Name))
		switch f.Change {
		case migrate.Written:
			fmt.Fprintf(p.stdout, "written %s\n", path)
		case migrate.Differs:
			fmt.Fprintf(p.stderr, "idemgen migrations: %s is not what would be written, and was left as it is\n", path)
		}
	}
	return exitOK
}
