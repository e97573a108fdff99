package fakes

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
)

// Chat sends messages: POST /messages. It knows no keys, and what was sent cannot
// be asked for, as with a bot of a messenger.
//
// Applied counts by chat_id.
type Chat struct {
	Control

	mu   sync.Mutex
	sent int64
}

func (c *Chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/messages" {
		http.NotFound(w, r)
		return
	}
	var in struct {
		ChatID int64  `json:"chat_id"`
		Text   string `json:"text"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.ChatID == 0 {
		http.Error(w, "want a chat_id and a text", http.StatusBadRequest)
		return
	}
	fault, goOn := c.begin(w)
	if !goOn {
		return
	}
	c.count(strconv.FormatInt(in.ChatID, 10))
	c.mu.Lock()
	c.sent++
	id := c.sent
	c.mu.Unlock()
	c.end(w, r, fault, ok(map[string]int64{"message_id": id}))
}
