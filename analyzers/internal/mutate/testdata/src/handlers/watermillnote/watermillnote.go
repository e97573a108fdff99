// Package watermillnote tells a channel of each event of a topic.
package watermillnote

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/redis/go-redis/v9"
	"github.com/slack-go/slack"
)

type Event struct {
	Name    string
	Subject string
}

type Notes struct {
	rdb   *redis.Client
	slack *slack.Client
}

func (n *Notes) Handle(msg *message.Message) error {
	ctx := msg.Context()
	var e Event
	if err := json.Unmarshal(msg.Payload, &e); err != nil {
		return err
	}
	key := "note:" + e.Name + "/" + e.Subject
	/*claimed[*//*]*/ok, err := n.rdb.SetNX(ctx, key, 1, 48*time.Hour).Result()
	if err != nil {
		return err
	}
	if !ok {
		return nil
	}
	return n.post(ctx, e, key)
}

func (n *Notes) post(ctx context.Context, e Event, key string) error {
	if _, _, err := n.slack.PostMessageContext(ctx, "#notes", slack.MsgOptionText(e.Subject, false)); err != nil {
		/*release[*/n.rdb.Del(ctx, key)/*]*/
		return err
	}
	return nil
}
