// Package matrix stops programs at every point at which it could matter, and
// counts what becomes of their work.
//
// Four pieces of work (see [Scenarios]) are written with idem, by hand with a table
// of keys, with DBOS, with River and with Temporal, each as its documentation
// advises. For every program, every piece of work and every point there is a round:
//
//  1. A process gets the work, on a new database. All that it asks of the world
//     passes through the test: the statements that it sends to PostgreSQL, through a
//     [Proxy], and the calls that it makes of a [Provider]. Each is two points:
//     before it has any effect, and after it had its effect, when the answer is not
//     out yet. A call is a third: it is on its way, and has its effect seconds later.
//     At the round's point the process gets SIGKILL, and nothing else that it sent
//     reaches anybody any more.
//  2. The program is started again, and the work delivered again, until the program
//     says that it is over.
//  3. What the provider and the database have got is counted.
//
// What a process does between two such points nobody else sees, so that to stop it
// there is the same as to stop it at the one before: all points are tried.
package matrix
