// Package httpretry posts a shipment and tries again with the same key.
package httpretry

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"
)

type Shipment struct {
	ID   string
	Body []byte
}

type Client struct {
	http *http.Client
	url  string
}

var errFailed = errors.New("the carrier did not take it")

func (c *Client) SendShipment(ctx context.Context, s Shipment) error {
	/*keydef[*/key := /*key[*/"shipment-" + s.ID/*]*//*]*/
	for /*bound[*/attempt := 0; attempt < 4; attempt++/*]*/ {
		/*loop[*//*]*/req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/shipments", bytes.NewReader(s.Body))
		if err != nil {
			return err
		}
		/*setkey:_ = key[*/req.Header.Set("Idempotency-Key", key)/*]*/
		resp, err := c.http.Do(req)
		if err != nil {
			time.Sleep(time.Second)
			continue
		}
		resp.Body.Close()
		if resp.StatusCode < 300 {
			return nil
		}
		time.Sleep(time.Second)
	}
	return errFailed
}
