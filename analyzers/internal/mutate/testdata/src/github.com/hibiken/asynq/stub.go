// Package asynq stands for the library.
package asynq

import "context"

type Task struct{}

func (t *Task) Payload() []byte { return nil }
func (t *Task) Type() string    { return "" }

type Option any

type TaskInfo struct{ ID string }

type Client struct{}

func NewTask(kind string, payload []byte, opts ...Option) *Task { return nil }
func TaskID(id string) Option                                   { return id }
func MaxRetry(n int) Option                                     { return n }
func (c *Client) EnqueueContext(ctx context.Context, t *Task, opts ...Option) (*TaskInfo, error) {
	return nil, nil
}
func (c *Client) Enqueue(t *Task, opts ...Option) (*TaskInfo, error) { return nil, nil }
