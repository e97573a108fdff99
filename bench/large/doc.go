// Package large asks what a ledger costs that has grown: how long a claim takes,
// how many bytes a row has, and whether anybody waits while it is purged.
package large
