package model

// Redaction is what the ledger must not store of an input, as a tree of fields:
// the root is the input itself.
type Redaction struct {
	// Name is the field's, as code selects it from the one above.
	Name string
	// Pointer says that the field is a pointer: what it points to is somebody else's
	// too, and is copied before it is changed.
	Pointer bool
	// Fields are what goes inside it. Without any the field goes as a whole.
	Fields []*Redaction
	// Zero is the value of a field that goes: Go code, or empty for the zero value of
	// the composite type Type.
	Zero string
	Type *Type
}

// Field is the field of that name inside the redaction, made if it is not there.
func (r *Redaction) Field(step Step) *Redaction {
	for _, f := range r.Fields {
		if f.Name == step.Name {
			return f
		}
	}
	f := &Redaction{Name: step.Name, Pointer: step.Pointer}
	r.Fields = append(r.Fields, f)
	return f
}
