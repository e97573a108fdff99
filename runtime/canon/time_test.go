package canon

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestTimesAreInUTCAndCutToTheirPrecision(t *testing.T) {
	zone := time.FixedZone("", 2*60*60)
	at := time.Date(2026, 1, 2, 3, 4, 5, 120_450_789, zone)
	for _, c := range []struct {
		name      string
		at        time.Time
		precision time.Duration
		want      string
	}{
		{"second", at, time.Second, "2026-01-02T01:04:05Z"},
		{"millisecond drops the trailing zero", at, time.Millisecond, "2026-01-02T01:04:05.12Z"},
		{"microsecond", at, time.Microsecond, "2026-01-02T01:04:05.12045Z"},
		{"nanosecond", at, time.Nanosecond, "2026-01-02T01:04:05.120450789Z"},
		{"no fraction, no point", at.Truncate(time.Second), time.Nanosecond, "2026-01-02T01:04:05Z"},
		{"one nanosecond", time.Unix(0, 1), time.Nanosecond, "1970-01-01T00:00:00.000000001Z"},
		{"before 1970, towards the past", time.Unix(-1, 999_999_999), time.Second, "1969-12-31T23:59:59Z"},
		{"before 1970, with a fraction", time.Unix(0, -1), time.Millisecond, "1969-12-31T23:59:59.999Z"},
		{"the zero time", time.Time{}, time.Second, "0001-01-01T00:00:00Z"},
		{"the first", time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Second, "0000-01-01T00:00:00Z"},
		{"the last", time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Nanosecond, "9999-12-31T23:59:59.999999999Z"},
		{"leap day", time.Date(2000, 2, 29, 12, 0, 0, 0, time.UTC), time.Second, "2000-02-29T12:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := AppendTime([]byte("x"), c.at, c.precision)
			if err != nil || string(got) != `x"`+c.want+`"` {
				t.Errorf("%s (%v), want %s", got, err, c.want)
			}
		})
	}
}

func TestTheMonotonicClockIsNoPartOfATime(t *testing.T) {
	now := time.Now()
	a, err1 := AppendTime(nil, now, time.Nanosecond)
	b, err2 := AppendTime(nil, now.Round(0), time.Nanosecond)
	if err1 != nil || err2 != nil || string(a) != string(b) {
		t.Errorf("%s (%v) and %s (%v)", a, err1, b, err2)
	}
}

func TestTimesOutsideTheYears0To9999AreErrors(t *testing.T) {
	for _, at := range []time.Time{
		time.Date(-1, 12, 31, 23, 59, 59, 999_999_999, time.UTC),
		time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -2*60*60)), // the next year in UTC
		time.Unix(1<<62, 0), time.Unix(-1<<62, 0),
	} {
		if got, err := AppendTime([]byte("x"), at, time.Second); !errors.Is(err, ErrTimeRange) || string(got) != "x" {
			t.Errorf("%v: %s, %v", at, got, err)
		}
	}
}

func TestAPrecisionThatNoContractCanDeclareIsAnError(t *testing.T) {
	for _, precision := range []time.Duration{0, -time.Second, 2 * time.Second, time.Minute, 10} {
		if got, err := AppendTime([]byte("x"), time.Unix(0, 0), precision); !errors.Is(err, ErrPrecision) || string(got) != "x" {
			t.Errorf("%v: %s, %v", precision, got, err)
		}
	}
}

func TestEveryDayOfTheCalendarIsThatOfPackageTime(t *testing.T) {
	skipUnderRace(t)
	first := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	for days := range uint32((maxSecond - minSecond + 1) / secondsPerDay) {
		year, month, day := civilDate(days)
		wantYear, wantMonth, wantDay := first.AddDate(0, 0, int(days)).Date()
		if int(year) != wantYear || time.Month(month) != wantMonth || int(day) != wantDay {
			t.Fatalf("day %d: %d-%d-%d, want %d-%d-%d", days, year, month, day, wantYear, wantMonth, wantDay)
		}
	}
}

func TestTimesHaveTheTextOfPackageTime(t *testing.T) {
	skipUnderRace(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		at := time.Unix(minSecond+random.Int64N(maxSecond-minSecond+1), random.Int64N(1e9))
		for _, precision := range []time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond} {
			cut := at.Add(-time.Duration(at.Nanosecond()) % precision)
			want := cut.UTC().Format("2006-01-02T15:04:05.999999999Z")
			got, err := AppendTime(nil, at, precision)
			if err != nil || strings.Trim(string(got), `"`) != want {
				t.Fatalf("%s (%v), want %s", got, err, want)
			}
		}
	}
}
