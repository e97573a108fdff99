// Package ginwebhook takes deliveries of a payment provider and tells people.
package ginwebhook

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
	"github.com/slack-go/slack"
)

type Delivery struct {
	ID      string `json:"id"`
	Channel string `json:"channel"`
	Text    string `json:"text"`
}

type Handler struct {
	rdb   *redis.Client
	slack *slack.Client
}

func (h *Handler) Deliver(c *gin.Context) {
	ctx := c.Request.Context()
	var d Delivery
	if err := c.ShouldBindJSON(&d); err != nil {
		c.AbortWithStatus(http.StatusBadRequest)
		return
	}
	key := "delivery:" + d.ID
	/*claim:n, err := h.rdb.Exists(ctx, key).Result(); if err != nil { c.AbortWithStatus(500); return }; if n > 0 { c.Status(200); return }[*//*claimed[*//*]*/fresh, err := h.rdb.SetNX(ctx, key, "begun", 24*time.Hour).Result()
	if err != nil {
		c.AbortWithStatus(http.StatusServiceUnavailable)
		return
	}
	if !fresh {
		/*skip[*/c.Status(http.StatusOK)
		return/*]*/
	}/*]*/
	/*effect:if err := h.rdb.Set(ctx, key, "done", time.Hour).Err(); err != nil { c.AbortWithStatus(500); return }[*/if err := h.tell(ctx, /*id:d.ID[*/d/*]*/); err != nil {
		/*release[*/h.rdb.Del(ctx, key)/*]*/
		c.AbortWithStatus(http.StatusBadGateway)
		return
	}/*]*/
	c.Status(http.StatusOK)
}

func (h *Handler) tell(ctx context.Context, d Delivery) error {
	_, _, err := h.slack.PostMessageContext(ctx, d.Channel, slack.MsgOptionText(d.Text, false))
	return err
}
