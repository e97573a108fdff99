package storetest

import (
	"strconv"
	"sync"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func registrationTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"TheFirstHasTheKindAndVersion", firstRegisters[Tx]},
		{"EachRowIsAnsweredInOrder", registersInOrder[Tx]},
		{"OneOfManyAtOnceIsTheFirst", registersAtOnce[Tx]},
		{"WithoutKindOrVersionNothingIsRegistered", registersNothing[Tx]},
	}
}

func (h *harness[Tx]) register(list ...idem.Registration) []idem.Registration {
	h.Helper()
	rows, err := h.store.Register(h.ctx, list)
	if err != nil {
		h.Fatalf("register: %v", err)
	}
	return rows
}

func registration(kind string, version int, module string) idem.Registration {
	return idem.Registration{Kind: kind, Version: version, Digest: "digest of " + module, Module: module}
}

func seen(r idem.Registration, at time.Time) idem.Registration {
	r.FirstSeen = at
	return r
}

func firstRegisters[Tx any](h *harness[Tx]) {
	began := h.clock.Now()
	first := registration("order_paid", 1, "example.com/shop")
	h.wantSame("new row", h.register(first), []idem.Registration{seen(first, began)})
	h.clock.advance(time.Hour)
	h.wantSame("the same again", h.register(first), []idem.Registration{seen(first, began)})
	h.wantSame("another module", h.register(registration("order_paid", 1, "example.com/other")), []idem.Registration{seen(first, began)})
	next := registration("order_paid", 2, "example.com/other")
	h.wantSame("another version", h.register(next), []idem.Registration{seen(next, h.clock.Now())})
}

func registersInOrder[Tx any](h *harness[Tx]) {
	now := h.clock.Now()
	a, b := registration("b", 7, "example.com/shop"), registration("a", 1, "example.com/shop")
	h.register(a)
	twice := registration("c", 1, "example.com/one")
	got := h.register(b, twice, a, registration("c", 1, "example.com/two"))
	h.wantSame("rows", got, []idem.Registration{seen(b, now), seen(twice, now), seen(a, now), seen(twice, now)})
	h.wantSame("no rows", len(h.register()), 0)
}

func registersAtOnce[Tx any](h *harness[Tx]) {
	const programs = 8
	rows := make([][]idem.Registration, programs)
	var wg sync.WaitGroup
	for i := range programs {
		wg.Go(func() {
			module := "example.com/" + strconv.Itoa(i)
			list := []idem.Registration{registration("a", 1, module), registration("b", 1, module)}
			if i%2 == 1 { // in another order, over which two must not wait for each other
				list[0], list[1] = list[1], list[0]
			}
			got, err := h.store.Register(h.ctx, list)
			if err != nil {
				h.Errorf("register: %v", err)
				return
			}
			if i%2 == 1 {
				got[0], got[1] = got[1], got[0]
			}
			rows[i] = got
		})
	}
	wg.Wait()
	for i := range rows {
		h.wantSame("rows of program "+strconv.Itoa(i), rows[i], rows[0])
	}
}

func registersNothing[Tx any](h *harness[Tx]) {
	good := registration("a", 1, "example.com/shop")
	for _, bad := range []idem.Registration{{Version: 1, Digest: "d", Module: "m"}, {Kind: "a", Digest: "d", Module: "m"}} {
		if _, err := h.store.Register(h.ctx, []idem.Registration{good, bad}); err == nil {
			h.Errorf("%+v was registered", bad)
		}
	}
	other := registration("a", 1, "example.com/other")
	h.wantSame("row", h.register(other), []idem.Registration{seen(other, h.clock.Now())}) // the good one went with the bad
}
