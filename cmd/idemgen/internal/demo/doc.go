// Package demo shows what a contract is good for, with everything real but the
// money: [Run] writes a small billing program, generates the code of its
// contracts, builds it, feeds it orders, kills it half-way and counts at the
// provider what happened.
//
//	module.go     the program's module: written, generated, built
//	provider.go   the payment and mail providers, which outlive the kill
//	source.go     the source of webhooks: delivers twice, redelivers what was not acknowledged
//	service.go    the program as a process: started, killed, started again
//	trial.go      one handler before one provider, from the first order to the last
//	verdict.go    what was counted, and what must not have happened
//	print.go      the terminal
//	signals.go    what ends the demo early
//
// The folder _billing holds the program. Its name keeps it out of this module's
// packages: without the generated code, which is written at the time of the
// demo, it does not compile.
package demo
