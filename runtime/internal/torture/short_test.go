//go:build !torture

package torture

const (
	// defaultKills is for every run of the tests; the tag torture has more.
	defaultKills  = 35
	killsPerRound = 250
)
