// Package forever is a library that a catalogue says repeats without end.
package forever

// Do calls f until it succeeds.
func Do(f func() error, options ...func()) {
	for f() != nil {
	}
}

// MaxAttempts makes it give up.
func MaxAttempts(n int) func() { return func() { _ = n } }
