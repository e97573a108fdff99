// Package jsonkey makes the key of a transfer from what it is about.
package jsonkey

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

type Transfer struct {
	From, To string
	Cents    int64
	Due      time.Time
}

type identity struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Cents int64  `json:"cents"`
	Due   string `json:"due"`
	/*type:At time.Time[*//*]*/
}

type Bank interface {
	Transfer(ctx context.Context, idempotencyKey string, t Transfer) error
}

func idempotencyKey(t Transfer) (string, error) {
	data, err := json.Marshal(identity{From: t.From, To: t.To, Cents: t.Cents, Due: /*hashed[*/t.Due.Format("2006-01-02")/*]*//*field:, At: time.Now()[*//*]*/})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

func Send(ctx context.Context, bank Bank, t Transfer) error {
	key, err := idempotencyKey(t)
	if err != nil {
		return err
	}
	return bank.Transfer(ctx, /*key[*/key/*]*/, t)
}
