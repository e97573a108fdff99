package knowledge

import "time"

func queues() []Delivery {
	return []Delivery{{
		Name: "cloudtasks", Title: "Google Cloud Tasks", What: "tasks sent to a worker over HTTP",
		AckWithin:         lasting(10 * time.Minute),
		Schedule:          "as the queue's retry configuration says",
		Acknowledged:      any2xx,
		AgainAfterSuccess: Yes,
		Notes:             "How long a task is retried is set per queue. The deadline is 10 minutes by default and 30 at most; App Engine targets have others.",
		Sources: read("https://docs.cloud.google.com/tasks/docs/dual-overview",
			"https://cloud.google.com/dotnet/docs/reference/Google.Cloud.Tasks.V2/latest/Google.Cloud.Tasks.V2.Task",
			"https://qiita.com/munaita_/items/9c6781b3449067ccf92c"),
	}, {
		Name: "eventbridge", Title: "Amazon EventBridge", What: "events sent to a rule's target",
		Horizon:           lasting(day),
		Schedule:          "up to 185 times at growing distances for 24 hours",
		Acknowledged:      "the target accepts the event",
		AgainAfterSuccess: NotStated,
		Notes:             "24 hours is the default and the most that can be set. Behind a target with a queue of its own (SQS, Lambda) that row's horizon is added.",
		Sources: read("https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-retry-policy.html",
			"https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_RetryPolicy.html"),
	}, {
		Name: "eventgrid", Title: "Azure Event Grid", What: "events pushed to a subscription",
		Horizon: lasting(day), AckWithin: lasting(30 * time.Second),
		Schedule:          "at distances that grow from 10 seconds to hours, for 24 hours",
		Acknowledged:      "200, 201, 202, 203 or 204",
		AgainAfterSuccess: NotStated,
		Notes:             "The time to live and the number of attempts can be lowered per subscription.",
		Sources: read("https://learn.microsoft.com/en-us/azure/event-grid/delivery-and-retry",
			"https://learn.microsoft.com/training/modules/event-driven-workflows-event-grid/4-delivery-retry-policies"),
	}, {
		Name: "kafka", Title: "Apache Kafka", What: "records of a topic",
		Schedule:          "from the last committed offset, at every restart and rebalance",
		Acknowledged:      "the committed offset",
		AgainAfterSuccess: Yes,
		Notes:             "Records come again for as long as the topic keeps them and somebody resets the offset: say redelivers_for.",
		Sources:           see("https://kafka.apache.org/documentation/#semantics"),
	}, {
		Name: "lambda", Title: "AWS Lambda", What: "asynchronous invocations",
		Horizon:           lasting(6 * time.Hour),
		Schedule:          "function errors twice more, after 1 and 2 minutes; throttles and errors of the service at growing distances for up to 6 hours",
		Acknowledged:      "the function returns without error",
		AgainAfterSuccess: Yes,
		Notes:             "The age can be lowered per function. Streams and queues that Lambda polls follow the row of the queue.",
		Sources: read("https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html",
			"https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-configuring.html"),
	}, {
		Name: "nats", Title: "NATS JetStream", What: "messages of a stream",
		AckWithin:         lasting(30 * time.Second),
		Schedule:          "whenever the acknowledgement did not come in time, until max_deliver",
		Acknowledged:      "an explicit acknowledgement",
		AgainAfterSuccess: NotStated,
		Notes:             "How long is set by the stream's limits and the consumer's max_deliver: say redelivers_for. The 30 seconds are ack_wait's default.",
		Sources: read("https://docs.nats.io/learn/jetstream/delivery-and-acknowledgment",
			"https://camel.apache.org/camel-spring-boot/next/starters/nats.html"),
	}, {
		Name: "pubsub", Title: "Google Cloud Pub/Sub", What: "messages of a subscription",
		Horizon: lasting(31 * day), AckWithin: lasting(10 * time.Second),
		Schedule:          "whenever the acknowledgement did not come in time",
		Acknowledged:      "the acknowledgement, or a successful answer to a push",
		AgainAfterSuccess: Yes,
		Notes:             "31 days is the longest retention that can be set; the default is 7. The deadline is 10 seconds by default and 600 at most.",
		Sources: read("https://docs.cloud.google.com/pubsub/docs/subscription-properties",
			"https://hexdocs.pm/google_api_pub_sub/0.1.0/GoogleApi.PubSub.V1.Model.Subscription.html"),
	}, {
		Name: "rabbitmq", Title: "RabbitMQ", What: "messages of a queue",
		Schedule:          "at once, when a channel or connection closes before the acknowledgement",
		Acknowledged:      "the consumer's acknowledgement",
		AgainAfterSuccess: NotStated,
		Notes:             "How long a message lives is set per queue, by default without end: say redelivers_for. A consumer that does not acknowledge for long has its channel closed.",
		Sources: append(read("https://github.com/rabbitmq/rabbitmq-website/discussions/1362"),
			see("https://www.rabbitmq.com/docs/confirms")...),
	}, {
		Name: "servicebus", Title: "Azure Service Bus", What: "messages of a queue or subscription",
		AckWithin:         lasting(time.Minute),
		Schedule:          "whenever the lock is over before the message is settled, by default 10 times",
		Acknowledged:      "complete",
		AgainAfterSuccess: NotStated,
		Notes:             "How long is the message's time to live, set per queue: say redelivers_for. The minute is the lock's default, 5 minutes its maximum; it can be renewed.",
		Sources: read("https://learn.microsoft.com/en-us/dotnet/api/azure.messaging.servicebus.administration.createqueueoptions.lockduration",
			"https://learn.microsoft.com/en-us/dotnet/api/azure.messaging.servicebus.administration.queueproperties.maxdeliverycount"),
	}, {
		Name: "sns", Title: "Amazon SNS", What: "messages of a topic",
		Horizon:           lasting(23 * day),
		Schedule:          "to Lambda and SQS 100,015 times over 23 days; to HTTP endpoints as the policy says, for an hour at most",
		Acknowledged:      "the endpoint accepts the message",
		AgainAfterSuccess: NotStated,
		Notes:             "The horizon is that of the endpoints that AWS manages. Behind SQS or Lambda that row's horizon is added.",
		Sources:           read("https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html"),
	}, {
		Name: "sqs", Title: "Amazon SQS", What: "messages of a queue",
		Horizon: lasting(14 * day), AckWithin: lasting(30 * time.Second),
		Schedule:          "whenever the visibility timeout is over before the message is deleted",
		Acknowledged:      "the delete",
		AgainAfterSuccess: Yes,
		Notes:             "14 days is the longest retention that can be set; the default is 4. The 30 seconds are the visibility timeout's default, 12 hours its maximum. A dead-letter queue that is redriven starts anew.",
		Sources: read("https://docs.aws.amazon.com/goto/SdkForKotlin/sqs-2012-11-05/ChangeMessageVisibility",
			"https://www.rubydoc.info/gems/aws-sdk-sqs/1.10.0/Aws/SQS/Resource"),
	}}
}

func clocksAndPeople() []Delivery {
	return []Delivery{{
		Name: "cron", Title: "cron and other schedules", What: "one run per slot of a schedule",
		Horizon: lasting(2 * day), ByDesign: true,
		Schedule:          "a slot may start twice (two hosts, a repeated hour, a scheduler that says so itself) and late (after an outage)",
		Acknowledged:      "the process ends without error",
		AgainAfterSuccess: Yes,
		Notes:             "Two days cover a schedule that catches up after an outage over a weekend. Identity is the slot, never the time of the run.",
		Sources: append(read("https://docs.redhat.com/en/documentation/openshift_container_platform/3.11/html/developer_guide/dev-guide-cron-jobs"),
			see("https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/")...),
	}, {
		Name: "manual", Title: "a person", What: "a run, a replay or a resend by hand",
		Horizon: lasting(30 * day), ByDesign: true,
		Schedule:          "whenever somebody presses the button",
		Acknowledged:      "nothing is",
		AgainAfterSuccess: Yes,
		Notes:             "Thirty days are for how long systems let their events be sent again by hand; Stripe lists them for so long.",
		Sources:           read("https://docs.stripe.com/webhooks/process-undelivered-events"),
	}}
}
