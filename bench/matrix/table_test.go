package matrix_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idem/bench/matrix"
)

// A column is a tool in a scenario.
type column struct {
	program
	scenario string
	points   int
	cells    map[string]*cell // by effect
	notes    []string
}

// A cell counts rounds.
type cell struct {
	twice    int
	lost     int // nothing happened, and nobody says so
	unknown  int // a person is told
	happened int // of those
}

func newColumn(p program, scenario string) *column {
	c := &column{program: p, scenario: scenario, cells: map[string]*cell{}}
	for _, effect := range matrix.Effects(scenario) {
		c.cells[effect] = new(cell)
	}
	return c
}

func (c *column) add(r matrix.Result) {
	c.points++
	for _, effect := range matrix.Effects(c.scenario) {
		if what := c.cells[effect].add(r.Counts[effect], slices.Contains(r.Unknown, effect)); what != "" {
			c.notes = append(c.notes, fmt.Sprintf("%3d %s is %s: stopped %s", len(r.Passed), effect, what, r.Passed[len(r.Passed)-1]))
		}
	}
}

// add counts one round, and says what was not as it should be.
func (c *cell) add(times int, unknown bool) string {
	switch {
	case times > 1:
		c.twice++
		return "done twice"
	case unknown && times == 1:
		c.unknown++
		c.happened++
		return "unknown, and done"
	case unknown:
		c.unknown++
		return "unknown, and not done"
	case times == 0:
		c.lost++
		return "lost"
	}
	return ""
}

// asked is how often a person is told, and how often it had happened.
func (c *cell) asked() string {
	if c.unknown == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%d happened)", c.unknown, c.happened)
}

func (c *column) String() string {
	slices.Sort(c.notes)
	return fmt.Sprintf("%s, %s: %d points\n%s", c.Name, c.scenario, c.points, strings.Join(c.notes, "\n"))
}

// table is that of the README.
func table(columns []*column) string {
	var b strings.Builder
	for _, s := range matrix.Scenarios {
		effects := matrix.Effects(s.Name)
		fmt.Fprintf(&b, "\n%s\n\n| written with | points |", s.Work)
		for _, effect := range effects {
			fmt.Fprintf(&b, " %s: twice | lost | unknown |", effect)
		}
		fmt.Fprintf(&b, "\n| --- | --- |%s\n", strings.Repeat(" --- | --- | --- |", len(effects)))
		for _, c := range columns {
			if c.scenario != s.Name {
				continue
			}
			fmt.Fprintf(&b, "| %s | %d |", c.Name, c.points)
			for _, effect := range effects {
				cell := c.cells[effect]
				fmt.Fprintf(&b, " %d | %d | %s |", cell.twice, cell.lost, cell.asked())
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
