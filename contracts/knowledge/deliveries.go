package knowledge

import "time"

// deliveries is the table of delivery systems. Where a source gives only a
// schedule, the horizon is its sum, rounded up: the attempts themselves take
// time too.
func deliveries() []Delivery {
	return append(webhooks(), append(queues(), clocksAndPeople()...)...)
}

const (
	any2xx    = "any 2xx answer"
	only200   = "a 200 answer"
	fromSumUp = "The horizon is the sum of the schedule, rounded up."
)

func webhooks() []Delivery {
	return []Delivery{{
		Name: "adyen", Title: "Adyen", What: "webhooks of payments and accounts",
		Horizon: lasting(30 * day), AckWithin: lasting(10 * time.Second),
		Schedule:          "three times at once, then at growing distances from 2 minutes to 8 hours, for up to 30 days",
		Acknowledged:      any2xx,
		AgainAfterSuccess: NotStated,
		Notes:             "One endpoint has one queue: a message that keeps failing holds up those behind it.",
		Sources: read("https://docs.adyen.com/development-resources/webhooks/troubleshoot",
			"https://docs.adyen.com/development-resources/webhooks/handle-webhook-events",
			"https://docs.adyen.com/japan-sellers-screening/webhooks"),
	}, {
		Name: "brevo", Title: "Brevo", What: "webhooks of mail events",
		Horizon:           lasting(12 * time.Hour),
		Schedule:          "after 10 minutes, 1 hour, 2 hours and 8 hours",
		Acknowledged:      "anything but a failure; 4xx (429 excepted) and 5xx answers end the retries",
		AgainAfterSuccess: NotStated,
		Notes:             fromSumUp,
		Sources:           read("https://developers.brevo.com/docs/retry-mechanism"),
	}, {
		Name: "circle", Title: "Circle", What: "webhooks of the payments network",
		Horizon:           lasting(37 * time.Hour),
		Schedule:          "11 times in production at distances that grow from 1 second to 11 hours",
		Acknowledged:      any2xx,
		AgainAfterSuccess: NotStated,
		Notes:             fromSumUp,
		Sources:           read("https://developers.circle.com/cpn/references/webhook-retries"),
	}, {
		Name: "github", Title: "GitHub", What: "webhooks of repositories and organisations",
		Horizon: lasting(7 * day), AckWithin: lasting(10 * time.Second),
		Schedule:          "never by itself; a person or a script may ask for it again for 3 days (github.com) or 7 days (Enterprise Server)",
		Acknowledged:      "an answer in time; the status is recorded",
		AgainAfterSuccess: Yes,
		Notes:             "Enterprise Server waits 30 seconds. A redelivery carries the same X-GitHub-Delivery as the first delivery.",
		Sources: read("https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries",
			"https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks",
			"https://github.com/github/docs/blob/main/data/variables/webhooks.yml"),
	}, {
		Name: "mailgun", Title: "Mailgun", What: "webhooks of mail events",
		Horizon:           lasting(8 * time.Hour),
		Schedule:          "after 5, 10 and 15 minutes, 1, 2 and 4 hours, within 8 hours",
		Acknowledged:      "a 200 answer; 406 refuses the message for good",
		AgainAfterSuccess: NotStated,
		Notes:             "The delivery notification itself is not retried.",
		Sources:           read("https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/webhook-retries"),
	}, {
		Name: "paddle", Title: "Paddle", What: "notifications of billing events",
		Horizon: lasting(3 * day), AckWithin: lasting(5 * time.Second),
		Schedule:          "up to 60 times in 3 days at growing distances, for live accounts",
		Acknowledged:      only200,
		AgainAfterSuccess: NotStated,
		Notes:             "What is exhausted can be replayed through the API: see the row manual.",
		Sources:           read("https://developer.paddle.com/webhooks/about/respond-to-webhooks"),
	}, {
		Name: "postmark", Title: "Postmark", What: "webhooks of inbound mail",
		Horizon:           lasting(11 * time.Hour),
		Schedule:          "10 times at distances that grow from 1 minute to 6 hours",
		Acknowledged:      "a 200 answer; 403 ends the retries",
		AgainAfterSuccess: NotStated,
		Notes:             fromSumUp + " A failed inbound message can be retried by hand at any time: see the row manual.",
		Sources:           read("https://postmarkapp.com/support/article/understanding-inbound-webhook-retries-in-postmark"),
	}, {
		Name: "razorpay", Title: "Razorpay", What: "webhooks of payments and payouts",
		Horizon:           lasting(day),
		Schedule:          "at growing distances for 24 hours after the event",
		Acknowledged:      any2xx,
		AgainAfterSuccess: Yes,
		Notes:             "A person can replay what was not acknowledged for 7 days: see the row manual.",
		Sources: read("https://razorpay.com/docs/webhooks/best-practices",
			"https://razorpay.com/docs/webhooks/replay-events"),
	}, {
		Name: "recurly", Title: "Recurly", What: "webhooks of subscriptions",
		Horizon:           lasting(4 * day),
		Schedule:          "10 times, in the order of the notifications, each time roughly twice as far apart",
		Acknowledged:      any2xx,
		AgainAfterSuccess: NotStated,
		Notes:             "The published formula adds up to about 73 hours and is called approximate; the horizon leaves a day of room.",
		Sources:           read("https://docs.recurly.com/recurly-subscriptions/docs/automatic-retries"),
	}, {
		Name: "resend", Title: "Resend", What: "webhooks of mail events",
		Horizon:           lasting(28 * time.Hour),
		Schedule:          "after 5 seconds, 5 and 30 minutes, 2, 5, 10 and 10 hours",
		Acknowledged:      any2xx,
		AgainAfterSuccess: Yes,
		Notes:             fromSumUp + " A person can replay failed and successful messages: see the row manual.",
		Sources:           read("https://resend.com/docs/webhooks/retries-and-replays"),
	}, {
		Name: "sendgrid", Title: "Twilio SendGrid", What: "event webhook and inbound mail",
		Horizon:           lasting(3 * day),
		Schedule:          "events at growing distances for 24 hours; inbound mail every few minutes, then about every 3 hours, for 72 hours",
		Acknowledged:      "any 2xx answer; for inbound mail a 3xx or 4xx answer drops the message",
		AgainAfterSuccess: Yes,
		Notes:             "The horizon is that of inbound mail. Events carry sg_event_id, which is the same in a duplicate.",
		Sources: read("https://docs.sendgrid.com/for-developers/tracking-events/troubleshooting",
			"https://support.sendgrid.com/hc/en-us/articles/46513815674395-Understanding-Inbound-Parse-Webhook-Retry-Logic"),
	}, {
		Name: "shopify", Title: "Shopify", What: "webhooks of shops",
		Horizon: lasting(4 * time.Hour), AckWithin: lasting(5 * time.Second),
		Schedule:          "8 times in 4 hours at growing distances",
		Acknowledged:      any2xx,
		AgainAfterSuccess: NotStated,
		Notes:             "Retries carry the payload of the first attempt. The connection must be accepted within 1 second. After 8 failures in a row a subscription made through the API is deleted.",
		Sources: read("https://shopify.dev/changelog/updates-to-webhook-retry-mechanism",
			"https://dev.to/shannonllc/shopify-webhooks-hmac-verification-5-second-timeout-retries-jkj"),
	}, {
		Name: "slack", Title: "Slack", What: "Events API",
		Horizon: lasting(25 * time.Hour), AckWithin: lasting(3 * time.Second),
		Schedule:          "three times: at once, after 1 minute, after 5 minutes",
		Acknowledged:      any2xx,
		AgainAfterSuccess: NotStated,
		Notes:             "A timeout is counted after 3 seconds whatever comes later, so a slow handler runs beside its own retry. Apps may turn on delayed events, which come hourly for a day: the horizon counts them in.",
		Sources: append(read("https://github.com/slackapi/python-slack-events-api/issues/84"),
			see("https://docs.slack.dev/apis/events-api/")...),
	}, {
		Name: "square", Title: "Square", What: "webhooks of payments and orders",
		Horizon: lasting(3 * day), AckWithin: lasting(10 * time.Second),
		Schedule:          "at growing distances",
		Acknowledged:      any2xx,
		AgainAfterSuccess: Yes,
		Notes:             "Versions of the same page say 24 and 72 hours; the longer stands. The 10 seconds are from the older one; the newer says as soon as possible.",
		Sources: read("https://developer.squareup.com/docs/webhooks/troubleshooting",
			"https://developer.squareup.com/docs/webhooks-overview"),
	}, {
		Name: "stripe", Title: "Stripe", What: "webhook endpoints",
		Horizon:           lasting(3 * day),
		Schedule:          "at growing distances for up to 3 days in live mode; three times in a few hours in a sandbox",
		Acknowledged:      any2xx,
		AgainAfterSuccess: Yes,
		Notes:             "No deadline for the answer is published; answer within seconds. Events of the last 30 days can be listed and sent again by hand: see the row manual.",
		Sources: append(read("https://docs.stripe.com/webhooks/process-undelivered-events",
			"https://dev.to/shannonllc/stripe-webhooks-retries-ordering-duplicates-timeouts-and-ips-46f0"),
			see("https://docs.stripe.com/webhooks")...),
	}, {
		Name: "svix", Title: "Svix", What: "webhooks sent through Svix",
		Horizon: lasting(28 * time.Hour), AckWithin: lasting(15 * time.Second),
		Schedule:          "after 5 seconds, 5 and 30 minutes, 2, 5, 10 and 10 hours",
		Acknowledged:      any2xx,
		AgainAfterSuccess: NotStated,
		Notes:             fromSumUp + " Senders may set another schedule.",
		Sources:           read("https://docs.svix.com/retries"),
	}, {
		Name: "telegram", Title: "Telegram Bot API", What: "updates by webhook or long polling",
		Horizon:           lasting(day),
		Schedule:          "a reasonable number of times, not given",
		Acknowledged:      "any 2xx answer; for polling, the next offset",
		AgainAfterSuccess: NotStated,
		Notes:             "Updates are kept for at most 24 hours. update_id is the same in a repeated update.",
		Sources:           read("https://core.telegram.org/bots/api#getting-updates"),
	}, {
		Name: "twilio", Title: "Twilio", What: "webhooks and Event Streams",
		Horizon: lasting(4 * time.Hour), AckWithin: lasting(15 * time.Second),
		Schedule:          "webhooks once more by default and up to 5 times within 15 seconds if the URL asks for it; Event Streams for up to 4 hours",
		Acknowledged:      any2xx,
		AgainAfterSuccess: Yes,
		Notes:             "The horizon is that of Event Streams. Fragments of the webhook URL (rc, rp, rt, tt) change the rest.",
		Sources: read("https://www.twilio.com/docs/usage/webhooks/webhooks-connection-overrides",
			"https://www.twilio.com/docs/events/event-delivery-and-duplication"),
	}, {
		Name: "whatsapp", Title: "WhatsApp Cloud API", What: "webhooks of messages and their status",
		Horizon:           lasting(7 * day),
		Schedule:          "at growing distances for up to 7 days",
		Acknowledged:      only200,
		AgainAfterSuccess: NotStated,
		Sources:           read("https://docs.360dialog.com/partner/messaging/receiving-messages-via-webhook"),
	}, {
		Name: "wix", Title: "Wix", What: "webhooks of sites and apps",
		Horizon: lasting(2 * day), AckWithin: lasting(1250 * time.Millisecond),
		Schedule:          "12 times at distances that grow from 1 minute to 12 hours",
		Acknowledged:      only200,
		AgainAfterSuccess: NotStated,
		Notes:             fromSumUp,
		Sources:           read("https://dev.wix.com/docs/rest/articles/getting-started/webhook-resend-policy"),
	}}
}
