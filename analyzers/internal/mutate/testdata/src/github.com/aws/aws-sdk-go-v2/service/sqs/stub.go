// Package sqs stands for the library.
package sqs

import "context"

type Options struct{}

type SendMessageInput struct {
	QueueUrl, MessageBody, MessageDeduplicationId, MessageGroupId *string
}

type SendMessageOutput struct{ MessageId *string }

type DeleteMessageInput struct{ QueueUrl, ReceiptHandle *string }

type DeleteMessageOutput struct{}

type Client struct{}

func (c *Client) SendMessage(ctx context.Context, in *SendMessageInput, o ...func(*Options)) (*SendMessageOutput, error) {
	return nil, nil
}
func (c *Client) DeleteMessage(ctx context.Context, in *DeleteMessageInput, o ...func(*Options)) (*DeleteMessageOutput, error) {
	return nil, nil
}
