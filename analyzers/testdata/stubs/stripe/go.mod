module github.com/stripe/stripe-go/v76

go 1.21
