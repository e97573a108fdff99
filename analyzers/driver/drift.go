package driver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/idemgen/idem/analyzers"
	"github.com/idemgen/idem/analyzers/contractdrift"
	"github.com/idemgen/idem/internal/directive"
)

// Contract files are compared with what was generated from them here, and not by the
// analyzer: go vet, golangci-lint and gopls remember what they have found by the Go
// files that it depends on, and would go on saying what a contract file was like
// when they last looked.

const (
	contractSuffix  = ".idem.yaml"
	generatedSuffix = "_idem.go"
	lockName        = "idem.lock"
)

// drift compares the contract files of the packages with their generated code.
func (o Options) drift(ctx context.Context) ([]Finding, error) {
	wanted, err := o.wants(contractdrift.Doc.Name)
	if err != nil || !wanted {
		return nil, err
	}
	args := append([]string{"list", "-e", "-find", "-f", "{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}"}, o.Build...)
	stdout, _, err := o.command(ctx, append(args, o.Packages...)...)
	if err != nil {
		return nil, err
	}
	d := &drifts{locks: map[string]*lockFile{}}
	for dir := range strings.Lines(string(stdout)) {
		if dir = strings.TrimSpace(dir); dir != "" {
			if err := d.folder(dir); err != nil {
				return nil, err
			}
		}
	}
	return d.found, nil
}

// wants tells whether a rule is to run, by the flags that the tool is given.
func (o Options) wants(rule string) (bool, error) {
	all, err := analyzers.New(analyzers.Options{})
	if err != nil {
		return false, err
	}
	f := newFlags(all)
	if err := f.set.Parse(o.Args); err != nil {
		return false, err
	}
	for _, a := range f.wanted(all) {
		if a.Name == rule {
			return true, nil
		}
	}
	return false, nil
}

// drifts collects findings.
type drifts struct {
	locks map[string]*lockFile // by folder; nil: none there or above
	found []Finding
}

func (d *drifts) say(file string, line int, message, advice string) {
	at := Position{File: file, Line: line, Column: 1}
	d.found = append(d.found, Finding{
		Rule: contractdrift.Doc.Name, Pos: at, End: at, URL: contractdrift.Doc.URL(),
		Message: message + " (" + advice + ")",
	})
}

func (d *drifts) folder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("looking for contract files: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case strings.HasPrefix(name, ".") || e.IsDir():
		case strings.HasSuffix(name, contractSuffix):
			err = d.contract(dir, name)
		case strings.HasSuffix(name, generatedSuffix):
			err = d.generated(dir, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// contract looks for what was generated from a contract file.
func (d *drifts) contract(dir, name string) error {
	path, output := filepath.Join(dir, name), strings.TrimSuffix(name, contractSuffix)+generatedSuffix
	src, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading a contract file: %w", err)
	}
	code, err := os.ReadFile(filepath.Join(dir, output))
	if errors.Is(err, fs.ErrNotExist) {
		d.say(path, 1, name+" has no generated code: "+output+" is missing", "run idemgen")
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading generated code: %w", err)
	}
	for _, source := range directive.Named(code, directive.Source) {
		if directive.IsGenerated(code) && source.Get("sha256") != directive.SourceDigest(src) {
			d.say(path, 1, name+" has changed since "+output+" was generated from it", "run idemgen")
		}
	}
	return nil
}

// generated compares the header of a generated file with the contract file that it
// names, and with idem.lock.
func (d *drifts) generated(dir, name string) error {
	path := filepath.Join(dir, name)
	code, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading generated code: %w", err)
	}
	if !directive.IsGenerated(code) {
		return nil
	}
	source := strings.TrimSuffix(name, generatedSuffix) + contractSuffix
	if _, err := os.Stat(filepath.Join(dir, source)); errors.Is(err, fs.ErrNotExist) {
		d.say(path, 1, "the contract file "+source+" is gone, from which "+name+" was generated", "run idemgen, which deletes it, or restore the contract")
		return nil
	}
	lock, err := d.lock(dir)
	if err != nil {
		return err
	}
	if lock != nil && lock.broken {
		return nil
	}
	for _, c := range directive.Named(code, directive.Contract) {
		kind, version, digest := c.Get("kind"), c.Get("version"), c.Get("digest")
		if digest == "" {
			continue
		}
		line := 1 + bytes.Count(code[:max(0, bytes.Index(code, []byte(c.String())))], []byte("\n"))
		switch known, ok := lock.digest(kind, version); {
		case lock == nil:
			d.say(path, line, "there is no "+lockName+", which keeps the identity of "+kind, "restore it from version control, or run idemgen")
			return nil
		case !ok:
			d.say(path, line, lockName+" does not know version "+version+" of "+kind, "run idemgen, and commit both")
		case known != digest:
			d.say(path, line, lockName+" has another identity for version "+version+" of "+kind+" than its generated code", "run idemgen, which says what has changed")
		}
	}
	return nil
}

// lockFile is as much of an idem.lock as tells identities apart.
type lockFile struct {
	broken bool
	Kinds  map[string]struct {
		Versions map[string]struct {
			Digest string `yaml:"digest"`
		} `yaml:"versions"`
	} `yaml:"kinds"`
}

func (l *lockFile) digest(kind, version string) (string, bool) {
	if l == nil {
		return "", false
	}
	v, ok := l.Kinds[kind].Versions[version]
	return v.Digest, ok
}

// lock is the idem.lock of the module that a folder is in.
func (d *drifts) lock(dir string) (*lockFile, error) {
	if l, ok := d.locks[dir]; ok {
		return l, nil
	}
	l, err := d.readLock(dir)
	if err == nil {
		d.locks[dir] = l
	}
	return l, err
}

func (d *drifts) readLock(dir string) (*lockFile, error) {
	name := filepath.Join(dir, lockName)
	src, err := os.ReadFile(name)
	switch {
	case err == nil:
		l := new(lockFile)
		if err := yaml.Unmarshal(src, l); err != nil {
			l.broken = true
			d.say(name, 1, lockName+" cannot be read: "+err.Error(), "restore it from version control")
		}
		return l, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("reading the lock: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || filepath.Dir(dir) == dir {
		return nil, nil // the module ends here
	}
	return d.lock(filepath.Dir(dir))
}
