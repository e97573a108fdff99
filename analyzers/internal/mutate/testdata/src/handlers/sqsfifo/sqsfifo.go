// Package sqsfifo forwards orders to a queue that drops repetitions.
package sqsfifo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

type Order struct {
	Shop   string
	Number int
	Note   string
}

type Forwarder struct {
	client *sqs.Client
	queue  string
}

func dedupID(o Order) string {
	h := sha256.New()
	fmt.Fprintf(h, /*frame:"%s%s"[*/"%q|%q"/*]*/, o.Shop, /*hashed[*/o.Note/*]*/)
	fmt.Fprintf(h, "|%d", o.Number)
	return hex.EncodeToString(h.Sum(nil))
}

func (f *Forwarder) Forward(ctx context.Context, o Order) error {
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = f.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl:               aws.String(f.queue),
		MessageBody:            aws.String(string(body)),
		MessageGroupId:         aws.String(o.Shop),
		MessageDeduplicationId: aws.String(/*key[*/dedupID(o)/*]*/),
	})
	return err
}
