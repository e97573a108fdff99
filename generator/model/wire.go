package model

import (
	"strings"

	"github.com/idemgen/idem/runtime/canon"
)

// WireName is a name in JSON as a step of a path: as it is if it is a word, else
// in quotes, so that paths of different steps differ.
func WireName(name string) string {
	if name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" && name[0] != '-' {
		return name
	}
	quoted := string(canon.AppendKey(nil, name))
	return strings.TrimSuffix(quoted, ":")
}
