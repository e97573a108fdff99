// Package telegrambot answers each update of a bot once.
package telegrambot

import (
	"context"
	"log"
	"strconv"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

type Updates interface {
	Claim(ctx context.Context, id string) (bool, error)
	Seen(ctx context.Context, id string) (bool, error)
	MarkSeen(ctx context.Context, id string) error
}

type Bot struct {
	api     *tgbotapi.BotAPI
	updates Updates
}

func (b *Bot) Run(ctx context.Context) {
	for u := range b.api.GetUpdatesChan(0) {
		if err := b.answer(ctx, u); err != nil {
			log.Printf("update %d: %v", u.UpdateID, err)
		}
	}
}

func (b *Bot) answer(ctx context.Context, u tgbotapi.Update) error {
	id := strconv.Itoa(u.UpdateID)
	/*claim:seen, err := b.updates.Seen(ctx, id); if err != nil || seen { return err }[*/mine, err := b.updates.Claim(ctx, id)
	if err != nil {
		return err
	}
	if !mine {
		/*skip[*/return nil/*]*/
	}/*]*/
	/*effect:if err := b.updates.MarkSeen(ctx, id); err != nil { return err }[*/if _, err := b.api.Send(tgbotapi.NewMessage(u.Message.Chat.ID, /*id:id[*/"thanks"/*]*/)); err != nil {
		return err
	}/*]*/
	return nil
}
