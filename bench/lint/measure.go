package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cost is what one run has taken.
type cost struct {
	cpu    time.Duration // of all its processes, in both modes
	memory int64         // bytes that they held at once, at most
}

// measure runs a command. Tools that find something fail: that is no failure.
func measure(ctx context.Context, dir string, env []string, args ...string) (cost, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "PWD="+dir, "GOWORK=off"), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return cost{}, err
	}
	done, peak := make(chan struct{}), make(chan int64)
	go func() { peak <- watch(cmd.Process.Pid, done) }()
	err := cmd.Wait()
	close(done)
	c := cost{memory: <-peak, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if err != nil && (cmd.ProcessState.ExitCode() < 0 || bytes.Contains(out.Bytes(), []byte("panic:"))) {
		return c, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out.Bytes()[:min(out.Len(), 4000)])
	}
	return c, nil
}

// watch gives the most memory that a group of processes has held.
func watch(group int, done <-chan struct{}) int64 {
	most := int64(0)
	for {
		select {
		case <-done:
			return most
		case <-time.After(20 * time.Millisecond):
			most = max(most, held(group))
		}
	}
}

// held is the resident memory of a group of processes; those that end meanwhile
// hold nothing.
func held(group int) int64 {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well formed
	sum := int64(0)
	for _, name := range stats {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		// pid (name) state ppid pgrp … rss, the name being anything
		_, rest, _ := strings.Cut(string(data[bytes.LastIndexByte(data, ')')+1:]), " ")
		fields := strings.Fields(rest)
		if len(fields) < 22 || fields[2] != strconv.Itoa(group) {
			continue
		}
		pages, err := strconv.ParseInt(fields[21], 10, 64)
		if err == nil {
			sum += pages * int64(os.Getpagesize())
		}
	}
	return sum
}
