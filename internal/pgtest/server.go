package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// URLVariable leads to a server whose user may create databases.
const URLVariable = "IDEM_TEST_POSTGRES_URL"

// RequireVariable makes a test that finds no server fail.
const RequireVariable = "IDEM_REQUIRE_POSTGRES"

// A Server is started by the first test that asks for it.
type Server struct {
	start func() (string, error)

	mu  sync.Mutex
	bin string // where the programs are
	dir string
	cmd *exec.Cmd
	log bytes.Buffer
	// over is closed when the server has ended.
	over chan struct{}
}

// New is a server that is not started yet.
func New() *Server {
	s := new(Server)
	s.start = sync.OnceValues(s.find)
	return s
}

// Main runs tests and stops the server after them.
func (s *Server) Main(m *testing.M) int {
	code := m.Run()
	if err := s.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest: stop:", err)
		return max(code, 1)
	}
	return code
}

// errNone: there is nothing to start.
var errNone = errors.New("no PostgreSQL was found, neither in PATH nor in /usr/lib/postgresql, and " + URLVariable + " is not set")

// URL leads to a database of the server, with the right to create others. Without
// a server the test is skipped.
func (s *Server) URL(t testing.TB) string {
	t.Helper()
	at, err := s.start()
	switch {
	case errors.Is(err, errNone) && os.Getenv(RequireVariable) == "":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	return at
}

func (s *Server) find() (string, error) {
	if at := os.Getenv(URLVariable); at != "" {
		return at, nil
	}
	bin, err := binaries()
	if err != nil {
		return "", err
	}
	return s.run(bin)
}

// binaries is the folder of the newest server that is installed.
func binaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil && isFile(filepath.Join(filepath.Dir(path), "postgres")) {
			return filepath.Dir(path), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", errNone
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // another name is the oldest
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// settings are those of a server that is to be trusted with nothing but to keep
// what it has acknowledged: fsync stays on.
func settings(dir string) []string {
	return []string{
		"-D", filepath.Join(dir, "data"), "-k", dir, "-h", "",
		"-c", "fsync=on", "-c", "max_connections=200", "-c", "shared_buffers=64MB",
		"-c", "log_min_messages=fatal", "-c", "autovacuum_naptime=60",
	}
}

func (s *Server) run(bin string) (_ string, err error) {
	dir, err := os.MkdirTemp("", "idem-pg-") // short: a socket's path has at most 107 bytes
	if err != nil {
		return "", err
	}
	s.bin, s.dir = bin, dir
	attr, err := asNobody(dir)
	if err != nil {
		return "", err
	}
	init := exec.Command(filepath.Join(bin, "initdb"), "-D", filepath.Join(dir, "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	init.Dir, init.SysProcAttr = dir, attr
	if out, err := init.CombinedOutput(); err != nil {
		return "", fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if err := s.boot(attr); err != nil {
		return "", err
	}
	return "postgres:///postgres?user=postgres&host=" + url.QueryEscape(dir), nil
}

// boot starts the server and waits until it takes connections.
func (s *Server) boot(attr *syscall.SysProcAttr) error {
	s.log.Reset()
	s.cmd = exec.Command(filepath.Join(s.bin, "postgres"), settings(s.dir)...)
	s.cmd.Dir, s.cmd.SysProcAttr = s.dir, attr
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.launch(); err != nil {
		return err
	}
	deadline := time.Now().Add(time.Minute)
	for exec.Command(filepath.Join(s.bin, "pg_isready"), "-q", "-h", s.dir).Run() != nil {
		select {
		case <-s.over:
			return fmt.Errorf("the server has ended:\n%s", s.log.String())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return errors.New("the server does not start")
		}
	}
	return nil
}

// Own reports that the server is one that was started here.
func (s *Server) Own() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cmd != nil
}

// Crash ends a server of one's own at once, as a loss of power would, whoever is
// connected, and starts it again: it recovers what it has acknowledged.
func (s *Server) Crash() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return errors.New("there is no server that was started here")
	}
	if err := s.halt(); err != nil {
		return err
	}
	return s.boot(s.cmd.SysProcAttr)
}

// halt is what PostgreSQL calls an immediate shutdown: nothing is written any more.
func (s *Server) halt() error {
	if err := s.cmd.Process.Signal(syscall.SIGQUIT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-s.over
	return nil
}

// launch starts the server from a thread that stays, since a server is told to end
// when the thread that started it does: see endWithParent.
func (s *Server) launch() error {
	started := make(chan error)
	s.over = make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer close(s.over)
		err := s.cmd.Start()
		started <- err
		if err == nil {
			_ = s.cmd.Wait() // how it ends is of no interest
		}
	}()
	return <-started
}

// asNobody gives the folder to a user without rights if this process has too many:
// the server refuses to run as root.
func asNobody(dir string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{}
	endWithParent(attr)
	if os.Geteuid() != 0 {
		return attr, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.Atoi(u.Gid)
		if err != nil {
			return nil, err
		}
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return attr, os.Chown(dir, uid, gid)
	}
	return nil, errors.New("the server does not run as root, and there is neither a user postgres nor nobody")
}

// Stop ends the server, if it was started, and removes its files.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil && s.cmd.Process != nil {
		// Whoever is connected is thrown out: nothing of it is needed any more.
		if err := s.halt(); err != nil {
			return err
		}
		s.cmd = nil
	}
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// Database leads to a new database of the server, which is gone after the test.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	at := s.URL(t)
	name := fmt.Sprintf("idem_%016x", rand.Uint64())
	admin := func(statement string) error {
		ctx := context.WithoutCancel(t.Context()) // also after the test
		conn, err := pgx.Connect(ctx, at)
		if err != nil {
			return err
		}
		_, err = conn.Exec(ctx, statement)
		return errors.Join(err, conn.Close(ctx))
	}
	if err := admin(`CREATE DATABASE ` + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := admin(`DROP DATABASE ` + name + ` WITH (FORCE)`); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(at)
	if err != nil {
		t.Fatalf("%s: %v", URLVariable, err)
	}
	u.Path = "/" + name
	return u.String()
}
