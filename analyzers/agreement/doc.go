// Package agreement holds that all drivers find the same, as rule, position and
// message: idemlint itself, go vet, golangci-lint and gopls.
package agreement
