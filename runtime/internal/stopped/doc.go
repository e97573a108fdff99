// Package stopped holds every guard to its promise when a process is stopped, not
// killed, for longer than its lease: a paused machine, a debugger, a laptop that was
// shut. Another one takes its work over, and then it goes on where it was.
//
// It has tests alone. Each is two real processes, and a provider in a third place
// that counts what was done to it.
package stopped
