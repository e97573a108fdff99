// Package retryablehttp stands for the library of the name.
package retryablehttp

import "net/http"

type Client struct{ RetryMax int }

type Request struct{ *http.Request }

func NewClient() *Client { return new(Client) }

func NewRequest(method, url string, body any) (*Request, error) { return nil, nil }

func (c *Client) Do(r *Request) (*http.Response, error) { return nil, nil }

func (c *Client) Post(url, kind string, body any) (*http.Response, error) { return nil, nil }

func (c *Client) Get(url string) (*http.Response, error) { return nil, nil }
