package driver

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/idemgen/idem/analyzers"
)

// catalogues is a digest of the users' catalogues of all main modules, or empty if
// there are none. The go command asks the tool for its version in the folder where
// it was started, and may know nothing of a catalogue in another module of a
// workspace.
func (o Options) catalogues(ctx context.Context) (string, error) {
	stdout, failure, err := o.command(ctx, "list", "-m", "-f", "{{.Dir}}")
	if err != nil || failure != "" {
		return "", err // outside a module, say; go vet will speak of it
	}
	h := sha256.New()
	found := false
	for _, dir := range strings.Split(strings.TrimSpace(string(stdout)), "\n") {
		c, err := analyzers.Find(dir)
		if err != nil {
			return "", err
		}
		if c.Extra != nil {
			found = true
			fmt.Fprintf(h, "%q %d\n%s", dir, len(c.Extra), c.Extra)
		}
	}
	if !found {
		return "", nil
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
