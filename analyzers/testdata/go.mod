module example.com/shop

go 1.26

require (
	github.com/go-resty/resty/v2 v2.16.5
	github.com/google/uuid v1.6.0
	github.com/hashicorp/go-retryablehttp v0.7.8
	github.com/idemgen/idem v0.1.0
	github.com/sashabaranov/go-openai v1.41.2
	github.com/stripe/stripe-go/v76 v76.25.0
	github.com/svix/svix-webhooks v1.40.0
)

replace (
	github.com/go-resty/resty/v2 => ./stubs/resty
	github.com/google/uuid => ./stubs/uuid
	github.com/hashicorp/go-retryablehttp => ./stubs/retryablehttp
	github.com/idemgen/idem => ./stubs/idem
	github.com/sashabaranov/go-openai => ./stubs/openai
	github.com/stripe/stripe-go/v76 => ./stubs/stripe
	github.com/svix/svix-webhooks => ./stubs/svix
)
