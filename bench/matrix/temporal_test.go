package matrix_test

import (
	"bufio"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idem/bench/matrix"
)

// temporal builds the program and the server, which are modules of their own, and
// starts the server.
func temporal(t *testing.T) []program {
	t.Helper()
	dir := t.TempDir()
	build := func(from, name string) string {
		path := filepath.Join(dir, name)
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", from, "-o", path, ".").CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", from, err, out)
		}
		return path
	}
	worker := build("temporal", "worker")
	server := exec.Command(build("temporal/server", "server"))
	lives, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	says, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = lives.Close() // it may be gone already, which is what Wait says
		if err := server.Wait(); err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(says).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	at, namespace, _ := strings.Cut(strings.TrimSpace(line), " ")
	command := func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, worker)
		cmd.Env = append(cmd.Environ(), matrix.TemporalVariable+"="+at, matrix.NamespaceVariable+"="+namespace)
		return cmd
	}
	// On a busy machine the server lets requests time out.
	const again = 3
	return []program{
		{matrix.Tool{Name: "Temporal"}, command, again},
		{matrix.Tool{Name: "Temporal, MaximumAttempts 1", Not: []string{"search", "row"}}, command, again},
	}
}
