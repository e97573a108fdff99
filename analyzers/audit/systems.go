package audit

import "strings"

// system is what is known of what hands in work: from its documentation, not from
// the code under audit.
type system struct {
	verdict, goes string // where work goes that has failed for good
	sees, who     string // who sees it
	replay, how   string // whether one item can be run again
	items         bool   // a loop in the handler is over parts of one item
}

// kinds say what holds for all systems of a kind.
var kinds = map[string]system{
	"contract": {
		verdict: Yes, goes: "the ledger keeps it as dead, payload and last error with it",
		sees: Partly, who: "whoever looks: idemctl dead, or the console",
		replay: Yes, how: "idemctl replay WORK_ID", items: true,
	},
	"http": {
		verdict: NotSeen, goes: "the caller has the answer; nothing was seen that keeps what it sent",
		sees: NotSeen, who: "the caller alone, as far as seen",
		replay: Partly, how: "only by the caller, who has to send it again", items: true,
	},
	"rpc": {
		verdict: NotSeen, goes: "the caller has the answer; nothing was seen that keeps what it sent",
		sees: NotSeen, who: "the caller alone, as far as seen",
		replay: Partly, how: "only by the caller, who has to send it again", items: true,
	},
	"queue": {
		verdict: NotSeen, goes: "what the queue does with it is set outside this code",
		sees:   NotSeen,
		replay: NotSeen, how: "whether the queue can hand in one message again is set outside this code", items: true,
	},
	"lambda": {
		verdict: NotSeen, goes: "an asynchronous event is tried twice more and then goes to the function's failure destination or dead letter queue, if one is set; that is set outside this code",
		sees:   NotSeen,
		replay: Partly, how: "the event can be sent again by hand, if it has been kept", items: true,
	},
	"schedule": {
		verdict: No, goes: "nothing keeps it: the next run starts from what it finds",
		sees:   NotSeen,
		replay: NotSeen, how: "the next run does what it finds to do",
	},
	"bot": {
		verdict: No, goes: "nothing keeps it: an update that has been fetched does not come again",
		sees:   NotSeen,
		replay: No, how: "the user has to send it again", items: true,
	},
	"command": {
		verdict: No, goes: "nothing keeps it: whoever started the command has the error",
		sees: Partly, who: "whoever started it",
		replay: Partly, how: "by running the command again",
	},
	"program": {
		verdict: No, goes: "nothing keeps it: whoever started the program has the error",
		sees: Partly, who: "whoever started it",
		replay: Partly, how: "by running the program again",
	},
	"call": {
		verdict: NotSeen, goes: "the caller has the error",
		sees:   NotSeen,
		replay: NotSeen, how: "that is the caller's to say", items: true,
	},
}

// systems say what holds for one, by the import path of its library.
var systems = []struct {
	path string
	is   system
}{
	{"github.com/hibiken/asynq", system{
		verdict: Yes, goes: "asynq archives the task after its last attempt (25 retries unless set otherwise), and keeps it for 90 days",
		sees: Partly, who: "whoever looks into asynqmon or asynq's command line",
		replay: Yes, how: "asynq runs an archived task again by its ID", items: true,
	}},
	{"github.com/riverqueue/river", system{
		verdict: Yes, goes: "river discards the job after its last attempt (25 unless set otherwise), and keeps its row for 7 days",
		sees: Partly, who: "whoever looks into River UI or the table river_job",
		replay: Yes, how: "river's client retries one job by its ID", items: true,
	}},
	{"go.temporal.io", system{
		verdict: Yes, goes: "the workflow fails and its history stays for the namespace's retention; an activity is tried without end unless its policy bounds it",
		sees: Partly, who: "whoever looks into Temporal's web UI",
		replay: Yes, how: "a workflow can be reset or started again", items: true,
	}},
	{"github.com/RichardKnop/machinery", system{
		verdict: Partly, goes: "the task's state says FAILURE in the result backend until it expires; the message itself is gone",
		sees: NotSeen, replay: NotSeen, how: "the task has to be sent again with its arguments", items: true,
	}},
	{"github.com/ThreeDotsLabs/watermill", system{
		verdict: NotSeen, goes: "the message is not acknowledged and comes again, unless a middleware such as the poison queue takes it",
		sees: NotSeen, replay: NotSeen, how: "that depends on the queue behind watermill", items: true,
	}},
	{"kafka", kafka}, {"sarama", kafka}, {"github.com/twmb/franz-go", kafka},
	{"amqp", system{
		verdict: NotSeen, goes: "a message that is rejected goes to the queue's dead letter exchange if one is set, and is lost otherwise",
		sees: NotSeen, replay: NotSeen, how: "only if the dead letter exchange keeps it", items: true,
	}},
	{"sqs", system{
		verdict: NotSeen, goes: "it comes again until the queue's redrive policy moves it to a dead letter queue, or its retention ends; the policy is set outside this code",
		sees: NotSeen, replay: Partly, how: "from the dead letter queue, if there is one", items: true,
	}},
	{"cloud.google.com/go/pubsub", system{
		verdict: NotSeen, goes: "it comes again until the subscription's dead letter topic takes it, or its retention ends; both are set outside this code",
		sees: NotSeen, replay: Partly, how: "from the dead letter topic, if there is one", items: true,
	}},
	{"github.com/nats-io/nats.go/jetstream", jetstream},
	{"github.com/nats-io/nats.go", system{
		verdict: NotSeen, goes: "core NATS keeps nothing; in JetStream the message stays in its stream after the last delivery",
		sees: NotSeen, replay: NotSeen, how: "only if the message is in a stream", items: true,
	}},
	{"redis", system{
		verdict: No, goes: "what has been popped is gone; an entry of a stream stays pending until it is acknowledged",
		sees: NotSeen, replay: No, how: "nothing of Redis brings back what has been popped", items: true,
	}},
}

var (
	kafka = system{
		verdict: Partly, goes: "the record stays in the topic until its retention ends, but once the offset is past it nothing brings it back",
		sees: NotSeen, replay: No, how: "going back to an offset runs everything after it again", items: true,
	}
	jetstream = system{
		verdict: Partly, goes: "after its last delivery the message stays in the stream, where no consumer gets it again",
		sees: NotSeen, replay: Partly, how: "by reading the message from the stream by its sequence number", items: true,
	}
)

func systemOf(kind, path string) system {
	if kind == "queue" {
		for _, s := range systems {
			if strings.Contains(path, s.path) {
				return s.is
			}
		}
	}
	return kinds[kind]
}
