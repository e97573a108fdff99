package report

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/idemgen/idem/analyzers/driver"
)

// Changes are the lines that differ from a revision.
type Changes struct {
	whole map[string]bool     // files that it does not know
	lines map[string][][2]int // first and last line of each hunk
}

// Since asks git what differs between a revision and the files as they are
// now, in a folder's repository.
func Since(ctx context.Context, dir, revision string) (*Changes, error) {
	if strings.HasPrefix(revision, "-") {
		return nil, fmt.Errorf("-new-from %s: not a revision", revision)
	}
	top, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("-new-from %s: %w", revision, err)
	}
	root := Resolved(strings.TrimSuffix(string(top), "\n"))
	if _, err := git(ctx, root, "rev-parse", "--verify", "--quiet", revision+"^{commit}"); err != nil {
		return nil, fmt.Errorf("-new-from %s: the repository has no such revision (a shallow clone has none but the last: fetch it first)", revision)
	}
	diff, err := git(ctx, root, "diff", "--no-color", "--no-ext-diff", "--no-renames", "--unified=0", "--src-prefix=", "--dst-prefix=", revision, "--", "*.go")
	if err != nil {
		return nil, fmt.Errorf("-new-from %s: %w", revision, err)
	}
	c := &Changes{whole: map[string]bool{}, lines: map[string][][2]int{}}
	if err := c.read(root, diff); err != nil {
		return nil, fmt.Errorf("-new-from %s: %w", revision, err)
	}
	untracked, err := git(ctx, root, "ls-files", "-z", "--others", "--exclude-standard", "--", "*.go")
	if err != nil {
		return nil, fmt.Errorf("-new-from %s: %w", revision, err)
	}
	for name := range strings.SplitSeq(string(untracked), "\x00") {
		if name != "" {
			c.whole[filepath.Join(root, filepath.FromSlash(name))] = true
		}
	}
	return c, nil
}

func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if said := bytes.TrimSpace(exit.Stderr); len(said) > 0 {
			return nil, fmt.Errorf("git %s: %s", args[0], said)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out, nil
}

// read reads a diff without context.
func (c *Changes) read(root string, diff []byte) error {
	scan := bufio.NewScanner(bytes.NewReader(diff))
	scan.Buffer(nil, len(diff)+1)
	file, old, added := "", 0, 0 // lines of the hunk yet to come: they may look like a header
	for scan.Scan() {
		line := scan.Text()
		switch {
		case old > 0 && strings.HasPrefix(line, "-"):
			old--
		case added > 0 && strings.HasPrefix(line, "+"):
			added--
		case strings.HasPrefix(line, "+++ "):
			name, err := unquote(strings.TrimSuffix(line[len("+++ "):], "\t"))
			if err != nil {
				return err
			}
			file = filepath.Join(root, filepath.FromSlash(name))
		case strings.HasPrefix(line, "@@ "):
			fields := strings.Fields(line)
			if len(fields) < 3 {
				return fmt.Errorf("cannot read %q", line)
			}
			_, n, err := hunk(fields[1], '-')
			if err != nil {
				return err
			}
			first, m, err := hunk(fields[2], '+')
			if err != nil {
				return err
			}
			old, added = n, m
			c.lines[file] = append(c.lines[file], touched(first, m))
		}
	}
	return scan.Err()
}

// touched are the lines of a hunk. Where lines were only taken away, those on
// both sides are: it may be the lock that is gone.
func touched(first, n int) [2]int {
	if n == 0 {
		return [2]int{first, first + 1}
	}
	return [2]int{first, first + n - 1}
}

// hunk reads -3,2 or +7.
func hunk(s string, sign byte) (first, n int, err error) {
	start, count, has := strings.Cut(strings.TrimPrefix(s, string(sign)), ",")
	if first, err = strconv.Atoi(start); err != nil {
		return 0, 0, err
	}
	if !has {
		return first, 1, nil
	}
	n, err = strconv.Atoi(count)
	return first, n, err
}

// unquote reads a name as git writes those with unusual characters.
func unquote(name string) (string, error) {
	if !strings.HasPrefix(name, `"`) {
		return name, nil
	}
	return strconv.Unquote(name)
}

// Hold tells whether a finding, or a place that belongs to it, is in what changed.
func (c *Changes) Hold(f driver.Finding) bool {
	if c.touch(f.Pos.File, f.Pos.Line, max(f.Pos.Line, f.End.Line)) {
		return true
	}
	for _, r := range f.Related {
		if c.touch(r.Pos.File, r.Pos.Line, r.Pos.Line) {
			return true
		}
	}
	return false
}

func (c *Changes) touch(file string, first, last int) bool {
	if c.whole[file] {
		return true
	}
	for _, l := range c.lines[file] {
		if first <= l[1] && l[0] <= last {
			return true
		}
	}
	return false
}
