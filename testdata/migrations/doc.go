// Package migrations applies what `idemgen migrations` writes with the tools that
// it is written for, and opens the result as a ledger. It is a module of its own,
// so that those tools never become dependencies of idem:
//
//	cd testdata/migrations && go test ./...
package migrations
