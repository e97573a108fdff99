// Package echopay pays out what the caller names by a key of its own.
package echopay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"
)

type Payout struct {
	Account string `json:"account"`
	Invoice string `json:"invoice"`
	Cents   int64  `json:"cents"`
}

type API struct {
	client *http.Client
	url    string
}

func (a *API) Create(c echo.Context) error {
	var p Payout
	if err := c.Bind(&p); err != nil {
		return err
	}
	if err := a.payOut(c.Request().Context(), p); err != nil {
		return err
	}
	return c.NoContent(http.StatusAccepted)
}

// payoutKey is the same for the same invoice, whoever asks.
func payoutKey(p Payout) string {
	sum := sha256.Sum256([]byte(/*hashed[*/p.Account + /*sep[*/"|"/*]*/ + p.Invoice/*]*/))
	return hex.EncodeToString(sum[:])
}

func (a *API) payOut(ctx context.Context, p Payout) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+"/payouts", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Idempotency-Key", /*key[*/payoutKey(p)/*]*/)
	resp, err := a.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return fmt.Errorf("payout of %s: %s", p.Invoice, resp.Status)
	}
	return nil
}
