// Package volatilehash finds hashes that change with every attempt or delivery.
package volatilehash

import "github.com/idemgen/idem/analyzers/internal/rule"

// Doc is the rule's page.
var Doc = rule.Doc{
	Name:  "volatilehash",
	Title: "find hashes for deduplication that hold volatile values",
	What: `
The clock or something random goes into a hash whose name says that it is a key, a
fingerprint or the like. The time of receipt, or the ID of a request, trace or span,
is hashed beside fields of the work, whatever the hash is called; or an encoded
struct or map that holds one is (tags are respected). Fields such as Timestamp and
UpdatedAt count where a name says that the hash or the text is a key.`,
	Why: `
A hash is to be the same for the same work. What differs between two deliveries of
it makes every delivery new, so nothing is ever recognised as done.`,
	Silent: `
Hashes for other ends: ETags, signatures, session and refresh tokens, PKCE, caches,
logs; times that belong to the work, such as when something is scheduled or a
period begins.`,
	Fails: `
import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

type Event struct {
	Order     string
	RequestID string
}

func dedupKey(e Event) (string, error) {
	data, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}`,
	Passes: `
import (
	"crypto/sha256"
	"encoding/hex"
)

type Event struct {
	Order     string
	RequestID string
}

func dedupKey(e Event) string {
	sum := sha256.Sum256([]byte(e.Order))
	return hex.EncodeToString(sum[:])
}`,
	Fix: `
Hash the fields that identify the work and no others. If all but a few do, give the
struct a form without the volatile ones: a tag json:"-", or a type of its own.`,
}
