package migrate

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Numbers that are times, by their length: goose, golang-migrate and atlas make
// both kinds.
const (
	dateDigits = 14 // 20060102150405, in UTC
	unixDigits = 10
	dateLayout = "20060102150405"
)

// goose has migrations in Go beside those in SQL.
var numbered = regexp.MustCompile(`^([0-9]+)_.*\.(?:sql|go)$`)

// numberOf is the number that a file's name begins with, or "".
func numberOf(name string) string {
	if m := numbered.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// next is the number behind all others, in the manner of the folder: as long as
// the longest, and a time where that is one.
func (f *folder) next(format format, now time.Time) (string, error) {
	if format.digits == 0 {
		return "", nil
	}
	var highest uint64
	width := 0
	for _, name := range append(f.names, f.last+"_.sql") {
		number := numberOf(name)
		if number == "" {
			continue
		}
		n, err := strconv.ParseUint(number, 10, 63)
		if err != nil {
			return "", fmt.Errorf("the number of %s is too large to go on from", name)
		}
		highest, width = max(highest, n), max(width, len(number))
	}
	if width == 0 {
		width = format.digits
	}
	n := highest + 1
	switch width {
	case dateDigits:
		// Not behind the highest if that lies in the future: it would sort before it.
		date, err := strconv.ParseUint(now.UTC().Format(dateLayout), 10, 63)
		if err != nil {
			return "", fmt.Errorf("the time %s makes no number: %w", now, err)
		}
		n = max(n, date)
	case unixDigits:
		n = max(n, uint64(max(now.Unix(), 0)))
	}
	f.last = fmt.Sprintf("%0*d", width, n)
	return f.last, nil
}
