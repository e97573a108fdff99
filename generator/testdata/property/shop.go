package main

import (
	"context"
	"encoding/json"
	"net/netip"
	"time"
)

type Name string

type Base struct {
	Text string `json:"text"`
	Flag bool
}

type Tree struct {
	Label string           `json:"a\u00e9,omitempty"`
	Kids  []Tree           `json:"kids"`
	Next  *Tree            `json:"\U00010400"`
	By    map[string]*Tree `json:"\uff21"`
}

type Input struct {
	Base
	Name   Name `json:"z"`
	Exact  string
	Count  int64  `json:",string"`
	Large  uint64 `json:"10"`
	Small  int8   `json:"9,omitempty"`
	Float  float64
	Single float32
	Bytes  []byte
	Tags   []string
	Grid   [2][]*int
	At     time.Time
	When   *time.Time
	Took   time.Duration
	Inner  struct {
		Text string
		Deep *struct{ N *string }
	}
	Levels map[int16]Base
	Titles map[Name]string
	Tree   *Tree
	Addr   netip.Addr
	Twice  **string
	Number json.Number
}

func Handle(context.Context, Input) (string, error) { return "", nil }
