// Package resty stands for the library of the name.
package resty

type Client struct{ RetryCount int }

type Request struct{}

type Response struct{}

func New() *Client { return new(Client) }

func (c *Client) SetRetryCount(n int) *Client { return c }

func (c *Client) R() *Request { return new(Request) }

func (r *Request) SetHeader(name, value string) *Request { return r }

func (r *Request) SetBody(body any) *Request { return r }

func (r *Request) Post(url string) (*Response, error) { return nil, nil }

func (r *Request) Get(url string) (*Response, error) { return nil, nil }
