package unrouted

import (
	"context"
	"testing"
)

func TestMarkPaid(t *testing.T) {
	if _, err := new(Orders).MarkPaid(context.Background(), fakeEffects{}, Order{}); err != nil {
		t.Fatal(err)
	}
}
