package live

import (
	"context"
	"testing"
)

// TestReadersGetEveryChangeOnceInOrder also when they were away, unless that was for too long.
func TestReadersGetEveryChangeOnceInOrder(t *testing.T) {
	var f Feed
	go func() {
		for n := range 3 * kept {
			f.Publish("n", n+1)
		}
	}()
	for at := int64(0); at < 3*kept; {
		items, lost, err := f.Next(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if lost {
			at = f.Last() - 1
			continue
		}
		for _, i := range items {
			if at++; i.Seq != at || i.What != int(at) {
				t.Fatalf("%+v after %d", i, at-1)
			}
		}
	}
	for _, gone := range []int64{0, 3*kept + 1, 2*kept - 1, -1} {
		if _, lost, _ := f.Next(t.Context(), gone); !lost {
			t.Errorf("%d is not lost", gone)
		}
	}
	if items, lost, _ := f.Next(t.Context(), 2*kept); lost || len(items) != kept {
		t.Errorf("%d, %v", len(items), lost)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := f.Next(ctx, 3*kept); err == nil {
		t.Error("a reader that is gone waits")
	}
}
