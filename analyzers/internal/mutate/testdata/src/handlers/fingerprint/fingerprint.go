// Package fingerprint recognises alerts that say the same.
package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

type Alert struct {
	Name   string
	Host   string
	Labels map[string]string
}

// Fingerprint is the same for the same alert.
func Fingerprint(a Alert) string {
	parts := []string{a.Name, /*hashed[*/a.Host/*]*/}
	sum := sha256.Sum256([]byte(strings.Join(parts, /*sep[*/"\x1f"/*]*/)))
	return hex.EncodeToString(sum[:])
}

// LabelsFingerprint is the same for the same labels, in whatever order.
func LabelsFingerprint(a Alert) string {
	h := sha256.New()
	/*sorted[*/keys := make([]string, 0, len(a.Labels))
	for k := range a.Labels {
		keys = append(keys, k)
	}
	slices.Sort(keys)/*]*/
	for /*range:k := range a.Labels[*/_, k := range keys/*]*/ {
		fmt.Fprintf(h, /*frame:"%s%s"[*/"%q=%q;"/*]*/, k, a.Labels[k])
	}
	return hex.EncodeToString(h.Sum(nil))
}
