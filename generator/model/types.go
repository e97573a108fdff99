package model

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TypeKind is the kind of type expression.
type TypeKind int

// The kinds of type expressions.
const (
	Named     TypeKind = iota // Pkg.Name[Args], or a predeclared or local name without Pkg
	Pointer                   // *Elem
	Slice                     // []Elem
	Array                     // [Len]Elem
	Map                       // map[Key]Elem
	Struct                    // struct{Fields}
	Interface                 // interface{} without methods is the Named any
)

// Type is a Go type as generated code writes it. Pkg is empty for predeclared
// types and for those of the package that is generated for.
type Type struct {
	Kind   TypeKind
	Pkg    string
	Name   string
	Args   []*Type
	Elem   *Type
	Key    *Type
	Len    int64
	Fields []TypeField
}

// TypeField is a field of a struct type that has no name.
type TypeField struct {
	Name     string
	Type     *Type
	Tag      string
	Embedded bool
}

// String is the type as messages and shapes write it, with whole import paths.
func (t *Type) String() string {
	switch t.Kind {
	case Pointer:
		return "*" + t.Elem.String()
	case Slice:
		return "[]" + t.Elem.String()
	case Array:
		return "[" + strconv.FormatInt(t.Len, 10) + "]" + t.Elem.String()
	case Map:
		return "map[" + t.Key.String() + "]" + t.Elem.String()
	case Struct:
		var fields []string
		for _, f := range t.Fields {
			field := f.Name + " " + f.Type.String()
			if f.Tag != "" {
				field += " " + strconv.Quote(f.Tag)
			}
			fields = append(fields, field)
		}
		return "struct{" + strings.Join(fields, "; ") + "}"
	}
	name := t.Name
	if t.Pkg != "" {
		name = t.Pkg + "." + name
	}
	if len(t.Args) == 0 {
		return name
	}
	var args []string
	for _, a := range t.Args {
		args = append(args, a.String())
	}
	return name + "[" + strings.Join(args, ",") + "]"
}

// Word is a word for the type in an identifier: PageOfOrder for Page[Order].
func (t *Type) Word() string {
	switch t.Kind {
	case Pointer:
		return t.Elem.Word()
	case Slice, Array:
		return t.Elem.Word() + "s"
	case Map:
		return t.Elem.Word() + "Map"
	case Struct:
		return "Struct"
	}
	first, size := utf8.DecodeRuneInString(t.Name)
	word := string(unicode.ToUpper(first)) + t.Name[size:]
	for i, a := range t.Args {
		if i == 0 {
			word += "Of"
		}
		word += a.Word()
	}
	return word
}
