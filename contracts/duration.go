package contracts

import (
	"fmt"
	"time"
)

// ParseDuration reads a duration of the language: Go's units and d and w, up to
// [MaxDuration]. It reads what [FormatDuration] writes.
func ParseDuration(s string) (time.Duration, error) {
	d, fault := parseDuration(s)
	if fault != noFault {
		return 0, fmt.Errorf("duration %q: want a number with a unit, such as 90d, up to %s", clip(s), FormatDuration(MaxDuration))
	}
	return d, nil
}
