//go:build !race

package contracts

const raceEnabled = false
