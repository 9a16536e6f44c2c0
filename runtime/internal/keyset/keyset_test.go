package keyset_test

import (
	"context"
	"errors"
	"testing"

	"github.com/a2agen/a2agen/runtime/internal/keyset"
)

// TestACallerWhoseTimeIsOverGetsNoKey: a request that is already over asks nobody for keys, however soon they would come.
func TestACallerWhoseTimeIsOverGetsNoKey(t *testing.T) {
	fetched := 0
	s := keyset.Set[string]{Fetch: func(context.Context) (map[string]string, error) {
		fetched++
		return map[string]string{"k1": "key"}, nil
	}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		_, err := s.Key(ctx, "k1")
		if unavailable := new(keyset.Unavailable); !errors.As(err, &unavailable) || !errors.Is(err, context.Canceled) {
			t.Fatalf("the key was handed out: %v", err)
		}
	}
	if fetched != 0 {
		t.Errorf("keys were fetched %d times", fetched)
	}
}
