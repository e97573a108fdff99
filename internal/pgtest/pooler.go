package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// PoolerRequireVariable makes a test that finds no pooler fail.
const PoolerRequireVariable = "IDEM_REQUIRE_PGBOUNCER"

// A Pooler is PgBouncer in front of a server, in transaction mode: each transaction
// of a client may have another of the server's connections.
type Pooler struct {
	// URL leads to the server's database through it.
	URL string
	// Version is such as 1, 21.
	Version [2]int
}

// KeepsStatements reports that the pooler knows prepared statements apart, and takes
// them along to whatever connection a transaction has: since version 1.21.
func (p *Pooler) KeepsStatements() bool {
	return slices.Compare(p.Version[:], []int{1, 21}) >= 0
}

// Pooler starts a pooler with a few connections, which ends with the test. Where
// PgBouncer is not installed, the test is skipped.
func (s *Server) Pooler(t testing.TB) *Pooler {
	t.Helper()
	at := s.URL(t)
	bin, err := findPooler()
	switch {
	case err != nil && os.Getenv(PoolerRequireVariable) == "":
		t.Skipf("no PgBouncer was found: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	p, err := startPooler(t, bin, at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// HasPooler reports that PgBouncer is installed.
func HasPooler() bool {
	_, err := findPooler()
	return err == nil
}

func findPooler() (string, error) {
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return path, nil
	}
	const usual = "/usr/sbin/pgbouncer" // not in everybody's PATH
	if !isFile(usual) {
		return "", errors.New("neither in PATH nor as " + usual)
	}
	return usual, nil
}

// poolerConfig has so few connections that transactions share them.
const poolerConfig = `[databases]
* = %s
[pgbouncer]
unix_socket_dir = %s
listen_port = 6432
auth_type = trust
auth_file = %s
pool_mode = transaction
default_pool_size = 8
max_client_conn = 500
ignore_startup_parameters = extra_float_digits
%s`

func startPooler(t testing.TB, bin, at string) (*Pooler, error) {
	p := &Pooler{}
	if err := p.readVersion(bin); err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(at)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "idem-pgb-") // short, as that of the server
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	attr, err := asNobody(dir)
	if err != nil {
		return nil, err
	}
	more := ""
	if p.KeepsStatements() {
		more = "max_prepared_statements = 200\n"
	}
	server := fmt.Sprintf("host=%s port=%d user=%s", config.Host, config.Port, config.User)
	if config.Password != "" {
		server += " password=" + config.Password
	}
	users := filepath.Join(dir, "users")
	ini := filepath.Join(dir, "pgbouncer.ini")
	err = errors.Join(
		os.WriteFile(users, []byte(strconv.Quote(config.User)+` ""`+"\n"), 0o644),
		os.WriteFile(ini, fmt.Appendf(nil, poolerConfig, server, dir, users, more), 0o644))
	if err != nil {
		return nil, err
	}
	p.URL = (&url.URL{Scheme: "postgres", Path: "/" + config.Database, RawQuery: url.Values{"host": {dir}, "port": {"6432"}, "user": {config.User}}.Encode()}).String()
	cmd := exec.Command(bin, ini)
	cmd.Dir, cmd.SysProcAttr = dir, attr
	return p, p.launch(t, cmd)
}

var poolerVersion = regexp.MustCompile(`PgBouncer (\d+)\.(\d+)`)

func (p *Pooler) readVersion(bin string) error {
	out, err := exec.Command(bin, "--version").Output()
	if err != nil {
		return fmt.Errorf("pgbouncer --version: %w", err)
	}
	m := poolerVersion.FindStringSubmatch(string(out))
	if m == nil {
		return fmt.Errorf("pgbouncer --version says %s", strings.TrimSpace(string(out)))
	}
	for i := range p.Version {
		p.Version[i], _ = strconv.Atoi(m[1+i]) // digits
	}
	return nil
}

// launch starts the pooler, and waits until it takes connections. The thread that
// starts it stays: see endWithParent.
func (p *Pooler) launch(t testing.TB, cmd *exec.Cmd) error {
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	started, over := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer close(over)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // it is killed
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	t.Cleanup(func() {
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
		<-over
	})
	for deadline := time.Now().Add(time.Minute); ; {
		conn, err := pgx.Connect(t.Context(), p.URL+"&default_query_exec_mode=simple_protocol")
		if err == nil {
			return conn.Close(context.WithoutCancel(t.Context()))
		}
		select {
		case <-over:
			return fmt.Errorf("the pooler has ended: %w\n%s", err, log.String())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the pooler does not start: %w", err)
		}
	}
}
