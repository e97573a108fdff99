package svix

import "context"

type ApplicationIn struct{ Name string }

type ApplicationCreateOptions struct{ IdempotencyKey *string }

type MessageCreateOptions struct{ IdempotencyKey *string }

type Application struct{}

func (*Application) GetOrCreate(ctx context.Context, in ApplicationIn, o *ApplicationCreateOptions) error {
	return nil
}
func (*Application) Create(ctx context.Context, in ApplicationIn, o *ApplicationCreateOptions) error {
	return nil
}

type Message struct{}

func (*Message) Create(ctx context.Context, app string, o *MessageCreateOptions) error { return nil }

type Svix struct {
	Application *Application
	Message     *Message
}
