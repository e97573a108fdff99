package resolve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// listed is what the go command says about a package.
type listed struct {
	ImportPath string
	Name       string
	Dir        string
	Export     string // file with export data; empty if the package does not compile
	Standard   bool
	// BuildID is not read. It makes the answer of the go command another one when
	// the export data is, wherever it has that from.
	BuildID string
	Error   *struct{ Err string }
}

// goList asks the go command for the export data of packages, all at once. A
// package that cannot be found or compiled is no error here: it has no Export.
func (r *run) goList(ctx context.Context, root string, paths []string) ([]*listed, error) {
	args := []string{"list", "-e", "-export", "-json=ImportPath,Name,Dir,Export,Standard,BuildID,Error"}
	if r.options.Tags != "" {
		args = append(args, "-tags="+r.options.Tags)
	}
	args = append(append(args, "--"), paths...)
	answer := r.options.World.Go(ctx, root, args...)
	r.stats.GoList += answer.Took
	r.stats.GoListCalls++
	r.stats.Imports += len(paths)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	packages, decodeErr := decodeListed(bytes.NewReader(answer.Stdout))
	if decodeErr != nil {
		return nil, fmt.Errorf("read the answer of go list: %w", decodeErr)
	}
	// With -e the go command also fails for packages that do not compile, after
	// having answered for the others.
	if answer.Err != nil && len(packages) == 0 {
		return nil, goError("list", answer.Err, answer.Stderr)
	}
	return packages, nil
}

func decodeListed(r io.Reader) ([]*listed, error) {
	var packages []*listed
	for dec := json.NewDecoder(r); ; {
		p := new(listed)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// goError is the first line of what the go command complained about, and the
// next one where that only announces it.
func goError(verb string, err error, stderr string) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("run go %s: %w: types are read with the go command", verb, err)
	}
	line, rest, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	if strings.HasSuffix(line, ":") && rest != "" {
		next, _, _ := strings.Cut(rest, "\n")
		line += " " + strings.TrimSpace(next)
	}
	if line == "" {
		return fmt.Errorf("run go %s: %w", verb, err)
	}
	return fmt.Errorf("run go %s: %s", verb, line)
}
