package contracts_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idemgen/idem/contracts"
)

func TestParseDurationReadsWhatFormatDurationWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(1, int64(contracts.MaxDuration)).Draw(t, "duration"))
		got, err := contracts.ParseDuration(contracts.FormatDuration(want))
		if err != nil || got != want {
			t.Fatalf("%s: got %v, %v", contracts.FormatDuration(want), got, err)
		}
	})
}

func TestParseDurationRefusesWhatIsNoDuration(t *testing.T) {
	for _, s := range []string{"", "90", "d", "-1d", "1 d", "100000d", "forever"} {
		if d, err := contracts.ParseDuration(s); err == nil {
			t.Errorf("%q is read as %v", s, d)
		}
	}
}
