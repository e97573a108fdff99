package idem

import (
	"context"
	"time"
)

func DelayForTest(r Retry, attempts int, at float64) time.Duration { return r.delay(attempts, at) }

// CallClassForTest and HandlerClassForTest read errors as a contract does.
func CallClassForTest(err error, permanent, transient []ErrorMatch) Class {
	return reading{permanent, transient}.callClass(err)
}

func HandlerClassForTest(err error, permanent, transient []ErrorMatch) Class {
	return reading{permanent, transient}.handlerClass(err)
}

// KeyTextForTest writes the sum of a key.
func KeyTextForTest(f KeyFormat, sum [32]byte) string { return f.text(sum) }

// EffectKeyForTest is the derivation of an effect's key.
func EffectKeyForTest(id WorkID, name string, per []byte, epoch int) string {
	return KeyFormat{}.text(effectKey(id, name, per, epoch))
}

// Await waits for one work as a duplicate does whose work another process runs.
func Await(ctx context.Context, store interface {
	LookupAll(ctx context.Context, ids []WorkID) ([]Work, error)
}, id WorkID) (Work, error) {
	w := &waits{store: store, awaited: make(map[WorkID]*awaited), wake: make(chan struct{}, 1)}
	return w.await(ctx, id)
}
