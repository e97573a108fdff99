package model

import (
	"slices"

	"github.com/idemgen/idem/contracts"
)

// Package is a Go package with contracts.
type Package struct {
	Path string // import path
	Name string
	Dir  string // absolute
	// Module is the path of the module that the package is in.
	Module string

	Files     []*File     // by name
	Receivers []*Receiver // of handlers, in the order of the contracts

	// Tx is the type of the transactions that the package's effects take; nil if
	// no effect has the guard transaction.
	Tx *Type

	// Reserved are the names that the package's files declare, tests included.
	Reserved []string
	// ImportNames are those by which they import, which no declaration may have.
	ImportNames []string
	// Imports are the real names of imported packages, by path.
	Imports map[string]string
}

// File is one contract file.
type File struct {
	Source    string // base name of the contract file
	Output    string // base name of the generated file
	Digest    string // of the contract file
	Contracts []*Contract
}

// Receiver is a type that handlers and effect functions are methods of.
type Receiver struct {
	Name    string // of a type of the package
	Pointer bool
}

// Contract is a contract that fits the Go code beside it.
type Contract struct {
	// Spec is the contract as written: kind, version, response, retry and so on.
	Spec *contracts.Contract

	Receiver  *Receiver // of the handler; nil if it is a function
	Handler   string    // name of the method or function
	Interface string    // the effects parameter's type; "" if the contract has no effects
	In, Out   *Type

	Identity  Identity
	Scope     *Value  // nil without a scope
	Latest    *Latest // nil if works have no order
	Payload   *Form
	Redact    *Redaction // nil if all of the input may be stored
	Permanent []ErrorRef
	Transient []ErrorRef
	Effects   []*Effect

	// Fakes is the function of the package's tests that builds the world of the
	// contract's crash test; "" without.
	Fakes string

	// Honored are the versions whose work goes on, newest first: of each what was the
	// same work, Spec with its version and identity.
	Honored []*Contract

	// Locked is what idem.lock has of the identity.
	Locked Locked
}

// Locked is what generated code carries of a version's entry in idem.lock.
type Locked struct {
	Digest string // of the identity's shape
	// Golden is the key of a sample, and GoldenSecret what keyed ones are derived
	// under; Samples are its values, of the scope, if it stands apart, and of the
	// key's parts or the object. Without any, NoSample says why.
	Golden, GoldenSecret string
	Samples              []*Sample
	NoSample             string
}

// Keyed tells whether a key of the ledger takes part in an identity, that of an
// honoured version included.
func (c *Contract) Keyed() bool {
	return c.Spec.Identity.Keyed.V || slices.ContainsFunc(c.Honored, (*Contract).Keyed)
}

// NoValue tells whether duplicates get no value, so that nobody does.
func (c *Contract) NoValue() bool {
	return c.Spec.Response.WhenDone.V == contracts.WhenDoneNoOp ||
		c.Spec.Response.WhileRunning.V == contracts.WhileRunningNoOp
}

// OneTransaction tells whether claim, effects and completion commit together:
// every effect has the guard transaction, and there is one.
func (c *Contract) OneTransaction() bool {
	for _, e := range c.Effects {
		if e.Spec.Guard.V != contracts.Transaction {
			return false
		}
	}
	return len(c.Effects) > 0
}

// Children lists the contracts whose work the contract's effects are, each once.
func (c *Contract) Children() []*Contract {
	var list []*Contract
	for _, e := range c.Effects {
		if e.Child != nil && !slices.Contains(list, e.Child) {
			list = append(list, e.Child)
		}
	}
	return list
}

// Children lists the contracts of the package whose work is an effect of another,
// each after its own children.
func (p *Package) Children() []*Contract {
	var list []*Contract
	var visit func(c *Contract)
	visit = func(c *Contract) {
		for _, child := range c.Children() {
			visit(child)
			if !slices.Contains(list, child) {
				list = append(list, child)
			}
		}
	}
	for _, f := range p.Files {
		for _, c := range f.Contracts {
			visit(c)
		}
	}
	return list
}

// Identity is what the body of a work ID is made of: one of the three fields.
type Identity struct {
	Single *Value   // the value as text
	List   []*Value // an array
	Hash   *Form    // an object; in an array after the scope if there is one
	// Input says that the input is a pointer, which may be nil.
	Input bool
}

// Latest is the order of works about one thing.
type Latest struct {
	Of []*Value
	By *Value // an integer or a time
}

// Effect is an effect together with the functions that carry it out.
type Effect struct {
	Spec   *contracts.Effect
	Method string // of the effects interface
	In     *Type
	Out    *Type

	Child *Contract // the work that the effect is, in place of what follows; nil: a function carries it out

	Call Func
	Find *Func // guard find_first

	Payload     *Form
	Per         []*Value   // once_per
	Message     *Message   // nil if the contract names none
	Redact      *Redaction // nil if all of the input may be stored
	ExternalRef *Text      // nil if the contract names none
}

// Message is what makes the message of an effect the same as another.
type Message struct {
	To   *Value
	Body []*Value
	List bool // the body is a list, of one value too
}

// Func is a function of the package or of another one, or a method of the
// handler's receiver.
type Func struct {
	Method bool
	Pkg    string // import path of another package, else empty
	Name   string
}

// ErrorRef is an error that a contract names.
type ErrorRef struct {
	Name  string // as the contract writes it
	Value *Type  // a variable (as a named thing), or
	Type  *Type  // a type
}

// Step is one selector of a path of fields.
type Step struct {
	Name string
	// Pointer says that the field is a pointer, and nil has to be asked for
	// before anything is read through it.
	Pointer bool
}

// Value is a field of an input, with what becomes of it. Of pointers on the way
// to it (and of itself) the code asks whether they are nil.
type Value struct {
	Path  string // as the contract writes it
	Wire  string // the same by the names in JSON, each as WireName has it
	Steps []Step
	Form  *Form // of what the last pointer points to
	// MayBeEmpty says that the part of a key may say nothing; a nil pointer on the
	// way is null then.
	MayBeEmpty bool
}

// TextKind is how a value becomes a plain string.
type TextKind int

// The ways of becoming a string.
const (
	TextString   TextKind = iota // is one: conversion
	TextInt                      // digits
	TextUint                     // digits
	TextStringer                 // its String method
)

// Text is a field of a result as a plain string; a nil pointer on the way is "".
type Text struct {
	Path  string
	Steps []Step
	Kind  TextKind
	// Plain says that the field's type is string itself.
	Plain bool
}

// Unwrap takes pointers off the form, for which the code that reads the value
// asks first whether they are nil: of a key, nothing is not null but empty. A
// pointer that its own method or package canon takes stays.
func (v *Value) Unwrap() {
	last := &v.Steps[len(v.Steps)-1]
	last.Pointer = v.Form.Op == OpPointer
	if last.Pointer {
		v.Form = v.Form.Elem
	}
}

// Forms lists the forms at which a contract's canonical texts begin.
func (c *Contract) Forms() []*Form {
	forms := []*Form{c.Payload}
	for _, e := range c.Effects {
		if e.Child != nil {
			continue
		}
		forms = append(forms, e.Payload)
		for _, v := range e.values() {
			forms = append(forms, v.Form)
		}
	}
	forms = append(forms, c.identityForms()...)
	for _, old := range c.Honored {
		forms = append(forms, old.identityForms()...)
	}
	return forms
}

// values are those of the input that tell effects, or messages, apart.
func (e *Effect) values() []*Value {
	if e.Message == nil {
		return e.Per
	}
	return slices.Concat(e.Per, []*Value{e.Message.To}, e.Message.Body)
}

func (c *Contract) identityForms() []*Form {
	var forms []*Form
	if c.Identity.Hash != nil {
		forms = append(forms, c.Identity.Hash)
	}
	values := c.Identity.List
	if c.Identity.Single != nil {
		values = append(values, c.Identity.Single)
	}
	if c.Scope != nil {
		values = append(values, c.Scope)
	}
	if c.Latest != nil {
		values = append(values, c.Latest.Of...)
	}
	for _, v := range values {
		forms = append(forms, v.Form)
	}
	return forms
}
