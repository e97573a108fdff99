// Package strangers is here for its go.mod and go.sum, which the generated
// modules get: it imports what they import.
package strangers

import (
	_ "github.com/aws/aws-sdk-go-v2/service/s3"
	_ "github.com/jackc/pgx/v5"
	_ "google.golang.org/grpc"

	_ "github.com/idemgen/idem/runtime"
)
