// Package torture kills programs that keep a ledger, thousands of times, and
// counts what came of their work. It consists of tests alone.
//
//	go test ./runtime/internal/torture                 # some seconds
//	go test -tags torture ./runtime/...                # some minutes
//	go test -tags torture ./runtime/internal/torture -timeout 5h -kills 10000
//
// A round is one ledger, some hundreds of kills and one kind of trouble: clocks
// that are minutes apart, processes that are stopped for longer than a lease, a
// full disk, a server that crashes, connections that are cut between a commit and
// its acknowledgement. Several processes at once run the handlers of all guards,
// and each is killed at a random moment, some milliseconds after it was given its
// first work. A source delivers whatever was not acknowledged again, and much of
// it twice at once; a provider counts what it was asked to do. Both live on, in the
// process of the test.
//
// After the kills a sweep, which goes by the rows of the ledger alone, brings all
// work to its end. Then every effect is held against what its guard promises, and
// every piece of work that was delivered against the ways in which it may end. At
// last whoever can ask the provider decides about what is unknown, and has dead work
// tried again: then all has to be done.
//
// The seed of a run is in its output. With -seed and -round a round is run again:
// the same trouble, the same moments, as far as processes allow. The files of a
// round that failed (database, log of all calls and kills) are kept, and the output
// says where.
package torture
