package client

import (
	"github.com/go-resty/resty/v2"
	"github.com/hashicorp/go-retryablehttp"
)

type payments struct{ c *resty.Client }

func newPayments() *payments { return &payments{c: resty.New().SetRetryCount(3)} }

func (p *payments) charge(body any) error {
	_, err := p.c.R().SetBody(body).Post("https://pay.example/charges") // want `^retried without a key: an attempt that failed may have succeeded: Client.SetRetryCount → Request.Post \(send the same key with each attempt\)$`
	return err
}

func payOut(c *retryablehttp.Client, body []byte) error {
	resp, err := c.Post("https://pay.example/payouts", "application/json", body) // want `go-retryablehttp → Client.Post`
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func sendNotification(c *retryablehttp.Client, body []byte) error {
	req, err := retryablehttp.NewRequest("POST", "https://pay.example/notify", body) // want `go-retryablehttp → retryablehttp.NewRequest`
	if err != nil {
		return err
	}
	_, err = c.Do(req)
	return err
}

// From here on nothing is to be reported.

func (p *payments) chargeWithKey(order string, body any) error {
	_, err := p.c.R().SetHeader("Idempotency-Key", "charge:"+order).SetBody(body).Post("https://pay.example/charges")
	return err
}

func (p *payments) searchPayments(body any) error {
	_, err := p.c.R().SetBody(body).Post("https://pay.example/search")
	return err
}

func (p *payments) sendNothing() error {
	_, err := p.c.R().Get("https://pay.example/charges")
	return err
}
