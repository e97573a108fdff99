package fix

import (
	"net/http"

	"github.com/google/uuid"
	idem "github.com/idemgen/idem/runtime"
)

func effect(call idem.Call, r *http.Request) {
	r.Header.Set("Idempotency-Key", uuid.NewString()) // want `uuid.NewString → Idempotency-Key`
}

func work(id idem.WorkID, r *http.Request) {
	key := "charge:" + uuid.NewString() // want `uuid.NewString → Idempotency-Key`
	r.Header.Set("Idempotency-Key", key)
}

func other(id string, r *http.Request) {
	r.Header.Set("Idempotency-Key", uuid.NewString()) // want `uuid.NewString → Idempotency-Key`
}

func shadowed(call idem.Call, r *http.Request) {
	for call := range 2 {
		_ = call
		r.Header.Set("Idempotency-Key", uuid.NewString()) // want `uuid.NewString → Idempotency-Key`
	}
}

func outermost(call idem.Call, r *http.Request) {
	r.Header.Set("Idempotency-Key", uuid.New().String()) // want `uuid.New → Idempotency-Key`
}
