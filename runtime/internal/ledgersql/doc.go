// Package ledgersql is what the stores on SQL databases share: how text is made
// fit for a column.
package ledgersql
