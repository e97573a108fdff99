// Package pgschema makes variants of the migrations for PostgreSQL: with the tables
// in another schema, and with those partitioned that have a row for each piece of
// work. The store applies such a migration itself and the generator writes it to a
// file, and both have to mean the same.
package pgschema

import (
	"fmt"
	"regexp"
	"strings"
)

// Name is the schema that the migrations as they are written name.
const Name = "idem"

// maxName is how much of a name PostgreSQL keeps: it would cut off the rest.
const maxName = 63

// CheckName says why a schema cannot have a name.
func CheckName(name string) error {
	if name == "" || strings.ContainsRune(name, 0) || len(name) > maxName {
		return fmt.Errorf("a schema has a name of 1 to %d bytes, not %q", maxName, name)
	}
	return nil
}

// MaxPartitions bounds what is certainly a mistake: each partition is three tables,
// and each statement looks at the list of them.
const MaxPartitions = 1024

// CheckPartitions says why tables cannot have so many partitions.
func CheckPartitions(n int) error {
	if n < 2 || n > MaxPartitions {
		return fmt.Errorf("tables have 2 to %d partitions, not %d", MaxPartitions, n)
	}
	return nil
}

// Quote makes a name an identifier.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Names is a replacer's arguments that put a schema in the place of the one that
// statements name.
func Names(schema string) []string { return []string{Name + ".", Quote(schema) + "."} }

// CreateSchema is the statement of a migration that needs the right to make schemas.
const CreateSchema = "CREATE SCHEMA IF NOT EXISTS " + Name + ";\n"

// InSchema puts the tables of a migration into another schema.
func InSchema(script, schema string) string {
	if schema == Name {
		return script
	}
	create := "CREATE SCHEMA IF NOT EXISTS " + Quote(schema) + ";\n"
	return strings.NewReplacer(append(Names(schema), CreateSchema, create)...).Replace(script)
}

// perWork is a table with a row, or a few, for each piece of work, and its ID first
// in every unique key. Their room for new versions of rows tells them from others.
var perWork = regexp.MustCompile(`(?ms)^(CREATE TABLE idem\.(\w+) \(\n  work_id (?:[^;]|;[^\n])*?\n\)) WITH \((fillfactor = \d+)\);\n`)

// Partitioned splits the tables with a row for each piece of work by the hash of its
// ID. It is for a script as it is written, before [InSchema].
func Partitioned(script string, n int) string {
	return perWork.ReplaceAllStringFunc(script, func(table string) string {
		m := perWork.FindStringSubmatch(table)
		var b strings.Builder
		fmt.Fprintf(&b, "%s PARTITION BY HASH (work_id);\n\n", m[1])
		for i := range n {
			fmt.Fprintf(&b, "CREATE TABLE idem.%[1]s_%[2]d PARTITION OF idem.%[1]s FOR VALUES WITH (MODULUS %[3]d, REMAINDER %[2]d) WITH (%[4]s);\n", m[2], i, n, m[3])
		}
		return b.String()
	})
}
