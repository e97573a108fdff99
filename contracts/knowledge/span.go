package knowledge

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Span is a length of time that a source may leave open. The zero Span is
// "not stated"; it is never to be read as "no time" or as "for ever".
type Span struct {
	d    time.Duration
	kind spanKind
}

type spanKind uint8

const (
	notStated spanKind = iota
	limited
	forever
)

// lasting is a Span of a stated length.
func lasting(d time.Duration) Span { return Span{d: d, kind: limited} }

// endless is the Span of a source that says it never forgets.
func endless() Span { return Span{kind: forever} }

// Get returns the length and whether one is stated. A Span without end is the
// longest Duration there is.
func (s Span) Get() (time.Duration, bool) {
	switch s.kind {
	case limited:
		return s.d, true
	case forever:
		return math.MaxInt64, true
	}
	return 0, false
}

// Stated tells whether the source says anything.
func (s Span) Stated() bool { return s.kind != notStated }

// Endless tells whether the source says that there is no end.
func (s Span) Endless() bool { return s.kind == forever }

// String is the Span as a contract would write it ("3d", "1d4h", "500ms"),
// "forever", or "not stated".
func (s Span) String() string {
	switch s.kind {
	case limited:
		return formatDuration(s.d)
	case forever:
		return "forever"
	}
	return "not stated"
}

const day = 24 * time.Hour

func formatDuration(d time.Duration) string {
	var b strings.Builder
	if days := d / day; days > 0 {
		fmt.Fprintf(&b, "%dd", days)
		d -= days * day
	}
	if d == 0 && b.Len() > 0 {
		return b.String()
	}
	rest := d.String() // 10h30m0s, 4h0m0s, 15s
	if strings.HasSuffix(rest, "m0s") {
		rest = strings.TrimSuffix(rest, "0s")
	}
	if strings.HasSuffix(rest, "h0m") {
		rest = strings.TrimSuffix(rest, "0m")
	}
	return b.String() + rest
}
