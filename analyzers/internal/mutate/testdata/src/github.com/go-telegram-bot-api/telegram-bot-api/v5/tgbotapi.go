// Package tgbotapi stands for the library.
package tgbotapi

type Chattable any

type Message struct {
	MessageID int
	Text      string
	Chat      *Chat
}

type Chat struct{ ID int64 }

type Update struct {
	UpdateID int
	Message  *Message
}

type BotAPI struct{}

func (b *BotAPI) Send(c Chattable) (Message, error)       { return Message{}, nil }
func (b *BotAPI) GetUpdatesChan(offset int) <-chan Update { return nil }
func NewMessage(chat int64, text string) Chattable        { return nil }
