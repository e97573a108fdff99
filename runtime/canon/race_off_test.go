//go:build !race

package canon

// slowdown is how much longer a test of time may take.
const slowdown = 1
