// Package cycle measures one piece of work with one effect, from claim to
// completion, against the same statements written by hand over database/sql.
package cycle
