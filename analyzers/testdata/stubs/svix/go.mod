module github.com/svix/svix-webhooks

go 1.21
