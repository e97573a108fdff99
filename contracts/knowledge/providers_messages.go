package knowledge

import "time"

// messages are the providers where a repeat reaches a person twice.
func messages() []Provider {
	return []Provider{{
		Name: "brevo", Title: "Brevo", What: "transactional mail", Moves: Inbox,
		Key:     Key{Place: InField, Name: "headers.idempotencyKey", Format: "uuid", Remembered: lasting(30 * time.Minute)},
		Guard:   Once,
		Notes:   "The key is documented for batches. It saves from a quick repeat only: 30 minutes are shorter than most retry schedules.",
		Sources: read("https://developers.brevo.com/docs/heterogenous-versions-batch-emails"),
	}, {
		Name: "courier", Title: "Courier", What: "messages over several channels", Moves: Inbox,
		Key: Key{Place: InHeader, Name: "Idempotency-Key", Format: "uuid",
			Remembered: lasting(day), Errors: ErrorsReplayed},
		Guard:   IdempotencyKey,
		Notes:   "x-idempotency-expiration raises the memory, up to a year.",
		Sources: read("https://courier.com/docs/reference/idempotent-requests"),
	}, {
		Name: "discord", Title: "Discord", What: "messages in channels", Moves: Inbox,
		Key:   Key{Place: InField, Name: "nonce, with enforce_nonce", Format: "base62:25", MaxLength: 25},
		Guard: Once,
		Notes: "A nonce is checked against the past few minutes, which no retry schedule fits into; it helps against a quick repeat.",
		Sources: read("https://discord-api-types.dev/api/0.37.106/discord-api-types-v9/interface/RESTPostAPIChannelMessageJSONBody",
			"https://pub.dev/documentation/nyxx/5.1.1/nyxx/IMessage/nonce.html"),
	}, {
		Name: "dropbox_sign", Title: "Dropbox Sign", What: "signature requests", Moves: Inbox | State,
		Key: Key{Place: InHeader, Name: "Idempotency-Key", Format: "hex", MinLength: 1, MaxLength: 255,
			Remembered: lasting(day)},
		Guard:   IdempotencyKey,
		Notes:   "Keys belong to the account, and to the app where one is used.",
		Sources: read("https://developers.hellosign.com/api/manual-reference-pages/idempotency"),
	}, {
		Name: "emailit", Title: "Emailit", What: "transactional mail", Moves: Inbox,
		Key:     Key{Place: InHeader, Name: "Idempotency-Key", Format: "uuid", Remembered: lasting(day)},
		Guard:   IdempotencyKey,
		Notes:   "Sending and forwarding only; contacts and domains answer 409 with what exists.",
		Sources: read("https://emailit.com/docs/api-reference/idempotency/"),
	}, {
		Name: "gmail", Title: "Gmail API", What: "mail from a person's account", Moves: Inbox,
		Search:  "rfc822msgid:, the Message-ID that the caller sets",
		Guard:   FindFirst,
		Notes:   "Set Message-ID from the effect key, and look for it among the sent mail before repeating.",
		Sources: see("https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/send"),
	}, {
		Name: "mailgun", Title: "Mailgun", What: "transactional mail", Moves: Inbox,
		Search:  "events by tag, variable or Message-ID",
		Guard:   Once,
		Notes:   "Set Message-ID and a variable from the effect key, so that a person can find out.",
		Sources: see("https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/messages"),
	}, {
		Name: "postmark", Title: "Postmark", What: "transactional mail", Moves: Inbox,
		Search:  "sent messages by metadata or tag",
		Guard:   Once,
		Notes:   "Put the effect key into the metadata: find_first becomes possible, with the lag that you have measured.",
		Sources: see("https://postmarkapp.com/developer/api/email-api"),
	}, {
		Name: "resend", Title: "Resend", What: "transactional mail", Moves: Inbox,
		Key: Key{Place: InHeader, Name: "Idempotency-Key", Format: "hex", MaxLength: 256,
			Remembered: lasting(day)},
		Guard:   IdempotencyKey,
		Notes:   "Single mails and batches only. Over SMTP the header is Resend-Idempotency-Key.",
		Sources: read("https://resend.com/docs/dashboard/emails/idempotency-keys", "https://resend.com/changelog/batch-idempotency-keys"),
	}, {
		Name: "sendgrid", Title: "Twilio SendGrid", What: "transactional mail", Moves: Inbox,
		Search:  "custom arguments come back in the events",
		Guard:   Once,
		Notes:   "Put the effect key into a custom argument, so that the events tell what was sent.",
		Sources: see("https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send"),
	}, {
		Name: "ses", Title: "Amazon SES", What: "transactional mail", Moves: Inbox,
		Search:  "tags come back in the events",
		Guard:   Once,
		Sources: see("https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html"),
	}, {
		Name: "slack", Title: "Slack", What: "messages in channels", Moves: Inbox,
		Search:  "metadata of messages, by reading the channel's history",
		Guard:   Once,
		Notes:   "With the effect key in the message's metadata find_first is possible where the app may read the history.",
		Sources: see("https://docs.slack.dev/reference/methods/chat.postMessage/"),
	}, {
		Name: "telegram", Title: "Telegram Bot API", What: "messages of a bot", Moves: Inbox,
		Guard:   Once,
		Notes:   "A bot can neither name a message nor look for one. Use sent_messages as well.",
		Sources: see("https://core.telegram.org/bots/api#sendmessage"),
	}, {
		Name: "twilio", Title: "Twilio", What: "SMS, calls", Moves: Inbox,
		Search:  "messages by recipient and day",
		Guard:   Once,
		Notes:   "Nothing that the caller sets can be searched for: compare recipient and text.",
		Sources: see("https://www.twilio.com/docs/messaging/api/message-resource"),
	}, {
		Name: "whatsapp", Title: "WhatsApp Cloud API", What: "messages to customers", Moves: Inbox,
		Guard:   Once,
		Notes:   "biz_opaque_callback_data comes back in the status webhooks: put the effect key there.",
		Sources: see("https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages"),
	}}
}
