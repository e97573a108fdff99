package generator

import "github.com/idemgen/idem/contracts"

// Schema is the JSON Schema (2020-12) of the contract language, for editors. It
// ends with a newline.
func Schema() ([]byte, error) { return contracts.Schema() }
