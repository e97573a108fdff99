// Package canonhash finds keys made of parts that have no canonical form.
package canonhash

import "github.com/idemgen/idem/analyzers/internal/rule"

// Doc is the rule's page.
var Doc = rule.Doc{
	Name:  "canonhash",
	Title: "find keys made of parts without a canonical form",
	What: `
A value that names around it say is a deduplication key, a fingerprint or the like
is made of strings that run together (a join with nothing between, adjacent verbs or
operands, one write into a hash after another), of a map in the order of its
iteration, of %v of a pointer or a map or of a struct that holds one, of a floating
point number as text, or of a URL that was never parsed or whose query is left out.`,
	Why: `
Two different works get the same key, and the second is dropped: "1" and "23" run
together as "12" and "3" do. Or the same work gets two keys and happens twice: an
address differs from process to process, the order of a map from call to call, a
URL by the case of its host or the order of its query.`,
	Silent: `
Values that nothing says are keys; parts between which something stands (a
separator, a length, %q), or of which one has a fixed width; a sorted list; the
whole of a body; %v of an interface, whose value cannot be known.`,
	Fails: `
import (
	"crypto/sha256"
	"encoding/hex"
)

func dedupKey(account, order string) string {
	sum := sha256.Sum256([]byte(account + order))
	return hex.EncodeToString(sum[:])
}`,
	Passes: `
import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

func dedupKey(account, order string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q:%q", account, order))
	return hex.EncodeToString(sum[:])
}`,
	Fix: `
Quote each part (%q), precede it by its length, or hash canonical JSON of a struct
with exactly the fields that identify the work. Sort what comes out of a map; write
amounts in their smallest unit; parse a URL and write it in one form.`,
}
