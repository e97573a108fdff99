package migrations

import (
	"net/http"

	"github.com/google/uuid"
)

func Up(r *http.Request) { r.Header.Set("Idempotency-Key", uuid.NewString()) }
