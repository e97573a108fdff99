// Package openai stands for a client of a language model.
package openai

import "context"

type ChatCompletionRequest struct {
	Model    string
	Messages []ChatCompletionMessage
}

type ChatCompletionMessage struct{ Role, Content string }

type ChatCompletionChoice struct{ Message ChatCompletionMessage }

type Usage struct{ TotalTokens int }

type ChatCompletionResponse struct {
	ID      string
	Choices []ChatCompletionChoice
	Usage   Usage
}

type Client struct{}

func (c *Client) CreateChatCompletion(ctx context.Context, request ChatCompletionRequest) (response ChatCompletionResponse, err error) {
	return
}
