// Package observed has an observer for tests, which keeps what it hears.
package observed

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime/observe"
)

// Recorder is an [observe.Observer] and an [observe.Injector] whose trace contexts are the numbers of its activities.
type Recorder struct {
	mu    sync.Mutex
	begun int
	all   []*Activity                     // in the order in which they began
	open  map[*observe.Activity]*Activity // going on
}

// Activity is one that has ended, with its own number, that of the activity under whose context it began, and what its
// carrier said then. Zero and "" are none.
type Activity struct {
	observe.Activity
	N, Within int
	Carried   string
}

type key struct{}

// Begin numbers an activity.
func (r *Recorder) Begin(ctx context.Context, a *observe.Activity) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = map[*observe.Activity]*Activity{}
	}
	r.begun++
	noted := &Activity{N: r.begun}
	noted.Within, _ = ctx.Value(key{}).(int)
	if a.Carrier != nil {
		noted.Carried = a.Carrier.Get(observe.TraceParent)
		a.Carrier.Set(observe.TraceParent, fmt.Sprint("t", noted.N))
	}
	r.open[a] = noted
	r.all = append(r.all, noted)
	return context.WithValue(ctx, key{}, noted.N)
}

// End keeps it.
func (r *Recorder) End(_ context.Context, a *observe.Activity) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[a].Activity = *a
	delete(r.open, a)
}

// Inject is the number of the activity that ctx is within.
func (r *Recorder) Inject(ctx context.Context, c observe.Carrier) {
	if n, ok := ctx.Value(key{}).(int); ok {
		c.Set(observe.TraceParent, fmt.Sprint("t", n))
	}
}

// Going is how many activities are going on.
func (r *Recorder) Going() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open)
}

// Wait returns what it has heard of since it was asked last, in the order in which it began, when that is n activities
// and none is going on.
func (r *Recorder) Wait(t testing.TB, n int) []*Activity {
	t.Helper()
	for limit := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		all, open := r.all, len(r.open)
		if open == 0 && len(all) >= n {
			r.all = nil
		}
		r.mu.Unlock()
		switch {
		case open == 0 && len(all) == n:
			return all
		case open == 0 && len(all) > n || time.Now().After(limit):
			for _, a := range all {
				t.Logf("%+v", *a)
			}
			t.Fatalf("there are %d activities, of which %d are going on, instead of %d", len(all), open, n)
		}
	}
}
