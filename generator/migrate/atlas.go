package migrate

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// sumName is the file in which atlas keeps the digest of a folder. Its first line
// is of the others, each of which is of a file and all before it, so that two
// people who add a migration each get a conflict in version control.
const sumName = "atlas.sum"

// checkSum refuses a folder that atlas would refuse: to write a new digest would
// be to vouch for files that somebody has changed.
func checkSum(dir string) error {
	want, err := sum(dir)
	if err != nil {
		return err
	}
	have, err := os.ReadFile(filepath.Join(dir, sumName))
	switch {
	case errors.Is(err, fs.ErrNotExist) && want == emptySum:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the folder has migrations and no %s: run atlas migrate hash first", sumName)
	case err != nil:
		return fmt.Errorf("read %s: %w", sumName, err)
	case strings.ReplaceAll(string(have), "\r\n", "\n") != want:
		return fmt.Errorf("%s does not fit the files: look at what has changed, and run atlas migrate hash first", sumName)
	}
	return nil
}

// writeSum replaces the digest in one step.
func writeSum(dir string) (err error) {
	text, err := sum(dir)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".atlas-*.tmp")
	if err != nil {
		return fmt.Errorf("write %s: %w", sumName, err)
	}
	_, err = temp.WriteString(text)
	err = errors.Join(err, temp.Chmod(0o644), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), filepath.Join(dir, sumName))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", sumName, err), os.Remove(temp.Name()))
	}
	return nil
}

// emptySum is the digest of a folder without migrations.
const emptySum = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"

// ignored is how a file begins whose content atlas leaves out.
var ignored = regexp.MustCompile(`^[ -~]*atlas:sum +ignore(?:[^ -~]|$)`)

// sum is the text of atlas.sum for the files of a folder.
func sum(dir string) (string, error) {
	entries, err := os.ReadDir(dir) // sorted by name, as atlas does
	if err != nil {
		return "", fmt.Errorf("list the migrations: %w", err)
	}
	each, all := sha256.New(), sha256.New()
	var lines strings.Builder
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".sql") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", fmt.Errorf("read a migration: %w", err)
		}
		each.Write([]byte(name))
		if ignored.Match(content) {
			continue
		}
		each.Write(content)
		digest := base64.StdEncoding.EncodeToString(each.Sum(nil))
		all.Write([]byte(name + digest))
		lines.WriteString(name + " h1:" + digest + "\n")
	}
	return "h1:" + base64.StdEncoding.EncodeToString(all.Sum(nil)) + "\n" + lines.String(), nil
}
