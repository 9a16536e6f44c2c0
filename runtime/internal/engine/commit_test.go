package engine

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/runtime/store/sqlite"
	"github.com/a2agen/a2agen/runtime/task"
)

// outage is a store that goes silent: with the first call of an operation, which it makes or not, and every call after
// that, until it is up again.
type outage struct {
	*faultstore.Store
	mu    sync.Mutex
	from  string // the operation
	first faultstore.Fault
	state int // 0 before, 1 down, 2 up again
}

func newOutage(kept store.Store, from string, first faultstore.Fault) *outage {
	o := &outage{from: from, first: first}
	o.Store = faultstore.New(kept, o.plan)
	return o
}

func (o *outage) plan(c faultstore.Call) faultstore.Fault {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state == 0 && c.Op == o.from {
		o.state = 1
		return o.first
	}
	return faultstore.Fault{Before: o.state == 1 && c.Op != "close"}
}

func (o *outage) is(state int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.state = state
}

// silenced is an agent with such a store, its skill, and a task of it that waits.
type silenced struct {
	*agent
	*outage
	counter counter
	kept    store.Store
	id      string
}

func newSilenced(t *testing.T, kept store.Store, from string, first faultstore.Fault) *silenced {
	u := &silenced{kept: kept, outage: newOutage(kept, from, first)}
	u.is(2)
	asks := skillOf("asks", func(context.Context, *task.Task) (string, error) {
		return "", errors.New("it was not asked for what is missing")
	})
	asks.InputSchema = `{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`
	asks.Decode = func(b []byte) (any, error) {
		if !strings.Contains(string(b), `"n":1`) {
			return nil, errors.New("no number")
		}
		return b, nil
	}
	replies := skillOf("replies", func(_ context.Context, c *task.Task) (string, error) {
		if err := c.Progress("working"); err == nil {
			return "", nil
		}
		return "", runtime.ErrInvalidParams.With("of its own")
	})
	u.agent = newAgent(t, Options{Store: u.outage}, u.counter.calendar(found), asks, replies)
	u.Start()
	u.id = u.send(skilled("calendar", message(""))).TaskInfo().ID
	u.is(0)
	return u
}

// skilled is a message for a skill.
func skilled(id, params string) string {
	return strings.Replace(params, "'role'", "'metadata':{'"+runtime.SkillsExtension+"':{'skill':'"+id+"'}},'role'", 1)
}

func done(params string) string { return strings.Replace(params, "hello", "done", 1) }

// tasks are all tasks, as the store has them.
func (u *silenced) tasks() map[string]runtime.Task {
	page, err := u.kept.List(u.t.Context(), store.Owner{}, store.Query{Size: 100, View: store.Full})
	if err != nil {
		u.t.Fatal(err)
	}
	all := map[string]runtime.Task{}
	for _, task := range page.Tasks {
		all[task.TaskInfo().ID] = task
	}
	return all
}

// atRest reports whether nobody has anything left to do, here or in the store.
func (u *silenced) atRest() bool {
	for id, task := range u.tasks() {
		h, err := u.kept.Head(u.t.Context(), store.Key{Task: id})
		if err != nil || h.Calls != h.Done || task.TaskInfo().State == runtime.StateWorking {
			return false
		}
	}
	return u.Load().Calls == 0 && u.Load().Tasks == 0
}

// doubts are what may have been done although nobody heard of it: what brings it about, from which operation on, and
// what comes of it if it was done.
var doubts = map[string]struct {
	op    string
	do    func(u *silenced) error
	state runtime.State // of the task
	added int           // tasks
}{
	"a message for a task": {"apply", func(u *silenced) error {
		_, err := u.serve("SendMessage", done(followUp(u.id, "")))
		return err
	}, runtime.StateCompleted, 0},
	"a handle": {"apply", func(u *silenced) error {
		return u.Redeem(u.t.Context(), u.counter.last(), "code")
	}, runtime.StateCompleted, 0},
	"a message that may come again": {"create", func(u *silenced) error {
		_, err := u.keyed("k", "SendMessage", skilled("calendar", done(message(""))))
		return err
	}, runtime.StateCompleted, 1},
	"a notification": {"create", func(u *silenced) error {
		r := u.request("SendMessage")
		r.Silent = true
		params, fault := r.Version.Decode(r.Op, []byte(strings.ReplaceAll(skilled("calendar", done(message(""))), "'", `"`)))
		if fault != nil {
			return fault
		}
		_, err := r.Serve(params)
		return err
	}, runtime.StateCompleted, 1},
	"a message that lacks something": {"create", func(u *silenced) error {
		_, err := u.serve("SendMessage", skilled("asks", message("")))
		return err
	}, runtime.StateInputRequired, 1},
	"a handler with an error of its own": {"create", func(u *silenced) error {
		_, err := u.serve("SendMessage", skilled("replies", message("")))
		return err
	}, runtime.StateFailed, 1},
}

// What a store has done, or will do, without saying so for longer than a client waits is gone on with as soon as it
// answers, once, and without the client.
func TestWhatWasDoneUnheardIsGoneOnWith(t *testing.T) {
	for name, c := range doubts {
		for made, first := range map[string]faultstore.Fault{"done": {After: true}, "not done": {Before: true}} {
			t.Run(name+", "+made, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					u := newSilenced(t, memory.New(memory.Limits{}), c.op, first)
					answer := make(chan error, 1)
					go func() { answer <- c.do(u) }()
					time.Sleep(time.Minute)
					select {
					case err := <-answer:
						if err == nil {
							t.Error("it is said to be done")
						}
					default:
						t.Error("the client is not answered")
					}
					u.is(2)
					time.Sleep(time.Minute)
					u.holds(c.state, c.added)
				})
			})
		}
	}
}

// holds looks at what came of it.
func (u *silenced) holds(state runtime.State, added int) {
	u.t.Helper()
	all := u.tasks()
	task := all[u.id]
	if added > 0 {
		delete(all, u.id)
		for _, task = range all {
		}
	}
	if len(u.tasks()) != 1+added || task == nil || task.TaskInfo().State != state || !u.atRest() {
		u.t.Errorf("%d tasks, %+v, %q, with %+v", len(u.tasks()), task.TaskInfo(), said(task), u.Load())
	}
	if called := u.counter.called(); strings.Count(called, "done:")+strings.Count(called, "code") > 1 {
		u.t.Errorf("the handler was called for %s", called)
	}
}

// A client that sends its message again meanwhile, or when the store is there again, does not have it worked on twice
// if the message has a key; without one it is another message, for which the handler is called after the first.
func TestAMessageThatComesAgainWhileTheFirstIsUnheard(t *testing.T) {
	for _, key := range []string{"", "k"} {
		for made, first := range map[string]faultstore.Fault{"done": {After: true}, "not done": {Before: true}} {
			t.Run(key+made, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					u := newSilenced(t, memory.New(memory.Limits{}), "apply", first)
					again := func() error {
						_, err := u.keyed(key, "SendMessage", followUp(u.id, ""))
						return err
					}
					for range 3 {
						if err := again(); err == nil {
							t.Error("it is said to be done")
						}
					}
					u.is(2)
					err := again()
					for ; err != nil; err = again() {
						t.Log(err)
						time.Sleep(time.Second)
					}
					time.Sleep(time.Minute)
					called := strings.Count(u.counter.called(), "hello:") - 1
					if most := map[string]int{"": 2, "k": 1}[key]; called < 1 || called > most || !u.atRest() {
						t.Errorf("the handler was called %d times, at rest: %t", called, u.atRest())
					}
				})
			})
		}
	}
}

// A file is no different.
func TestWhatAFileHasUnheardIsGoneOnWith(t *testing.T) {
	kept, err := sqlite.Open(filepath.Join(t.TempDir(), "tasks.db"), a2a.Protocol(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a message for a task", "a handle", "a message that may come again"} {
		c := doubts[name]
		u := newSilenced(t, kept, c.op, faultstore.Fault{After: true})
		if err := c.do(u); err == nil {
			t.Errorf("%s is said to be done", name)
		}
		u.is(2)
		u.waitFor(name+" is gone on with", u.atRest)
	}
}

// Whatever others say in the task meanwhile, the work is known by its stamp.
func TestWorkIsHeardOfAfterManyOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newSilenced(t, memory.New(memory.Limits{}), "apply", faultstore.Fault{After: true})
		if _, err := u.serve("SendMessage", followUp(u.id, "")); err == nil {
			t.Error("it is said to be done")
		}
		time.Sleep(time.Minute)
		u.is(2)
		for range 20 {
			if _, err := u.serve("SendMessage", followUp(u.id, early)); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Minute)
		if called := strings.Count(u.counter.called(), "hello:") - 1; called != 21 || !u.atRest() {
			t.Errorf("the handler was called %d times, at rest: %t", called, u.atRest())
		}
	})
}

// An instance that ends in doubt, or is not heard of for so long that it loses its lease, leaves the work to another,
// for which it is done once.
func TestWhatIsUnheardIsLeftToOthers(t *testing.T) {
	for name, end := range map[string]func(*fleet){
		"shutdown": func(f *fleet) { _ = f.agents[0].Close() },
		"lease": func(f *fleet) {
			time.Sleep(3 * lease)
			f.stores[0].Plan(nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var d counter
				f := fleetOf(t, &d, found)
				id := f.agents[0].send(message("")).TaskInfo().ID
				o := &outage{from: "apply", first: faultstore.Fault{After: true}}
				f.stores[0].Plan(o.plan)
				if err := f.agents[0].Redeem(t.Context(), d.last(), "code"); err == nil || err == ErrHandle {
					t.Errorf("redeemed without an answer of the store: %v", err)
				}
				time.Sleep(time.Second)
				end(f)
				time.Sleep(3 * lease)
				got := f.agents[1].get(id)
				if artifacts(got) != "result=found" || d.called() != "hello:, hello:code" {
					t.Errorf("the task is %s with %s, after %s", got.TaskInfo().State, artifacts(got), d.called())
				}
			})
		})
	}
}

// What a handler says while the store does not answer may be stored, or may not. The handler is told that it failed; it
// is stored once, before anything that the handler says later.
func TestAnUnconfirmedWriteGoesBeforeTheNext(t *testing.T) {
	for made, first := range map[string]faultstore.Fault{"done": {After: true}, "not done": {Before: true}} {
		t.Run(made, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOutage(memory.New(memory.Limits{}), "apply", first)
				o.is(2)
				a := newAgent(t, Options{Store: o}, skillOf("talks", func(_ context.Context, c *task.Task) (string, error) {
					if err := c.Progress("one"); err != nil {
						t.Error(err)
					}
					o.is(0)
					if err := c.Progress("two"); err == nil {
						t.Error("a store that does not answer is said to have stored something")
					}
					o.is(2)
					return "", c.Progress("three")
				}))
				var texts []string
				for _, turn := range runtime.Turns(a.send(message(""))) {
					if !turn.User {
						texts = append(texts, turn.Text())
					}
				}
				if got := strings.Join(texts, " "); got != "one two three" {
					t.Errorf("stored: %s", got)
				}
			})
		})
	}
}

// A task that is answered at once is made, answered and ended in one write; what the sender is to see before, or the
// store has no room for, is written apart.
func TestAnAnswerAndTheEndAreOneWrite(t *testing.T) {
	for name, c := range map[string]struct {
		params string
		run    func(context.Context, *task.Task) (string, error)
		want   string
	}{
		"an answer": {message(""), func(context.Context, *task.Task) (string, error) { return "found", nil }, "create"},
		"a question": {message(""), func(_ context.Context, c *task.Task) (string, error) {
			return "", c.Ask("Which?")
		}, "create"},
		"a handle": {message(""), func(_ context.Context, c *task.Task) (string, error) {
			return "", c.RequireAuth(task.AuthRequest{Prompt: "Please", Visit: func(string) string { return "https://x.example" }})
		}, "create apply"},
		"progress": {message(""), func(_ context.Context, c *task.Task) (string, error) {
			return "found", c.Progress("looking")
		}, "create apply"},
		"nobody waits": {message(early), func(context.Context, *task.Task) (string, error) { return "found", nil }, "create apply"},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var writes []string
			kept := faultstore.New(memory.New(memory.Limits{}), func(c faultstore.Call) faultstore.Fault {
				mu.Lock()
				defer mu.Unlock()
				if c.Op == "create" || c.Op == "apply" {
					writes = append(writes, c.Op)
				}
				return faultstore.Fault{}
			})
			a := newAgent(t, Options{Store: kept}, skillOf("work", c.run))
			if _, err := a.serve("SendMessage", c.params); err != nil {
				t.Fatal(err)
			}
			a.waitFor("the call is over", func() bool { return a.Load().Calls == 0 })
			mu.Lock()
			defer mu.Unlock()
			if got := strings.Join(writes, " "); got != c.want {
				t.Errorf("%s, not %s", got, c.want)
			}
		})
	}
}

// A handler and the runner, for a sender that does not wait, make the task at the same time while the store refuses, and
// a shutdown ends both tries at once. Whichever returns first, the sender is told that the agent is busy, and not that a
// task is not found for which it never asked.
func TestATaskThatCouldNotBeMadeIsNotReportedAsNotFound(t *testing.T) {
	for shutdown := 205 * time.Millisecond; shutdown < time.Second; shutdown += 10 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			refusing := faultstore.New(memory.New(memory.Limits{}), func(c faultstore.Call) faultstore.Fault {
				if c.Op == "create" {
					return faultstore.Fault{Refuse: store.ErrUnavailable}
				}
				return faultstore.Fault{}
			})
			a := newAgent(t, Options{Store: refusing}, skillOf("work", func(_ context.Context, c *task.Task) (string, error) {
				return "", c.Progress("working")
			}))
			time.AfterFunc(shutdown, func() { _ = a.Close() })
			_, err := a.serve("SendMessage", message(early))
			if e, _ := ToError(err); err == nil || e.Code != ErrBusy.Code {
				t.Errorf("with a shutdown after %v the sender is told: %v", shutdown, err)
			}
		})
	}
}
