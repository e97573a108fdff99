module example.com/shop

go 1.26

require (
	github.com/google/uuid v1.6.0
	github.com/idemgen/idem v0.1.0
	github.com/sashabaranov/go-openai v1.41.2
	github.com/stripe/stripe-go/v76 v76.25.0
	github.com/svix/svix-webhooks v1.40.0
)

replace (
	github.com/google/uuid => ./stubs/uuid
	github.com/idemgen/idem => ./stubs/idem
	github.com/sashabaranov/go-openai => ./stubs/openai
	github.com/stripe/stripe-go/v76 => ./stubs/stripe
	github.com/svix/svix-webhooks => ./stubs/svix
)
