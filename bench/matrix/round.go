package matrix

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Round stops one process at one point.
type Round struct {
	Tool     string
	Scenario string
	Order    string // whose work it is
	Stop     Stop
	Database string // an empty one with the tool's tables
	Dir      string // for sockets, short
	Command  func(ctx context.Context) *exec.Cmd
}

// A Result is what a round has come to.
type Result struct {
	Passed  []string // the points
	Stopped bool     // or the work was over before the point
	Counts  map[string]int
	Unknown []string
}

// patience is for how long a program may take to come to an end.
const patience = 2 * time.Minute

// Run is the whole of it.
func (r Round) Run(ctx context.Context) (result Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	provider := NewProvider()
	task := Task{Tool: r.Tool, Scenario: r.Scenario, Order: r.Order, Watching: r.Database}
	life, kill := context.WithCancel(ctx)
	defer kill()
	watch := NewWatch(r.Stop, kill)
	outcome, err := r.process(life, task, provider, watch)
	if result.Passed, result.Stopped = watch.Passed(); result.Stopped {
		task.Again = true
		outcome, err = r.process(ctx, task, provider, nil)
	}
	if err != nil {
		return result, fmt.Errorf("%w (passed: %q)", err, result.Passed)
	}
	result.Unknown = outcome.Unknown
	result.Counts, err = r.count(ctx, provider)
	return result, err
}

// process runs one; unless there is a watch, it has a way of its own to the database.
func (r Round) process(ctx context.Context, task Task, provider *Provider, watch *Watch) (out Outcome, err error) {
	task.Database, task.Provider = r.Database, filepath.Join(r.Dir, "provider")
	if watch == nil {
		watch = NewWatch(Stop{}, nil)
	} else {
		through, proxy, err := r.proxy(watch)
		if err != nil {
			return out, err
		}
		defer func() { err = errors.Join(err, proxy.Close()) }()
		task.Database = through
	}
	stop, err := provider.Serve(task.Provider, watch)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return run(r.Command(ctx), task)
}

// proxy puts one in front of the round's database.
func (r Round) proxy(watch *Watch) (through string, p *Proxy, err error) {
	config, err := pgx.ParseConfig(r.Database)
	if err != nil {
		return "", nil, err
	}
	network, addr := "tcp", net.JoinHostPort(config.Host, fmt.Sprint(config.Port))
	if strings.HasPrefix(config.Host, "/") {
		network, addr = "unix", filepath.Join(config.Host, fmt.Sprintf(".s.PGSQL.%d", config.Port))
	}
	p, err = NewProxy(filepath.Join(r.Dir, ".s.PGSQL.5432"), network, addr, watch)
	if err != nil {
		return "", nil, err
	}
	query := url.Values{"host": {r.Dir}, "port": {"5432"}, "user": {config.User}, "password": {config.Password}}
	return "postgres:///" + config.Database + "?" + query.Encode(), p, nil
}

func (r Round) count(ctx context.Context, provider *Provider) (_ map[string]int, err error) {
	counts := map[string]int{}
	for _, effect := range Effects(r.Scenario) {
		counts[effect] = provider.Count(effect)
	}
	if !slices.Contains(Effects(r.Scenario), "row") {
		return counts, nil
	}
	conn, err := pgx.Connect(ctx, r.Database)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	counts["row"], err = Amount(ctx, conn, r.Order)
	return counts, err
}

// run is a process from its start to its end.
func run(cmd *exec.Cmd, task Task) (out Outcome, err error) {
	text, err := json.Marshal(task)
	if err != nil {
		return out, err
	}
	var stdout, stderr bytes.Buffer
	cmd.Env = append(cmd.Environ(), TaskVariable+"="+string(text))
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return out, fmt.Errorf("%s, %s: %w\n%s", task.Tool, task.Scenario, err, stderr.String())
	}
	if task.Prepare {
		return out, nil
	}
	return out, json.Unmarshal(stdout.Bytes(), &out)
}

// Prepare creates a tool's tables.
func Prepare(cmd *exec.Cmd, tool, database string) error {
	_, err := run(cmd, Task{Tool: tool, Database: database, Watching: database, Prepare: true})
	return err
}
