package flow

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"example.com/shop/ids"
	"github.com/google/uuid"
)

type pair struct{ a, b string }

func overwritten() string {
	s := uuid.NewString()
	s = "stable"
	return s // want "^$"
}

func branches(c bool) string {
	s := "stable"
	if c {
		s = uuid.NewString()
	}
	return s // want "^random uuid.NewString$"
}

func either(c bool, s string) string {
	if c {
		s = uuid.NewString()
	}
	return s // want "^param 1, random partial uuid.NewString$"
}

func loop(n int) string {
	s, t := "", ""
	for i := 0; i < n; i++ {
		s, t = t+"x", s
		if i == 3 {
			t = uuid.NewString()
		}
	}
	return s // want "^random uuid.NewString$"
}

func fields() string {
	p := pair{a: uuid.NewString(), b: "stable"}
	return p.b // want "^$"
}

func fieldsOf(p *pair) string {
	p.a = uuid.NewString()
	q := p
	return q.a // want "^param 0.a, random uuid.NewString$"
}

func elements() string {
	m := map[string]string{"a": uuid.NewString()}
	m["b"] = "stable"
	return m["b"] // want "^$"
}

func elementOf() string {
	m := map[string]string{}
	m["a"] = uuid.NewString()
	return m["a"] // want "^random uuid.NewString$"
}

func ranged() string {
	var all string
	for _, s := range []string{"x", uuid.NewString()} {
		all += s
	}
	return all // want "^random uuid.NewString$"
}

func captured() string {
	s := ""
	set := func() { s = uuid.NewString() }
	set()
	return s // want "^random uuid.NewString$"
}

func called() string {
	mint := func(prefix string) string { return prefix + uuid.NewString() }
	return mint("x") // want "^random uuid.NewString$"
}

func methodValue() string {
	f := uuid.New().String
	return f() // want "^$"
}

func buffer() string {
	b := make([]byte, 8)
	if _, err := rand.Read(b); err != nil {
		return "" // want "^$"
	}
	return hex.EncodeToString(b[:4]) // want "^random rand.Read$"
}

func builder() string {
	var b strings.Builder
	b.WriteString("a")
	fmt.Fprintf(&b, "%d", time.Now().UnixNano())
	return b.String() // want "^clock time.Now$"
}

func pointers() string {
	s := "a"
	p := &s
	*p = uuid.NewString()
	return s // want "^random uuid.NewString$"
}

func converted() string {
	var v any = uuid.New()
	u, ok := v.(uuid.UUID)
	if !ok {
		return "" // want "^$"
	}
	return u.String() // want "^random uuid.New$"
}

func generic[T any](v T) T {
	return v // want "^param 0$"
}

func throughGeneric() string {
	return generic(uuid.NewString()) // want "^random uuid.NewString→generic$"
}

func named() (s string, err error) {
	defer func() { err = nil }()
	s = ids.Next()
	return s, err // want "^random uuid.New→ids.Next$"
}

func slots() string {
	return fmt.Sprint(time.Now().Unix() / 60) // want "^$"
}

func recursive(n int, s string) string {
	if n == 0 {
		return s + uuid.NewString() // want "^param 1, random uuid.NewString$"
	}
	return recursive(n-1, s) // want "^param 1, random uuid.NewString→recursive$"
}

func channel(c chan string) string {
	c <- uuid.NewString()
	return <-c // want "^$"
}
