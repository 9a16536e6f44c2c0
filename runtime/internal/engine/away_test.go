package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/task"
)

// away takes the store from all instances for a while.
func (f *fleet) away(fault faultstore.Fault, d time.Duration) {
	for _, s := range f.stores {
		s.Plan(faultstore.Always(fault))
	}
	time.Sleep(d)
	for _, s := range f.stores {
		s.Plan(nil)
	}
}

// counting is a skill that says a number each second, up to a last one. What ends it early goes to said.
func counting(last int, said chan<- error) Skill {
	return skillOf("count", func(ctx context.Context, c *task.Task) (string, error) {
		defer context.AfterFunc(ctx, func() { said <- context.Cause(ctx) })()
		for i := range last {
			if err := c.Progress(fmt.Sprint("n", i)); err != nil {
				said <- err
				return "", err
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}
		return "done", nil
	})
}

// numbers reads a stream to its end, and returns the numbers of its events.
func (a *agent) numbers(id string, after int64) (seqs []int64, complete bool) {
	r := a.request("SubscribeToTask")
	r.After = after
	params, fault := r.Version.Decode(r.Op, []byte(`{"id":"`+id+`"}`))
	if fault != nil {
		a.t.Error(fault)
		return nil, false
	}
	got, err := r.Serve(params)
	if err != nil {
		a.t.Error(err)
		return nil, false
	}
	st := got.Stream
	defer st.Close()
	for {
		switch st.Next() {
		case Snapshot:
			if err := st.WriteSnapshot(func(seq int64, _ []byte) error { seqs = append(seqs, seq); return nil }); err != nil {
				a.t.Error(err)
			}
		case Events:
			for i := range st.Len() {
				seqs = append(seqs, st.Seq(i))
			}
			st.Take(st.Len())
		case Over:
			return seqs, st.Complete()
		}
	}
}

// An outage that is short beside the lease fails no work, and streams go on behind it by number, on every instance: no
// event is missing, and none comes twice.
func TestAShortOutageIsAPause(t *testing.T) {
	for way, fault := range faultstore.Away {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				said := make(chan error, 9)
				f := newFleet(t, 2, func() []Skill { return []Skill{counting(20, said)} })
				id := f.agents[0].send(message(early)).TaskInfo().ID
				type read struct {
					seqs     []int64
					complete bool
				}
				reads := make(chan read, 2)
				for _, a := range f.agents {
					go func() {
						seqs, complete := a.numbers(id, 1)
						reads <- read{seqs, complete}
					}()
				}
				time.Sleep(3*time.Second + time.Millisecond)
				f.away(fault, lease/8)
				for range f.agents {
					got := <-reads
					want := make([]int64, 0, 30)
					for n := int64(2); len(want) < len(got.seqs); n++ {
						want = append(want, n)
					}
					if !got.complete || !slices.Equal(got.seqs, want) {
						t.Errorf("the stream has %v, to the end: %v", got.seqs, got.complete)
					}
				}
				select {
				case err := <-said:
					t.Errorf("the handler is told %v", err)
				default:
				}
				if got := f.agents[1].get(id); got.TaskInfo().State != runtime.StateCompleted {
					t.Errorf("the task is %s", got.TaskInfo().State)
				}
			})
		})
	}
}

// In an outage that is longer than the lease, the work ends when the lease does by the clock of this process, before
// anybody else could take it over, and its sender is told so.
func TestAnOutageBeyondTheLeaseEndsTheWork(t *testing.T) {
	for way, fault := range faultstore.Away {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				said := make(chan error, 9)
				f := newFleet(t, 2, func() []Skill {
					sk := counting(20, said)
					sk.OnCrash = CrashRetry
					return []Skill{sk}
				})
				answer := make(chan error, 1)
				go func() {
					_, err := f.agents[0].serve("SendMessage", message(""))
					answer <- err
				}()
				time.Sleep(3*time.Second + time.Millisecond)
				begin := time.Now()
				over := make(chan struct{})
				go func() { defer close(over); f.away(fault, time.Minute) }()
				if err := <-said; !errors.Is(err, run.ErrLost) {
					t.Errorf("the handler is told %v", err)
				}
				if took := time.Since(begin); took > lease {
					t.Errorf("the handler is told after %s, when another may have its task", took)
				}
				if err := <-answer; !Away(err) || time.Since(begin) > 40*time.Second {
					t.Errorf("after %s the sender is told %v", time.Since(begin), err)
				}
				if err := <-said; !errors.Is(err, run.ErrLost) {
					t.Errorf("who says something is told %v", err)
				}
				<-over
				time.Sleep(2 * lease)
				page, err := f.agents[0].store.List(t.Context(), store.Owner{}, store.Query{Size: 10, View: store.Full})
				if err != nil || len(page.Tasks) != 1 {
					t.Fatalf("there are %d tasks: %v", len(page.Tasks), err)
				}
				f.agents[0].waitFor("the task is done", func() bool {
					return f.agents[0].get(page.Tasks[0].TaskInfo().ID).TaskInfo().State == runtime.StateCompleted
				})
			})
		})
	}
}

// A call whose task could not be made leaves no task that has failed, if it may be tried again: its sender does.
func TestACallWithoutATaskIsForItsSenderToTryAgain(t *testing.T) {
	for _, c := range []struct {
		onCrash OnCrash
		refusal error
		tasks   int
	}{{CrashRetry, store.ErrUnavailable, 0}, {CrashRetry, store.ErrNoSpace, 0}, {CrashFail, store.ErrUnavailable, 1}} {
		synctest.Test(t, func(t *testing.T) {
			said := make(chan error, 9)
			f := newFleet(t, 1, func() []Skill {
				sk := counting(2, said)
				sk.OnCrash = c.onCrash
				return []Skill{sk}
			})
			a := f.agents[0]
			go f.away(faultstore.Fault{Refuse: c.refusal}, 5*time.Second)
			synctest.Wait()
			if _, err := a.serve("SendMessage", message("")); !Away(err) && c.tasks == 0 {
				t.Errorf("the sender is told %v", err)
			}
			if err := <-said; !errors.Is(err, c.refusal) {
				t.Errorf("the handler is told %v", err)
			}
			time.Sleep(time.Minute)
			if page, err := a.store.List(t.Context(), store.Owner{}, store.Query{Size: 10}); err != nil || len(page.Tasks) != c.tasks {
				t.Errorf("there are %d tasks, %v", len(page.Tasks), err)
			}
		})
	}
}

// If nobody knows whether the task was made, it is worked on from the beginning when the store says that it was.
func TestATaskThatMayHaveBeenMadeIsWorkedOnAgain(t *testing.T) {
	for name, made := range map[string]faultstore.Fault{"made": {After: true}, "not made": {Before: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				said := make(chan error, 9)
				f := newFleet(t, 1, func() []Skill {
					sk := counting(2, said)
					sk.OnCrash = CrashRetry
					return []Skill{sk}
				})
				a, tries := f.agents[0], 0
				f.stores[0].Plan(func(c faultstore.Call) faultstore.Fault {
					if c.Op != "create" {
						return faultstore.Fault{}
					}
					if tries++; tries == 1 {
						return made
					}
					return faultstore.Fault{Refuse: store.ErrUnavailable}
				})
				if _, err := a.serve("SendMessage", message("")); !Away(err) {
					t.Errorf("the sender is told %v", err)
				}
				f.stores[0].Plan(nil)
				time.Sleep(time.Minute)
				page, err := a.store.List(t.Context(), store.Owner{}, store.Query{Size: 10, View: store.Full})
				if err != nil || len(page.Tasks) != 1 || page.Tasks[0].TaskInfo().State != runtime.StateCompleted {
					t.Errorf("the tasks are %v, %v", page.Tasks, err)
				}
			})
		})
	}
}

// A task that was made after the lease was lost is for others, too, however long the store stays away.
func TestATaskThatIsMadeWithoutALeaseIsLeftToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := make(chan error, 9)
		f := newFleet(t, 1, func() []Skill {
			sk := counting(5, said)
			sk.OnCrash = CrashRetry
			return []Skill{sk}
		})
		a := f.agents[0]
		a.send(message(early)) // so that there is a lease
		time.Sleep(10 * time.Second)
		f.stores[0].Plan(func(c faultstore.Call) faultstore.Fault {
			if c.Op == "renew" || c.Op == "apply" || c.Op == "claim" {
				return faultstore.Fault{Refuse: store.ErrUnavailable}
			}
			return faultstore.Fault{}
		})
		time.Sleep(lease)
		id := a.send(message(early)).TaskInfo().ID
		for err := error(nil); !errors.Is(err, store.ErrUnavailable); {
			err = <-said
		}
		f.stores[0].Plan(nil) // at the moment at which the handler gives up
		time.Sleep(4 * lease)
		if got := a.get(id).TaskInfo(); got.State != runtime.StateCompleted {
			t.Errorf("the task is %s", got.State)
		}
	})
}

// A stream outlives an outage of less than a minute, whoever runs the task; then it ends without a last event, so that
// its client goes to an instance that has the store.
func TestAStreamWaitsForTheStoreForAMinute(t *testing.T) {
	for _, c := range []struct {
		away     time.Duration
		complete bool
	}{{50 * time.Second, true}, {3 * time.Minute, false}} {
		synctest.Test(t, func(t *testing.T) {
			said := make(chan error, 9)
			f := newFleet(t, 2, func() []Skill {
				sk := counting(20, said)
				sk.OnCrash = CrashRetry
				return []Skill{sk}
			})
			id := f.agents[0].send(message(early)).TaskInfo().ID
			ended := make(chan bool, 1)
			go func() {
				_, complete := f.agents[1].numbers(id, 1)
				ended <- complete
			}()
			time.Sleep(2 * time.Second)
			begin := time.Now()
			f.away(faultstore.Fault{Refuse: store.ErrUnavailable}, c.away)
			if complete := <-ended; complete != c.complete {
				t.Errorf("away for %s the stream ended after %s, complete: %v", c.away, time.Since(begin), complete)
			}
			time.Sleep(time.Minute)
		})
	}
}

// An instance says that it is not ready a moment after it has lost its store, and that it is when the store is back.
func TestAnInstanceIsReadyWhenItReachesItsStore(t *testing.T) {
	for way, fault := range faultstore.Away {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 1, func() []Skill { return []Skill{counting(1, nil)} })
				a := f.agents[0]
				var told []bool
				a.WatchReady(func(ready bool) { told = append(told, ready) })
				if err := a.Ready(); err != nil {
					t.Errorf("at the start: %v", err)
				}
				go f.away(fault, 30*time.Second)
				time.Sleep(lease * 3 / 4)
				if err := a.Ready(); !errors.Is(err, run.ErrAway) {
					t.Errorf("without the store: %v", err)
				}
				time.Sleep(30*time.Second + lease)
				if err := a.Ready(); err != nil {
					t.Errorf("with the store again: %v", err)
				}
				synctest.Wait()
				if !slices.Equal(told, []bool{false, true}) {
					t.Errorf("who watches is told %v", told)
				}
			})
		})
	}
}
