package storetest

import (
	"sync"

	idem "github.com/idemgen/idem/runtime"
)

func keyTests[Tx any]() []namedTest[Tx] {
	return []namedTest[Tx]{
		{"TheFirstKeyCheckStaysAndEveryLaterOneHearsIt", firstKeyCheck[Tx]},
		{"OfManyFirstKeyChecksOneStays", manyKeyChecks[Tx]},
	}
}

func (h *harness[Tx]) keyCheck(mine idem.Hash) idem.Hash {
	h.Helper()
	known, err := h.store.KeyCheck(h.ctx, mine)
	if err != nil {
		h.Fatalf("key check: %v", err)
	}
	return known
}

func firstKeyCheck[Tx any](h *harness[Tx]) {
	first, second := hash("first"), hash("second")
	h.wantSame("the first one's", h.keyCheck(first), first)
	h.wantSame("the second one's", h.keyCheck(second), first)
	h.wantSame("the first one's again", h.keyCheck(first), first)
}

func manyKeyChecks[Tx any](h *harness[Tx]) {
	const callers = 20
	var answers [callers]idem.Hash
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			known, err := h.store.KeyCheck(h.ctx, idem.Hash{byte(i + 1)})
			if err != nil {
				h.Errorf("key check: %v", err)
			}
			answers[i] = known
		})
	}
	wg.Wait()
	for _, answer := range answers {
		h.wantSame("what everybody hears", answer, answers[0])
	}
	if n := answers[0][0]; n < 1 || n > callers {
		h.Errorf("the answer is nobody's: %v", answers[0])
	}
}
