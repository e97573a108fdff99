package survey

import (
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
)

// shape is a list of parameters by which a function is known to take in work,
// wherever it is registered. A type is its package's path, without major versions,
// and its name; "*" at the end of a name stands for any rest.
type shape struct {
	means   string
	system  string
	params  []string
	answers bool // it may return something beside an error
}

const (
	goContext = "context.Context"
	telegram  = "github.com/go-telegram/bot"
	discord   = "github.com/bwmarrin/discordgo"
	lambda    = "github.com/aws/aws-lambda-go"
	sarama    = "github.com/IBM/sarama"
)

var shapes = []shape{
	{"http", "net/http", []string{"net/http.ResponseWriter", "net/http.Request"}, false},
	{"http", "net/http", []string{"net/http.ResponseWriter", "net/http.Request", "github.com/julienschmidt/httprouter.Params"}, false},
	{"http", "github.com/gin-gonic/gin", []string{"github.com/gin-gonic/gin.Context"}, false},
	{"http", "github.com/labstack/echo", []string{"github.com/labstack/echo.Context"}, false},
	{"http", "github.com/gofiber/fiber", []string{"github.com/gofiber/fiber.Ctx"}, false},
	{"http", "github.com/valyala/fasthttp", []string{"github.com/valyala/fasthttp.RequestCtx"}, false},
	{"queue", "github.com/hibiken/asynq", []string{goContext, "github.com/hibiken/asynq.Task"}, false},
	{"queue", "github.com/riverqueue/river", []string{goContext, "github.com/riverqueue/river/rivertype.Job*"}, false},
	{"queue", "github.com/riverqueue/river", []string{goContext, "github.com/riverqueue/river.Job"}, false},
	{"queue", sarama, []string{sarama + ".ConsumerGroupSession", sarama + ".ConsumerGroupClaim"}, false},
	{"queue", sarama, []string{"github.com/Shopify/sarama.ConsumerGroupSession", "github.com/Shopify/sarama.ConsumerGroupClaim"}, false},
	{"queue", "cloud.google.com/go/pubsub", []string{goContext, "cloud.google.com/go/pubsub.Message"}, false},
	{"queue", "github.com/nats-io/nats.go", []string{"github.com/nats-io/nats.go.Msg"}, false},
	{"queue", "github.com/nats-io/nats.go/jetstream", []string{"github.com/nats-io/nats.go/jetstream.Msg"}, false},
	{"queue", "github.com/ThreeDotsLabs/watermill/message", []string{"github.com/ThreeDotsLabs/watermill/message.Message"}, true},
	{"queue", lambda, []string{goContext, lambda + "/events.*"}, true},
	{"bot", "gopkg.in/telebot", []string{"gopkg.in/telebot.Context"}, false},
	{"bot", telegram, []string{goContext, telegram + ".Bot", telegram + "/models.Update"}, false},
	{"bot", discord, []string{discord + ".Session", discord + ".*"}, false},
	{"bot", "github.com/go-telegram-bot-api/telegram-bot-api", []string{"github.com/go-telegram-bot-api/telegram-bot-api.Update"}, false},
}

// meansByType tells what the parameters of a function say that comes in through it.
func meansByType(sig *types.Signature) (means, system string) {
	results := sig.Results().Len()
	if sig.TypeParams().Len() > 0 || results > 0 && !lastIsError(sig) {
		return "", ""
	}
	var params []string
	for v := range sig.Params().Variables() {
		params = append(params, typeName(v.Type()))
	}
	for _, sh := range shapes {
		if (results < 2 || sh.answers) && slices.EqualFunc(sh.params, params, matches) {
			return sh.means, sh.system
		}
	}
	return "", ""
}

func lastIsError(sig *types.Signature) bool {
	last := sig.Results().At(sig.Results().Len() - 1)
	return types.Identical(last.Type(), types.Universe.Lookup("error").Type())
}

func matches(want, got string) bool {
	if prefix, ok := strings.CutSuffix(want, "*"); ok {
		return strings.HasPrefix(got, prefix)
	}
	return want == got
}

func typeName(t types.Type) string {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	return catalogue.Unversioned(named.Obj().Pkg().Path()) + "." + named.Obj().Name()
}
