package torture

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/idemgen/idem/internal/pgtest"
)

var (
	killsFlag = flag.Int("kills", defaultKills, "how many processes to kill, per store")
	forFlag   = flag.Duration("for", 0, "go on for as long as this, however many kills that takes")
	seedFlag  = flag.Uint64("seed", 0, "the seed of a former run; 0: a new one")
	roundFlag = flag.Int("round", -1, "run that round alone")
)

func TestKilledProcessesKeepEveryPromiseOnSQLite(t *testing.T) {
	t.Parallel()
	torture(t, []trouble{noTrouble, clocksApart, processStopped, diskFull, memoryShort}, newSQLiteHost)
}

func TestKilledProcessesKeepEveryPromiseOnPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.New()
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	server.URL(t) // or skip
	troubles := []trouble{noTrouble, connectionCut, serverCrash, processStopped, simpleProtocol, backendKilled, memoryShort, diskFull}
	torture(t, troubles, func(t *testing.T, r *round) host { return newPostgresHost(t, r, server) })
}

func isFlagSet(name string) (set bool) {
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// torture makes round after round, each with the next trouble.
func torture(t *testing.T, troubles []trouble, newHost func(t *testing.T, r *round) host) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	total := *killsFlag
	if testing.Short() && !isFlagSet("kills") {
		troubles, total = troubles[:1], 8
	}
	kills := min(killsPerRound, (total+len(troubles)-1)/len(troubles))
	t.Logf("-seed %d -kills %d", seed, total)
	began := time.Now()
	var all sums
	enough := func() bool {
		if *forFlag > 0 {
			return time.Since(began) > *forFlag
		}
		return all.kills >= total
	}
	for number := 0; !enough() && !t.Failed(); number++ {
		if *roundFlag >= 0 {
			number = *roundFlag
		}
		trouble := troubles[number%len(troubles)]
		t.Run(fmt.Sprintf("%d %s", number, trouble), func(t *testing.T) {
			all.add(newRound(t, trouble, kills, seed, number, newHost).run())
		})
		if *roundFlag >= 0 {
			break
		}
		if killsPerRound == kills {
			t.Logf("%s, %d kills", time.Since(began).Round(time.Second), all.kills)
		}
	}
	t.Logf("%s in %s", all, time.Since(began).Round(time.Second))
	if all.lostLeases == 0 && !t.Failed() {
		t.Error("no process died while it worked: the test shows nothing")
	}
}
