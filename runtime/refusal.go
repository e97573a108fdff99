package idem

// refusal is what the row of a refused effect keeps, so that the handler takes
// the same branch in every attempt.
type refusal struct {
	Message string   `json:"error"`
	Is      []string `json:"is,omitempty"` // the contract's names of the errors that it matched
}

// longestRefusal is how many bytes of a refusal's message are kept: an error can
// carry the whole page that a proxy answered with.
const longestRefusal = 4 << 10

// refusalOf records err with those of the contract's named errors that it is.
func (r reading) refusalOf(err error) refusal {
	kept := refusal{Message: shorten(err.Error(), longestRefusal)}
	for _, m := range r.named() {
		if m.is(err) {
			kept.Is = append(kept.Is, m.Name)
		}
	}
	return kept
}

// storedError is an error as a row kept it. It matches the named error values
// that the original matched; the types of errors do not survive.
type storedError struct {
	message string
	values  []error
}

func (e *storedError) Error() string   { return e.message }
func (e *storedError) Unwrap() []error { return e.values }

// stored makes an error of what a row has kept.
func (r reading) stored(kept refusal) *storedError {
	stored := &storedError{message: kept.Message}
	for _, m := range r.named() {
		for _, name := range kept.Is {
			if m.Name == name && m.value != nil {
				stored.values = append(stored.values, m.value)
			}
		}
	}
	return stored
}

// refused answers from the row of a refused effect.
func (a *attempt[In, Out]) refused() error {
	row := &a.entry.row
	kept, err := decode[refusal](&a.run.core.codecs, row.Result, a.place(PartResult))
	switch {
	case row.Result.Codec == CodecNone, row.Result.Codec == CodecDropped:
		kept = refusal{Message: row.LastError}
	case err != nil:
		return a.unreadable(err)
	}
	return a.run.fail(ErrEffectRefused, a.id.Name, ClassPermanent, a.run.read.stored(kept))
}
