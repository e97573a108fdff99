package matrix_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idem/bench/matrix"
	"github.com/idemgen/idem/bench/matrix/byhand"
	"github.com/idemgen/idem/bench/matrix/withdbos"
	"github.com/idemgen/idem/bench/matrix/withidem"
	"github.com/idemgen/idem/bench/matrix/withriver"
	"github.com/idemgen/idem/internal/pgtest"
)

var (
	full         = flag.Bool("full", false, "stop at every point, not only around the calls")
	parallel     = flag.Int("rounds", 8*runtime.NumCPU(), "how many rounds run at a time")
	withTemporal = flag.Bool("temporal", false, "also with Temporal, whose server is built first")
	only         = flag.String("tools", "", "of the tools only these, by names with a + between")
)

// tools are those that this binary holds.
var tools = slices.Concat(withidem.Tools, byhand.Tools, withdbos.Tools, withriver.Tools)

// A program is a tool, and how a process of it is started.
type program struct {
	matrix.Tool
	command func(ctx context.Context) *exec.Cmd
	// again is how many rounds may be run again because the tool failed by itself.
	again int
}

func programs(t *testing.T) (all []program) {
	for _, tool := range tools {
		all = append(all, program{Tool: tool, command: func(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, os.Args[0]) }})
	}
	if *withTemporal {
		all = append(all, temporal(t)...)
	}
	return slices.DeleteFunc(all, func(p program) bool { return *only != "" && !slices.Contains(strings.Split(*only, "+"), p.Name) })
}

var server = pgtest.New()

func TestMain(m *testing.M) {
	if os.Getenv(matrix.TaskVariable) != "" {
		if err := matrix.Main(tools); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(server.Main(m))
}

// TestMatrix stops each program at each point, or only around its calls.
func TestMatrix(t *testing.T) {
	s := &sweep{admin: server.URL(t), limit: make(chan struct{}, *parallel)}
	var columns []*column
	var running sync.WaitGroup
	for _, p := range programs(t) {
		template, err := s.prepare(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, scenario := range matrix.Scenarios {
			if slices.Contains(p.Not, scenario.Name) {
				continue
			}
			c := newColumn(p, scenario.Name)
			columns = append(columns, c)
			running.Go(func() {
				if err := s.fill(t.Context(), c, template); err != nil {
					t.Errorf("%s, %s: %v", c.Name, c.scenario, err)
				}
			})
		}
	}
	running.Wait()
	for _, c := range columns {
		t.Log(c)
	}
	t.Logf("\n%s", table(columns))
	for _, c := range columns {
		c.check(t)
	}
}

// check holds what is ours: idem's promises, and that the rounds do stop programs
// where it matters, which one without a ledger of its calls shows.
func (c *column) check(t *testing.T) {
	for effect, cell := range c.cells {
		switch {
		case c.Name == "idem" && cell.twice+cell.lost > 0:
			t.Errorf("%s: %s %+v", c.Name, effect, *cell)
		case c.Name == "idem" && effect != "mail" && c.scenario != "label" && cell.unknown > 0:
			t.Errorf("%s: a person is asked about %s, which it can find out: %+v", c.Name, effect, *cell)
		case c.Name == "by hand" && c.scenario == "label" && cell.twice == 0:
			t.Errorf("%s: a label was never made twice: nothing is stopped", c.Name)
		}
	}
}

// A sweep runs rounds, so many at a time, each on a database of its own.
type sweep struct {
	admin string
	limit chan struct{}
	names atomic.Int64
}

// fill runs all rounds of a column.
func (s *sweep) fill(ctx context.Context, c *column, template string) error {
	whole, err := s.round(ctx, c, template, matrix.Stop{})
	if err != nil {
		return err
	}
	for _, effect := range matrix.Effects(c.scenario) {
		if whole.Counts[effect] != 1 || len(whole.Unknown) > 0 {
			return fmt.Errorf("without a stop: %s happened %d times, unknown is %v", effect, whole.Counts[effect], whole.Unknown)
		}
	}
	var mu sync.Mutex
	var running sync.WaitGroup
	times := map[string]int{}
	for _, name := range whole.Passed {
		times[name]++
		stop := matrix.Stop{Name: name, Nth: times[name]}
		if !*full && !strings.Contains(name, " the call ") {
			continue
		}
		running.Go(func() {
			r, roundErr := s.round(ctx, c, template, stop)
			for again := c.again; roundErr != nil && again > 0; again-- {
				r, roundErr = s.round(ctx, c, template, stop)
			}
			mu.Lock()
			defer mu.Unlock()
			if roundErr != nil {
				err = errors.Join(err, fmt.Errorf("%+v: %w", stop, roundErr))
				return
			}
			if r.Stopped { // else it was something beside the work, which did not come again
				c.add(r)
			}
		})
	}
	running.Wait()
	return err
}

func (s *sweep) round(ctx context.Context, c *column, template string, stop matrix.Stop) (r matrix.Result, err error) {
	s.limit <- struct{}{}
	defer func() { <-s.limit }()
	name, err := s.database(ctx, template)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.exec(ctx, s.admin, "drop database "+name+" with (force)")) }()
	dir, err := os.MkdirTemp("", "mx") // short: a socket's path has at most 107 bytes
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return matrix.Round{Tool: c.Name, Scenario: c.scenario, Order: name, Stop: stop, Database: s.at(name), Dir: dir, Command: c.command}.Run(ctx)
}

// prepare makes a database with a tool's tables, to make others of.
func (s *sweep) prepare(ctx context.Context, p program) (template string, err error) {
	if template, err = s.database(ctx, "template1"); err != nil {
		return "", err
	}
	if err := s.exec(ctx, s.at(template), matrix.CreateAmounts); err != nil {
		return "", err
	}
	return template, matrix.Prepare(p.command(ctx), p.Name, s.at(template))
}

func (s *sweep) database(ctx context.Context, template string) (name string, err error) {
	name = fmt.Sprintf("matrix_%d_%d", os.Getpid(), s.names.Add(1))
	return name, s.exec(ctx, s.admin, "create database "+name+" template "+template)
}

func (s *sweep) at(database string) string {
	u, err := url.Parse(s.admin)
	if err != nil {
		panic(err) // pgx has taken it
	}
	u.Path = "/" + database
	return u.String()
}

func (s *sweep) exec(ctx context.Context, at, statement string) (err error) {
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, statement)
	return err
}
