package memory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// TestAccountsOfAMemoryHoldTheBytesOfTheirNotes: whatever becomes of them, and nobody is remembered for nothing.
func TestAccountsOfAMemoryHoldTheBytesOfTheirNotes(t *testing.T) {
	now, ctx := time.Now(), context.Background()
	m := New(Limits{Bytes: 600_000, Parked: time.Minute})
	m.clock = func() time.Time { return now }
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		owner := store.Owner{Tenant: fmt.Sprint("t", random.IntN(2)), Principal: fmt.Sprint("p", random.IntN(9))}
		value := make([]byte, random.IntN(12_000))
		switch random.IntN(8) {
		case 0:
			value = nil
		case 1:
			now = now.Add(20 * time.Second)
			if _, _, err := m.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
		}
		_, err := m.SetNote(ctx, owner, fmt.Sprint("c", random.IntN(40)), value, store.AnyVersion)
		if err != nil && err != store.ErrTooLarge && err != store.ErrFull {
			t.Fatal(err)
		}
		sum, most := map[string]int{}, 0
		for _, n := range m.noted {
			sum[n.key.Owner.Principal] += n.bytes
			most += n.bytes
		}
		for principal, a := range m.accounts {
			if int(a.Held.Bytes) != sum[principal] || a.noteBytes != sum[principal] || int64(a.noteBytes) > a.Limit.Bytes/8 || m.mostNoted.items[a.placeOfNotes-1] != a {
				t.Fatalf("after %d: %s holds %+v of %d", i, principal, a.Held, sum[principal])
			}
		}
		if int(m.all.Held.Bytes) != most || m.noteBytes != most || most > 150_000 || len(m.accounts) != len(sum) || m.mostNoted.Len() != len(sum) {
			t.Fatalf("after %d: all hold %d, %d accounts of %d", i, m.all.Held.Bytes, len(m.accounts), len(sum))
		}
	}
}
