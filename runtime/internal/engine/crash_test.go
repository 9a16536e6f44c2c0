package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/runtime/task"
)

const lease = 9 * time.Second

// fleet are instances of one agent that share a store. Those that are killed reach it no more.
type fleet struct {
	t         *testing.T
	shared    *memory.Store
	skills    func() []Skill
	reach     func(*faultstore.Store) store.Store // how an instance reaches the store
	logger    *slog.Logger
	observers []observe.Observer
	protocol  *runtime.Protocol // nil: that of 1.0
	agents    []*agent
	stores    []*faultstore.Store
}

func newFleet(t *testing.T, n int, skills func() []Skill) *fleet {
	f := &fleet{t: t, shared: memory.New(memory.Limits{}), skills: skills}
	f.reach = func(s *faultstore.Store) store.Store { return s }
	for range n {
		f.start()
	}
	time.Sleep(time.Second) // the first round
	return f
}

func (f *fleet) start() *agent {
	f.t.Helper()
	s := faultstore.New(f.shared.Instance(lease), nil)
	protocol := f.protocol
	if protocol == nil {
		protocol = a2a.Protocol()
	}
	a := newAgentOf(f.t, protocol, Options{Store: f.reach(s), Logger: f.logger, Observers: f.observers}, f.skills()...)
	a.Start()
	f.agents, f.stores = append(f.agents, a), append(f.stores, s)
	return a
}

// kill ends an instance that has no time for anything.
func (f *fleet) kill(i int) {
	f.stores[i].Plan(func(faultstore.Call) faultstore.Fault { return faultstore.Fault{Refuse: store.ErrUnavailable} })
	if err := f.agents[i].Close(); err != nil {
		f.t.Error(err)
	}
}

const early = `,'configuration':{'returnImmediately':true}`

// send sends a message and returns its task.
func (a *agent) send(params string) runtime.Task {
	a.t.Helper()
	got, err := a.serve("SendMessage", params)
	if err != nil {
		a.t.Fatal(err)
	}
	return got.Result.(runtime.Task)
}

func (a *agent) get(id string) runtime.Task {
	a.t.Helper()
	got, err := a.serve("GetTask", `{'id':'`+id+`'}`)
	if err != nil {
		a.t.Fatal(err)
	}
	return got.Result.(runtime.Task)
}

func said(task runtime.Task) string {
	m := task.StatusMessage()
	if m == nil {
		return ""
	}
	return route.TextOf(m.Contents())
}

func artifacts(task runtime.Task) string {
	var all []string
	for _, a := range task.ArtifactList() {
		all = append(all, a.ID+"="+route.TextOf(a.Parts))
	}
	return strings.Join(all, " ")
}

// until waits for what the handler's context ends with.
func until(ctx context.Context) (string, error) {
	<-ctx.Done()
	return "", context.Cause(ctx)
}

func TestWhatACrashInterruptsFailsOrIsTriedAgain(t *testing.T) {
	const (
		restarted = "The agent was restarted while it worked on this. Please send the message again."
		tooOften  = "The agent was interrupted each time it worked on this, and does not try it again."
	)
	for name, c := range map[string]struct {
		crash   OnCrash
		kills   int
		state   runtime.State
		said    string
		results string
	}{
		"fail":            {CrashFail, 1, runtime.StateFailed, restarted, "artifact-1=try 1"},
		"retry":           {CrashRetry, 1, runtime.StateCompleted, "", "artifact-1=try 2 result=done"},
		"a poisoned task": {CrashRetry, 3, runtime.StateFailed, tooOften, "artifact-1=try 3"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				keys := map[string]bool{}
				f := newFleet(t, c.kills+1, func() []Skill {
					sk := skillOf("work", func(ctx context.Context, call *task.Task) (string, error) {
						keys[call.Call().IdempotencyKey()] = true
						if err := call.Artifact("log", runtime.Text(fmt.Sprint("try ", call.Call().Attempt()))); err != nil {
							return "", err
						}
						if call.Call().Attempt() <= c.kills {
							return until(ctx)
						}
						return "done", nil
					})
					sk.OnCrash = c.crash
					return []Skill{sk}
				})
				task := f.agents[0].send(message(early))
				last := f.agents[c.kills]
				for range c.kills {
					time.Sleep(time.Second)
					for i, a := range f.agents {
						if a.Load().Calls > 0 && !a.Draining() {
							f.kill(i)
							break
						}
					}
					time.Sleep(2 * lease)
				}
				for _, a := range f.agents {
					if !a.Draining() {
						last = a
					}
				}
				got := last.get(task.TaskInfo().ID)
				if got.TaskInfo().State != c.state || said(got) != c.said || artifacts(got) != c.results {
					t.Errorf("the task is %s, %q, with %s", got.TaskInfo().State, said(got), artifacts(got))
				}
				if len(keys) != 1 {
					t.Errorf("keys for what is done outside: %v", keys)
				}
			})
		})
	}
}

// Of a call of many, what earlier ones made stays, and an attempt that is repeated gives the same ids again.
func TestARepeatedCallReplacesWhatItMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, func() []Skill {
			sk := skillOf("work", func(ctx context.Context, c *task.Task) (string, error) {
				w := c.Stream("text")
				for _, s := range []string{"a", "b"} {
					if _, err := fmt.Fprint(w, s, c.Call().Attempt()); err != nil {
						return "", err
					}
				}
				if err := w.Close(); err != nil {
					return "", err
				}
				if c.Resumed() && c.Call().Attempt() == 1 {
					return until(ctx)
				}
				return "", c.Ask("more?")
			})
			sk.OnCrash = CrashRetry
			return []Skill{sk}
		})
		id := f.agents[0].send(message("")).TaskInfo().ID
		f.agents[0].send(followUp(id, early))
		time.Sleep(time.Second)
		f.kill(0)
		time.Sleep(2 * lease)
		got := f.agents[1].get(id)
		if want := "artifact-1=a1\nb1 artifact-2=a2\nb2"; artifacts(got) != want {
			t.Errorf("the artifacts are %q, want %q", artifacts(got), want)
		}
	})
}

func TestAShutdownGivesBackWhatIsTriedAgain(t *testing.T) {
	for crash, want := range map[OnCrash]runtime.State{
		CrashRetry: runtime.StateCompleted, CrashFail: runtime.StateFailed,
	} {
		synctest.Test(t, func(t *testing.T) {
			called := 0
			f := newFleet(t, 2, func() []Skill {
				sk := skillOf("work", func(ctx context.Context, c *task.Task) (string, error) {
					if called++; called == 1 {
						return until(ctx)
					}
					return "", nil
				})
				sk.OnCrash = crash
				return []Skill{sk}
			})
			id := f.agents[0].send(message(early)).TaskInfo().ID
			time.Sleep(time.Second)
			_ = f.agents[0].Close()
			time.Sleep(lease / 2) // sooner than the lease is over
			got := f.agents[1].get(id)
			if got.TaskInfo().State != want {
				t.Errorf("the task is %s, want %s: %s", got.TaskInfo().State, want, said(got))
			}
		})
	}
}

// An agent may be stopped before the store has said whether it is durable.
func TestAShutdownAtTheStartGivesBackWhatIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		called := make(chan struct{}, 2)
		f := newFleet(t, 1, func() []Skill {
			sk := skillOf("work", func(ctx context.Context, c *task.Task) (string, error) {
				if called <- struct{}{}; len(called) == 1 {
					return until(ctx)
				}
				return "", nil
			})
			sk.OnCrash = CrashRetry
			return []Skill{sk}
		})
		late := f.start()
		f.stores[1].Plan(func(c faultstore.Call) faultstore.Fault {
			if c.Op == "renew" {
				return faultstore.Fault{Refuse: store.ErrUnavailable}
			}
			return faultstore.Fault{}
		})
		id := late.send(message(early)).TaskInfo().ID
		synctest.Wait() // until the handler is called
		_ = late.Close()
		time.Sleep(2 * lease)
		if got := f.agents[0].get(id); got.TaskInfo().State != runtime.StateCompleted {
			t.Errorf("the task is %s: %s", got.TaskInfo().State, said(got))
		}
	})
}

// What is asked of one instance reaches the handler at another.
func TestATaskIsReachedThroughEveryInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		causes := make(chan error, 2)
		f := newFleet(t, 2, func() []Skill {
			return []Skill{skillOf("work", func(ctx context.Context, c *task.Task) (string, error) {
				if err := c.Progress("working on %s", c.Text()); err != nil {
					return "", err
				}
				select {
				case <-release:
					return "", c.Ask("more?")
				case <-ctx.Done():
					causes <- context.Cause(ctx)
					return "", ctx.Err()
				}
			})}
		})
		id := f.agents[0].send(message(early)).TaskInfo().ID
		time.Sleep(time.Second)
		stream, err := f.agents[1].serve("SubscribeToTask", `{'id':'`+id+`'}`)
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Stream.Close()
		answer := make(chan runtime.Task)
		go func() { answer <- f.agents[1].send(followUp(id, "")) }() // waits for its turn, at the other
		synctest.Wait()
		release <- struct{}{}
		synctest.Wait()
		select {
		case <-answer:
			t.Fatal("the call that waits is answered before its turn")
		default:
		}
		release <- struct{}{}
		if got := <-answer; got.TaskInfo().State != runtime.StateInputRequired || got.TaskInfo().History < 3 {
			t.Errorf("the answer is %s", got.TaskInfo().State)
		}
		f.agents[0].send(followUp(id, early))
		time.Sleep(time.Second)
		if _, err := f.agents[1].serve("CancelTask", `{'id':'`+id+`'}`); err != nil {
			t.Fatal(err)
		}
		if cause := <-causes; !errors.Is(cause, run.ErrCanceled) {
			t.Errorf("the handler is told %v", cause)
		}
		last := int64(0)
		for step := stream.Stream.Next(); step != Over; step = stream.Stream.Next() {
			switch step {
			case Snapshot:
				_ = stream.Stream.WriteSnapshot(func(seq int64, _ []byte) error { last = seq; return nil })
			case Events:
				for i := range stream.Stream.Len() {
					if seq := stream.Stream.Seq(i); seq != last+1 {
						t.Errorf("event %d follows %d", seq, last)
					}
					last++
				}
				stream.Stream.Take(stream.Stream.Len())
			}
		}
		if head, _ := f.shared.Head(t.Context(), store.Key{Task: id}); head.Version != last {
			t.Errorf("the stream ends at %d, the task is at %d", last, head.Version)
		}
	})
}

// An instance that does not reach the store stops its handlers before another takes their tasks, and comes back.
func TestAnInstanceThatIsCutOffStopsItsHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type end struct {
			cause error
			at    time.Time
		}
		ends := make(chan end, 9)
		begun := make(chan time.Time, 9)
		f := newFleet(t, 2, func() []Skill {
			sk := skillOf("work", func(ctx context.Context, c *task.Task) (string, error) {
				begun <- time.Now()
				if c.Call().Attempt() > 1 {
					return "done", nil
				}
				<-ctx.Done()
				ends <- end{context.Cause(ctx), time.Now()}
				return "done too", nil
			})
			sk.OnCrash = CrashRetry
			return []Skill{sk}
		})
		id := f.agents[0].send(message(early)).TaskInfo().ID
		<-begun
		f.stores[0].Plan(func(faultstore.Call) faultstore.Fault { return faultstore.Fault{Refuse: store.ErrUnavailable} })
		stopped := <-ends
		if !errors.Is(stopped.cause, run.ErrLost) {
			t.Errorf("the handler is told %v", stopped.cause)
		}
		if again := <-begun; again.Before(stopped.at) {
			t.Errorf("the other began %s before the first was told", stopped.at.Sub(again))
		}
		time.Sleep(time.Second)
		f.stores[0].Plan(nil)
		time.Sleep(2 * lease)
		if got := f.agents[0].get(id); got.TaskInfo().State != runtime.StateCompleted || artifacts(got) != "result=done" {
			t.Errorf("the task is %s with %s", got.TaskInfo().State, artifacts(got))
		}
		_ = f.agents[0].send(message(early)) // it is back
	})
}

// partly is a store of which a part was not reached for too long: that of a task.
type partly struct {
	store.Store
	lost atomic.Pointer[string]
}

func (p *partly) Renew(ctx context.Context) (store.Lease, error) {
	l, err := p.Store.Renew(ctx)
	if id := p.lost.Load(); id != nil {
		l.Over = func(key store.Key) bool { return key.Task == *id }
	}
	return l, err
}

// An instance that does not reach a part of the store stops the handlers of that part alone.
func TestHandlersOfAPartThatIsCutOffStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := make(chan string, 9)
		f := newFleet(t, 1, func() []Skill {
			return []Skill{skillOf("work", func(ctx context.Context, c *task.Task) (string, error) {
				if err := c.Progress("working"); err != nil {
					return "", err
				}
				<-ctx.Done()
				if errors.Is(context.Cause(ctx), run.ErrLost) {
					stopped <- c.Call().TaskID()
				}
				return "", ctx.Err()
			})}
		})
		part := &partly{Store: f.shared.Instance(lease)}
		f.reach = func(*faultstore.Store) store.Store { return part }
		a := f.start()
		time.Sleep(time.Second)
		lost, kept := a.send(message(early)).TaskInfo().ID, a.send(message(early)).TaskInfo().ID
		time.Sleep(time.Second)
		part.lost.Store(&lost)
		time.Sleep(lease)
		got := ""
		if len(stopped) > 0 {
			got = <-stopped
		}
		if got != lost || len(stopped) > 0 {
			t.Errorf("the handler of %q stops, want that of %s and not of %s", got, lost, kept)
		}
	})
}

// A reader who comes back while his task ends, between two looks at the store, gets the end.
func TestAStreamThatIsResumedAtTheEndHasTheEnd(t *testing.T) {
	release := make(chan struct{})
	shared := memory.New(memory.Limits{})
	s := faultstore.New(shared, nil)
	a := newAgent(t, Options{Store: s}, skillOf("work", func(_ context.Context, c *task.Task) (string, error) {
		if err := c.Progress("working"); err != nil {
			return "", err
		}
		<-release
		return "done", nil
	}))
	key := store.Key{Task: a.send(message(early)).TaskInfo().ID}
	head, err := shared.Head(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	heads := 0
	s.Plan(faultstore.Times(1, faultstore.Fault{Wait: ended}, func(c faultstore.Call) bool {
		if c.Op == "head" {
			heads++
		}
		if heads < 2 { // the second is whether the stream has missed nothing
			return false
		}
		close(release)
		go func() {
			defer close(ended)
			for got, err := shared.Get(t.Context(), key, store.Full); err == nil && !got.Task.TaskInfo().State.Terminal(); {
				time.Sleep(time.Millisecond)
				got, err = shared.Get(t.Context(), key, store.Full)
			}
		}()
		return true
	}))
	r := a.request("SubscribeToTask")
	r.Context, r.After = t.Context(), head.Version
	params, fault := r.Version.Decode(r.Op, []byte(`{"id":"`+key.Task+`"}`))
	if fault != nil {
		t.Fatal(fault)
	}
	got, err := r.Serve(params)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Stream.Close()
	if step := got.Stream.Next(); step != Events || got.Stream.Seq(0) != head.Version+1 {
		t.Errorf("the stream goes on with step %d", step)
	}
}
