//go:build race

package contracts

const raceEnabled = true
