package engine

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/task"
)

// bursting is an agent over a durable store, whose handler writes a hundred pieces to an artifact.
type bursting struct {
	*fleet
	mu     sync.Mutex
	writes int // so far
	fault  func(write int) faultstore.Fault
}

func newBursting(t *testing.T, rest func(w *task.ArtifactWriter, err error) error) *bursting {
	b := &bursting{}
	b.fleet = newFleet(t, 1, func() []Skill {
		return []Skill{skillOf("work", func(_ context.Context, c *task.Task) (string, error) {
			w := c.Stream("text")
			var err error
			for i := 0; i < 100 && err == nil; i++ {
				_, err = w.WriteString("x")
			}
			return "", rest(w, err)
		})}
	})
	b.stores[0].Plan(func(c faultstore.Call) faultstore.Fault {
		if c.Op != "create" && c.Op != "apply" {
			return faultstore.Fault{}
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.writes++
		return b.fault(b.writes)
	})
	return b
}

// What a handler writes while the store is at work goes into the next transaction, all of it and in order.
func TestWhatIsWrittenMeanwhileIsStoredTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBursting(t, func(w *task.ArtifactWriter, err error) error { return cmp.Or(err, w.Close()) })
		later := make(chan struct{})
		b.fault = func(write int) faultstore.Fault {
			if write == 3 { // after the task and the first piece
				return faultstore.Fault{Wait: later}
			}
			return faultstore.Fault{}
		}
		go func() {
			time.Sleep(time.Second)
			close(later)
		}()
		got := b.agents[0].send(message(""))
		if n := strings.Count(artifacts(got), "x"); n != 100 {
			t.Errorf("the task has %d pieces", n)
		}
		if b.writes > 5 {
			t.Errorf("%d transactions", b.writes)
		}
	})
}

// A piece that the store refuses in the background is told with the next write to its artifact, or with Close, and the
// task can go on without.
func TestAPieceThatIsRefusedInTheBackgroundIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told error
		b := newBursting(t, func(w *task.ArtifactWriter, err error) error {
			time.Sleep(time.Second)
			if told = err; err == nil {
				_, told = w.WriteString("y")
			}
			return nil
		})
		b.fault = func(write int) faultstore.Fault {
			if write == 3 {
				return faultstore.Fault{Refuse: store.ErrTooLarge}
			}
			return faultstore.Fault{}
		}
		got := b.agents[0].send(message(""))
		if !errors.Is(told, run.ErrTaskTooLarge) || got.TaskInfo().State != runtime.StateCompleted {
			t.Errorf("the handler is told %v, the task is %s", told, got.TaskInfo().State)
		}
	})
}

// A store that does not answer for a while has all pieces in the end, each once.
func TestPendingPiecesOutliveAnOutage(t *testing.T) {
	for name, fault := range map[string]faultstore.Fault{
		"unreached": {Refuse: store.ErrUnavailable}, "done": {After: true}, "not done": {Before: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBursting(t, func(_ *task.ArtifactWriter, err error) error {
					time.Sleep(5 * time.Second)
					return err
				})
				begin := time.Now()
				b.fault = func(write int) faultstore.Fault {
					if write >= 3 && time.Since(begin) < 3*time.Second {
						return fault
					}
					return faultstore.Fault{}
				}
				got := b.agents[0].send(message(""))
				if n := strings.Count(artifacts(got), "x"); n != 100 {
					t.Errorf("the task has %d pieces", n)
				}
			})
		})
	}
}
