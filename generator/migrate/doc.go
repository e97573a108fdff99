// Package migrate writes the ledger's tables as migrations for the tool that a
// team has already: goose, golang-migrate, atlas, or plain files.
//
// The folder of a dialect holds the same SQL that the store of that dialect
// applies itself, a file for each version of the schema, and beside it what takes
// the version back. A test holds the copies together; this package may not import
// the stores, which would bring their drivers into the generator.
//
// A migration may have been applied wherever its file is, so a file that is there
// is never changed: [Write] adds what is missing, numbered behind what the folder
// holds, in its manner of numbering. Files are found again by their names, which
// hold the version of the ledger's schema: 00007_idem_0001_ledger.sql.
//
// Where to find what:
//
//   - migrate.go: what is missing, and writing it
//   - formats.go: names and contents for each tool
//   - numbers.go: the next number in a folder
//   - atlas.go: atlas.sum, the digest of a folder
package migrate
