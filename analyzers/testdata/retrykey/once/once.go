// Package once has its client not send again.
package once

import "github.com/hashicorp/go-retryablehttp"

func payOut(body []byte) error {
	c := retryablehttp.NewClient()
	c.RetryMax = 0
	resp, err := c.Post("https://pay.example/payouts", "application/json", body)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
