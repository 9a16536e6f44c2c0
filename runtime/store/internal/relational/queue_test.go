package relational

import (
	"context"
	"errors"
	"testing"

	"github.com/a2agen/a2agen/runtime/store"
)

type job struct {
	*Job
	bytes int
}

// A caller that gives up in time knows that nothing was made; later it does not know.
func TestAJobIsLeftInTimeOrNot(t *testing.T) {
	q, gone := NewQueue[job](), func() context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return ctx
	}()
	early, late, served := job{Job: NewJob()}, job{Job: NewJob()}, job{Job: NewJob()}
	for _, j := range []job{early, late, served} {
		if err := q.Put(j); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := early.Wait(gone); !left || !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a job that waits is left: %t, %v", left, err)
	}
	all, open := q.Take(func(job) bool { return true })
	if len(all) != 3 || !open || q.Len() != 0 {
		t.Fatalf("%d jobs are taken, %d wait, open %t", len(all), q.Len(), open)
	}
	if all[0].Take() || !all[1].Take() || !all[1].Take() || !all[2].Take() {
		t.Error("the writer makes what was left, or not what is waited for, also when it comes again")
	}
	if left, err := late.Wait(gone); left || !errors.Is(err, store.ErrUnknown) {
		t.Errorf("a job that the writer has is left: %t, %v", left, err)
	}
	all[2].End(store.ErrFull)
	if left, err := served.Wait(t.Context()); left || err != store.ErrFull {
		t.Errorf("a job that was answered: %t, %v", left, err)
	}
}

// A batch has the first jobs, in their order, and a closed queue still gives what it has.
func TestABatchHasTheFirstJobs(t *testing.T) {
	q := NewQueue[job]()
	for bytes := range 5 {
		if err := q.Put(job{NewJob(), bytes}); err != nil {
			t.Fatal(err)
		}
	}
	q.Wait()
	sum := 0
	list, _ := q.Take(func(j job) bool {
		sum += j.bytes
		return sum <= 3
	})
	if len(list) != 3 || list[2].bytes != 2 || q.Len() != 2 {
		t.Errorf("the batch is %v, and %d wait", list, q.Len())
	}
	q.Close()
	q.Close()
	q.Wait()
	if err := q.Put(job{}); err != ErrClosed || !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a closed queue says %v", err)
	}
	if list, open := q.Take(func(job) bool { return true }); len(list) != 2 || list[0].bytes != 3 || open {
		t.Errorf("left are %v, open %t", list, open)
	}
}
