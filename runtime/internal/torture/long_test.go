//go:build torture

package torture

const (
	defaultKills  = 2000
	killsPerRound = 250
)
