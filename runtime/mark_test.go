package idem_test

import (
	"math"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func TestPlacesOfTimesAreOrderedAsTheTimesAre(t *testing.T) {
	at := func(year int, nsec int) time.Time { return time.Date(year, 12, 31, 23, 59, 59, nsec, time.UTC) }
	for precision, want := range map[time.Duration]int64{time.Second: -1, time.Millisecond: -1, time.Microsecond: -1, time.Nanosecond: -1} {
		// Just before 1970: cut towards the past, not towards zero.
		if got, err := idem.TimeMark(at(1969, 999_999_999), precision); err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", precision, got, err, want)
		}
		zone := time.FixedZone("east", 5*3600)
		here, err1 := idem.TimeMark(at(2031, 5), precision)
		there, err2 := idem.TimeMark(at(2031, 5).In(zone), precision)
		if here != there || err1 != nil || err2 != nil {
			t.Errorf("%s: the same instant has the places %d and %d, %v, %v", precision, here, there, err1, err2)
		}
		before := int64(math.MinInt64)
		for _, year := range []int{1678, 1900, 1969, 1970, 2031, 2261} {
			got, err := idem.TimeMark(at(year, 0), precision)
			if err != nil || got <= before {
				t.Errorf("%s: the year %d has the place %d, %v, after %d", precision, year, got, err, before)
			}
			before = got
		}
	}
}

func TestWhatTheDatabaseCannotOrderHasNoPlace(t *testing.T) {
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		t         time.Time
		precision time.Duration
		ok        bool
	}{
		{year(0), time.Microsecond, true}, {year(9999), time.Microsecond, true},
		{year(-1), time.Second, false}, {year(10000), time.Second, false},
		{year(1677), time.Nanosecond, false}, {year(2262), time.Nanosecond, false},
		{year(2000), time.Minute, false}, {year(2000), 0, false},
	} {
		if got, err := idem.TimeMark(c.t, c.precision); (err == nil) != c.ok {
			t.Errorf("%s by %s: got %d, %v", c.t, c.precision, got, err)
		}
	}
	if got, err := idem.UintMark(math.MaxInt64); got != math.MaxInt64 || err != nil {
		t.Errorf("got %d, %v", got, err)
	}
	if got, err := idem.UintMark(math.MaxInt64 + 1); err == nil {
		t.Errorf("got %d, want an error", got)
	}
}
