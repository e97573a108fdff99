// Package types stands for the library.
package types

type Message struct{ MessageId, Body, ReceiptHandle *string }
