package model

// Sample is a value of a form: that of which a golden key was derived.
type Sample struct {
	Form *Form
	// Nil says that a pointer is nil, or that a list or map is empty.
	Nil     bool
	Text    string    // what a string holds, and what a type that writes itself reads
	Elem    *Sample   // of a pointer, and the one element of a list or map
	Members []*Sample // of an object, in the order of the form's
}
