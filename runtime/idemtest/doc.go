// Package idemtest shows of a program's own handler, with its own contract and
// fakes of the outside world, that the guards' promises hold wherever a process
// dies.
//
//	func TestOrderPaidCrashEverywhere(t *testing.T) {
//		idemtest.CrashEverywhere(t, orderPaidWorld,
//			idemtest.Effect{Name: "create_draft", Guard: idem.GuardTransaction},
//			idemtest.Effect{Name: "charge", Guard: idem.GuardIdempotencyKey, RemembersFor: 24 * time.Hour},
//		)
//	}
//
// idemgen writes this test for each contract of which a function in the package's
// tests says //idem:fakes kind=KIND. That function builds the world in which one
// schedule takes place: a database, fakes that count what is applied, and the
// program over them.
//
// A schedule stops the program at a numbered point, of which there is one before
// and one after each write of the ledger, and so before and after each call of an
// effect. There it dies, and a new process works on when the lease is over; or it
// is only paused, and goes on after another process has done the work. Time is
// [World.Now], and passes without anybody waiting. Each schedule is a subtest, by
// whose name it is run again.
package idemtest
