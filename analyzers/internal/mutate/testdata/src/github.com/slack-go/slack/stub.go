// Package slack stands for the library.
package slack

import "context"

type MsgOption any

type Client struct{}

func MsgOptionText(text string, escape bool) MsgOption { return text }
func (c *Client) PostMessageContext(ctx context.Context, channel string, o ...MsgOption) (string, string, error) {
	return "", "", nil
}
