// Package ids makes identifiers behind names that do not say how.
package ids

import (
	"fmt"

	"github.com/google/uuid"
)

// Next is called by packages that import this one.
func Next() string { return fmt.Sprintf("id_%s", uuid.New()) }

// WithPrefix appends a new identifier to a prefix.
func WithPrefix(prefix string) string { return prefix + "_" + Next() }

// Ensure returns an identifier if there is one.
func Ensure(id string) string {
	if id == "" {
		return Next()
	}
	return id
}

// ForName is the same for the same name.
func ForName(name string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(name)).String()
}
