package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/runtime/task"
)

// counter is where handles come that a handler gives out.
type counter struct {
	mu      sync.Mutex
	handles []string
	calls   []string // of the handler: what it was called for, and with
}

func (d *counter) visit(handle string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handles = append(d.handles, handle)
	return "https://idp.example/authorize?state=" + handle
}

// last is the handle given out last.
func (d *counter) last() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.handles[len(d.handles)-1]
}

func (d *counter) called() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.calls, ", ")
}

// calendar is a skill that needs an authorization, and works with what it got.
func (d *counter) calendar(work func(ctx context.Context, c *task.Task) (string, error)) Skill {
	sk := skillOf("calendar", func(ctx context.Context, c *task.Task) (string, error) {
		var code string
		ok, err := c.Call().Authorized(&code)
		d.mu.Lock()
		d.calls = append(d.calls, c.Text()+":"+code)
		d.mu.Unlock()
		switch {
		case err != nil:
			return "", err
		case ok:
			return work(ctx, c)
		case c.Text() == "done":
			return "without", nil
		}
		return "", c.RequireAuth(task.AuthRequest{
			Prompt: "Please let me read it.", Scheme: "idp", Scopes: []string{"read"}, Visit: d.visit, For: time.Hour,
		})
	})
	sk.OnCrash = CrashRetry
	return sk
}

func found(context.Context, *task.Task) (string, error) { return "found", nil }

// settled waits until the task is no longer worked on.
func (a *agent) settled(id string) runtime.Task {
	a.t.Helper()
	var got runtime.Task
	a.waitFor("the handler has returned", func() bool {
		got = a.get(id)
		return got.TaskInfo().State != runtime.StateWorking
	})
	return got
}

func (a *agent) refusesHandle(why, handle string) {
	a.t.Helper()
	if err := a.Redeem(a.t.Context(), handle, "x"); err != ErrHandle {
		a.t.Errorf("%s: %v", why, err)
	}
}

// R110, R111, R112: the task says what it waits for; the handle goes on with it, once, and says nothing to others.
func TestAHandleGoesOnWithItsTaskOnce(t *testing.T) {
	var d counter
	a := newAgent(t, Options{}, d.calendar(found))
	parked := a.send(message(""))
	id, m := parked.TaskInfo().ID, parked.StatusMessage()
	if parked.TaskInfo().State != runtime.StateAuthRequired || said(parked) != "Please let me read it.\nhttps://idp.example/authorize?state="+d.last() {
		t.Fatalf("the task is %s and says %q", parked.TaskInfo().State, said(parked))
	}
	for _, want := range []string{`"authorization":{"scheme":"idp","scopes":["read"],"url":"https://idp.example/authorize?state=` + d.last() + `","expires":"20`, runtime.SkillsExtension} {
		if got := string(m.MessageInfo().Metadata); !strings.Contains(got, want) {
			t.Errorf("the metadata are %s, without %s", got, want)
		}
	}
	if h := d.last(); len(h) != 43 || strings.Contains(h, id) {
		t.Errorf("the handle is %q", h)
	}
	for _, wrong := range []string{"", "x", strings.Repeat("A", 43), id, d.last() + "A", strings.ToUpper(d.last()), d.last()[:42], strings.Repeat("x", 1<<20)} {
		a.refusesHandle("a wrong handle", wrong)
	}
	if err := a.Redeem(t.Context(), d.last(), func() {}); err == nil || err == ErrHandle {
		t.Errorf("a value that is no JSON: %v", err)
	}
	if err := a.Redeem(t.Context(), d.last(), strings.Repeat("x", 64<<10)); !errors.Is(err, run.ErrTooLarge) {
		t.Errorf("a value that is too long: %v", err)
	}
	if err := a.Redeem(t.Context(), d.last(), "code"); err != nil {
		t.Fatal(err)
	}
	if got := a.settled(id); got.TaskInfo().State != runtime.StateCompleted || artifacts(got) != "result=found" || got.TaskInfo().History != 2 {
		t.Errorf("the task is %s with %s and %d messages", got.TaskInfo().State, artifacts(got), got.TaskInfo().History)
	}
	if d.called() != "hello:, hello:code" {
		t.Errorf("the handler was called for %s", d.called())
	}
	a.refusesHandle("a used handle", d.last())
}

// A message goes on with the task, too: handles stay good meanwhile, until one is used or the task ends.
func TestAMessageAndAHandleGoOnWithATask(t *testing.T) {
	var d counter
	a := newAgent(t, Options{}, d.calendar(func(_ context.Context, c *task.Task) (string, error) { return "", c.Ask("more?") }))
	id := a.send(message("")).TaskInfo().ID
	first := d.last()
	a.send(strings.Replace(followUp(id, ""), "hello", "wait", 1))
	if second := d.last(); second == first {
		t.Fatal("the handle is the same")
	}
	if err := a.Redeem(t.Context(), first, "code"); err != nil {
		t.Fatal(err)
	}
	if got := a.settled(id); got.TaskInfo().State != runtime.StateInputRequired || d.called() != "hello:, wait:, hello:code" {
		t.Errorf("the task is %s after %s", got.TaskInfo().State, d.called())
	}
	a.refusesHandle("the other handle", d.last())
	a.send(strings.Replace(followUp(id, ""), "hello", "again", 1))
	third := d.last()
	if got := a.send(strings.Replace(followUp(id, ""), "hello", "done", 1)); got.TaskInfo().State != runtime.StateCompleted {
		t.Errorf("the task is %s", got.TaskInfo().State)
	}
	a.refusesHandle("the handle of a task that has ended", third)
	id = a.send(message("")).TaskInfo().ID
	if _, err := a.serve("CancelTask", `{'id':'`+id+`'}`); err != nil {
		t.Fatal(err)
	}
	a.refusesHandle("the handle of a canceled task", d.last())
}

// A handle that is redeemed while the handler is at work waits for its turn, and of many who redeem it one does.
func TestAHandleWaitsForItsTurn(t *testing.T) {
	var d counter
	gate := make(chan struct{})
	sk := d.calendar(found)
	inner := sk.Run
	sk.Run = func(ctx context.Context, c *task.Task, in any) ([]byte, error) {
		if c.Text() == "slow" {
			<-gate
			return nil, c.Ask("and?")
		}
		return inner(ctx, c, in)
	}
	a := newAgent(t, Options{}, sk)
	id := a.send(message("")).TaskInfo().ID
	a.send(strings.Replace(followUp(id, early), "hello", "slow", 1))
	var all sync.WaitGroup
	results := make(chan error, 8)
	for range cap(results) {
		all.Go(func() { results <- a.Redeem(t.Context(), d.last(), "code") })
	}
	all.Wait()
	close(results)
	good := 0
	for err := range results {
		if err == nil {
			good++
		} else if err != ErrHandle {
			t.Error(err)
		}
	}
	if d.called() != "hello:" || good != 1 {
		t.Errorf("%d redeemed it, and the handler was called for %s", good, d.called())
	}
	close(gate)
	a.waitFor("the handler has read the code", func() bool { return a.get(id).TaskInfo().State == runtime.StateCompleted })
	if d.called() != "hello:, hello:code" {
		t.Errorf("the handler was called for %s", d.called())
	}
}

// The handler is called with the input as messages have left it by then, and for the message that it had.
func TestAHandleGoesOnWithTheInputSoFar(t *testing.T) {
	var d counter
	var input []byte
	sk := d.calendar(func(context.Context, *task.Task) (string, error) { return string(input), nil })
	called := sk.Run
	sk.Run = func(ctx context.Context, c *task.Task, in any) ([]byte, error) {
		input = in.([]byte)
		return called(ctx, c, in)
	}
	sk.InputSchema = `{"type":"object","required":["n"],"properties":{"n":{"type":"integer"},"m":{"type":"integer"}}}`
	sk.Decode = func(b []byte) (any, error) {
		if strings.Contains(string(b), `"x"`) || !strings.Contains(string(b), `"n"`) {
			return nil, fmt.Errorf("not %s", b)
		}
		return b, nil
	}
	a := newAgent(t, Options{}, sk)
	says := func(params, data string) string {
		return strings.Replace(params, "{'text':'hello'}", "{'data':"+data+"}", 1)
	}
	id := a.send(says(message(""), "{'n':1}")).TaskInfo().ID
	if _, err := a.serve("SendMessage", says(followUp(id, ""), "{'n':'x'}")); err == nil {
		t.Error("an input that does not fit is taken")
	}
	a.send(says(followUp(id, ""), "{'m':2}"))
	if err := a.Redeem(t.Context(), d.handles[0], "code"); err != nil {
		t.Fatal(err)
	}
	if got := a.settled(id); artifacts(got) != `result={"m":2,"n":1}` {
		t.Errorf("the task is %s with %s: %s", got.TaskInfo().State, artifacts(got), said(got))
	}
}

// fleetOf is a fleet with a calendar.
func fleetOf(t *testing.T, d *counter, work func(ctx context.Context, c *task.Task) (string, error)) *fleet {
	return newFleet(t, 2, func() []Skill { return []Skill{d.calendar(work)} })
}

// A handle outlives the instance that gave it out, is good at any other, and only as long as it says.
func TestAHandleOutlivesItsInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d counter
		f := fleetOf(t, &d, found)
		id := f.agents[0].send(message("")).TaskInfo().ID
		old := f.agents[0].send(message("")).TaskInfo().ID
		f.kill(0)
		time.Sleep(time.Second)
		if err := f.agents[1].Redeem(t.Context(), d.handles[0], "code"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := f.agents[1].get(id); artifacts(got) != "result=found" {
			t.Errorf("the task is %s", got.TaskInfo().State)
		}
		time.Sleep(time.Hour)
		f.agents[1].refusesHandle("an old handle", d.handles[1])
		if got := f.agents[1].get(old); got.TaskInfo().State != runtime.StateAuthRequired {
			t.Errorf("the other task is %s", got.TaskInfo().State)
		}
	})
}

// An instance that is killed while its handler works with the value leaves it to the next.
func TestTheValueOutlivesItsInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d counter
		f := fleetOf(t, &d, func(ctx context.Context, c *task.Task) (string, error) {
			if c.Call().Attempt() == 1 {
				return until(ctx)
			}
			return "found", nil
		})
		id := f.agents[1].send(message("")).TaskInfo().ID
		if err := f.agents[0].Redeem(t.Context(), d.last(), "code"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		f.kill(0)
		time.Sleep(2 * lease)
		if got := f.agents[1].get(id); artifacts(got) != "result=found" || d.called() != "hello:, hello:code, hello:code" {
			t.Errorf("the task is %s with %s, after %s", got.TaskInfo().State, artifacts(got), d.called())
		}
		f.agents[1].refusesHandle("the used handle", d.last())
	})
}

// An instance that is killed when a handle was used up, and before anybody heard of it, leaves the call to the next.
func TestAHandleThatWasUsedUnheardIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d counter
		f := fleetOf(t, &d, found)
		id := f.agents[0].send(message("")).TaskInfo().ID
		used := false
		f.stores[0].Plan(func(c faultstore.Call) faultstore.Fault {
			if used = used || c.Op == "apply"; !used {
				return faultstore.Fault{}
			}
			if c.Op == "apply" {
				return faultstore.Fault{After: true}
			}
			return faultstore.Fault{Refuse: store.ErrUnavailable}
		})
		if err := f.agents[0].Redeem(t.Context(), d.last(), "code"); err == nil || err == ErrHandle {
			t.Errorf("redeemed without an answer of the store: %v", err)
		}
		f.kill(0)
		time.Sleep(2 * lease)
		if got := f.agents[1].get(id); artifacts(got) != "result=found" || d.called() != "hello:, hello:code" {
			t.Errorf("the task is %s with %s, after %s", got.TaskInfo().State, artifacts(got), d.called())
		}
	})
}

// Whatever call of the store fails, with or without having done what it should, a handle that was redeemed without an
// error has its handler called once, and one that was not can be redeemed again.
func TestAHandleSurvivesHiccupsOfTheStore(t *testing.T) {
	for name, fault := range map[string]faultstore.Fault{
		"before": {Before: true}, "after": {After: true}, "unavailable": {Refuse: store.ErrUnavailable}, "no space": {Refuse: store.ErrNoSpace},
	} {
		for n := range 10 {
			t.Run(fmt.Sprintf("%s at %d", name, n), func(t *testing.T) {
				var d counter
				kept := memory.New(memory.Limits{})
				s := faultstore.New(kept, nil)
				a := newAgent(t, Options{Store: s}, d.calendar(found))
				// Past the faults. A message that was sent again has a second task, which may be the older one: that whose
				// creation is repeated in the background.
				reads := func() runtime.Task {
					page, err := kept.List(t.Context(), store.Owner{}, store.Query{Size: 2, View: store.Full})
					if err != nil || len(page.Tasks) == 0 {
						return a.protocol.NewTask("", "", time.Time{})
					}
					for _, made := range page.Tasks {
						if made.TaskInfo().State == runtime.StateCompleted {
							return made
						}
					}
					return page.Tasks[0]
				}
				at := 0
				s.Plan(func(faultstore.Call) faultstore.Fault {
					if at++; at == n+1 {
						return fault
					}
					return faultstore.Fault{}
				})
				for _, err := a.serve("SendMessage", message(early)); err != nil; {
					_, err = a.serve("SendMessage", message(early))
				}
				a.waitFor("a handle was given out", func() bool { return reads().TaskInfo().State == runtime.StateAuthRequired })
				err := a.Redeem(t.Context(), d.last(), "code")
				if err != nil {
					err = a.Redeem(t.Context(), d.last(), "code")
				}
				a.waitFor("the handler has returned", func() bool { return reads().TaskInfo().State == runtime.StateCompleted })
				if err != nil || artifacts(reads()) != "result=found" || strings.Count(d.called(), "code") != 1 {
					t.Errorf("%v: the task has %s, after %s", err, artifacts(reads()), d.called())
				}
				s.Plan(nil)
				a.refusesHandle("the used handle", d.last())
			})
		}
	}
}
