package main

import (
	"context"
	"encoding/json"
	"math/big"
	"time"
)

// The tags say once more what the contracts say, for the program that looks for
// differences.

type Order struct {
	Tenant string
	Shop   string `as:"lower"`
	Number *string
	Day    time.Time `as:"second"`
	Sent   time.Time `as:"-"`
}

// Lookup is an Order by its first text alone.
type Lookup struct {
	Tenant string `as:"-"`
	Shop   string
	Number *string   `as:"-"`
	Day    time.Time `as:"-"`
	Sent   time.Time `as:"-"`
}

type Name string

type Base struct {
	Text string `json:"text,omitempty"`
	Flag bool
}

type Tree struct {
	Label string           `json:"a\u00e9,omitempty"`
	Kids  []Tree           `json:"kids"`
	By    map[string]*Tree `json:"\uff21"`
}

type Form struct {
	Base
	Name   Name   `json:"z"`
	Other  string `json:"y"`
	Exact  string `as:"exact"`
	Count  int64  `json:",string"`
	Large  uint64 `json:"10"`
	Small  *int8  `json:"9,omitempty"`
	Float  float64
	Single float32
	Bytes  []byte
	Tags   []string
	Grid   [2][]*int
	At     time.Time  `as:"millisecond"`
	When   *time.Time `as:"second"`
	Took   time.Duration
	Levels map[int16]Base
	Titles map[Name]string
	Tree   *Tree
	Big    *big.Int
	Amount json.Number
	Cents  string `as:"cents"`
}

type Page struct {
	Shop string
	URL  string `as:"url"`
}

type Person struct {
	Email string `as:"email"`
	Phone string `as:"digits"`
}

type Document struct {
	Shop string
	Raw  json.RawMessage `as:"json"`
	Any  any             `as:"json"`
}

func HandleOrder(context.Context, Order) (string, error)       { return "", nil }
func HandleForm(context.Context, Form) (string, error)         { return "", nil }
func HandlePage(context.Context, Page) (string, error)         { return "", nil }
func HandlePerson(context.Context, Person) (string, error)     { return "", nil }
func HandleDocument(context.Context, Document) (string, error) { return "", nil }
