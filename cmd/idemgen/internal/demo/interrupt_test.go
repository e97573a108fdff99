//go:build unix

package demo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// runAlone makes this test's program the demo, so that it can be interrupted as
// the command is.
const runAlone = "DEMO_TEST_RUN_ALONE"

func TestMain(m *testing.M) {
	if os.Getenv(runAlone) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := Interruptible(context.Background())
	defer stop()
	if err := Run(ctx, Options{Orders: fewOrders, Dir: checkout, Out: os.Stdout}); err != nil {
		fmt.Fprintln(os.Stderr, "ended:", err)
		os.Exit(1)
	}
}

func TestAnInterruptLeavesNeitherFolderNorProcess(t *testing.T) {
	for _, test := range []struct {
		moment string
		after  string // the line that is waited for
		signal os.Signal
	}{
		{"compiling", "building", os.Interrupt},
		{"charging", "naive        serving", syscall.SIGTERM},
		{"restarting", "killed", os.Interrupt},
		{"waiting", "leases last", syscall.SIGHUP},
		{"nobody reads", "naive        serving", nil},
	} {
		t.Run(test.moment, func(t *testing.T) {
			temp := t.TempDir()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), runAlone+"=1", "TMPDIR="+temp)
			cmd.Stderr = testWriter{t}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			story := interruptAfter(t, cmd, stdout, test.after, test.signal)
			err = cmd.Wait()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
				t.Errorf("it ended with %v, want exit code 1\n%s", err, story)
			}
			if left := snapshot(t, temp); len(left) > 0 {
				t.Errorf("left in the temporary folder: %d files\n%s", len(left), story)
			}
			expectNoProcess(t, story)
		})
	}
}

// interruptAfter reads the story, a character at a time since lines are ended
// late, and sends the signal once; nil stops reading. It gives the story.
func interruptAfter(t *testing.T, cmd *exec.Cmd, stdout io.ReadCloser, after string, s os.Signal) string {
	t.Helper()
	in := bufio.NewReader(stdout)
	var story bytes.Buffer
	sent := false
	for {
		c, err := in.ReadByte()
		if err != nil {
			break
		}
		story.WriteByte(c)
		if !sent && strings.HasSuffix(story.String(), after) {
			sent = true
			if s == nil {
				if err := stdout.Close(); err != nil {
					t.Fatal(err)
				}
				break
			}
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !sent {
		t.Fatalf("it never came to %q:\n%s", after, &story)
	}
	return story.String()
}

var processes = regexp.MustCompile(`process (\d+)`)

// expectNoProcess looks for the processes that the story tells of.
func expectNoProcess(t *testing.T, story string) {
	t.Helper()
	for _, found := range processes.FindAllStringSubmatch(story, -1) {
		pid, err := strconv.Atoi(found[1])
		if err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(5 * time.Second)
		for syscall.Kill(pid, 0) == nil {
			if time.Now().After(deadline) {
				t.Errorf("process %d is left\n%s", pid, story)
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}
