// Package mail sends.
package mail

import (
	"context"
	"net/http"
	"net/url"

	idem "github.com/idemgen/idem/runtime"
)

type Mail struct{ To string }

type Sent struct{ ID string }

// Receipt carries an effect of another package's contract out.
func Receipt(ctx context.Context, call idem.Call, in Mail) (Sent, error) {
	_, err := http.PostForm("https://mail.example/send", url.Values{"to": {in.To}, "ref": {call.Key()}})
	return Sent{}, err
}

// Announce is what a handler finds handy.
func Announce(to string) error { return post(to) }

func post(to string) error {
	_, err := http.PostForm("https://mail.example/send", url.Values{"to": {to}})
	return err
}

// Lookup asks.
func Lookup(to string) (string, error) {
	_, err := http.Get("https://mail.example/" + to)
	return "", err
}

// Beat tells a monitor that somebody is alive.
//
//idem:pure
func Beat() error { return post("monitor") }
