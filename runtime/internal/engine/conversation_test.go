package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/run"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/runtime/task"
)

// says sends a message to a context, as a principal of a tenant, and returns the task that it leads to.
func (a *agent) says(who store.Owner, contextID, task, text string) runtime.Task {
	a.t.Helper()
	r := a.request("SendMessage")
	if who.Principal != "" {
		r.Caller = &runtime.Caller{ID: who.Principal}
	}
	params := fmt.Sprintf(`{"tenant":%q,"message":{"messageId":"m","role":"ROLE_USER","contextId":%q,"taskId":%q,"parts":[{"text":%q}]}}`, who.Tenant, contextID, task, text)
	decoded, fault := r.Version.Decode(r.Op, []byte(params))
	if fault != nil {
		a.t.Fatal(fault)
	}
	answer, err := r.Serve(decoded)
	if err != nil {
		a.t.Fatal(err)
	}
	return answer.Result.(runtime.Task)
}

// ticking has every status of the agent be a millisecond later than the one before: tasks of one time have no order.
func ticking(a *agent) *agent {
	var passed atomic.Int64
	begin := time.Now().UTC().Truncate(time.Millisecond)
	a.runner.Now = func() time.Time { return begin.Add(time.Duration(passed.Add(1)) * time.Millisecond) }
	return a
}

// shown is a conversation in one line.
func shown(list []task.Exchange) string {
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "[%s", e.State)
		for _, turn := range e.Turns {
			fmt.Fprintf(&b, " %s:%s", turn.Role(), strings.ReplaceAll(turn.Text(), " ", "_"))
			var data map[string]int
			if found, err := turn.Data(&data); found {
				fmt.Fprintf(&b, "%v%v", data, err)
			}
		}
		b.WriteString("]")
	}
	return b.String()
}

// TestAHandlerSeesWhatWasSaidBefore: the last task first, in it messages, then artifacts, then what the status says.
func TestAHandlerSeesWhatWasSaidBefore(t *testing.T) {
	var seen []task.Exchange
	var turns []runtime.Turn
	n := 10
	a := ticking(newAgent(t, Options{}, skillOf("chat", func(ctx context.Context, c *task.Task) (text string, err error) {
		if seen, err = c.Context().Conversation(ctx, n); err != nil {
			return "", err
		}
		turns = c.Turns()
		switch c.Text() {
		case "ask":
			return "", c.Ask("Which?", map[string]int{"a": 1})
		case "stream":
			w := c.Stream("poem")
			for _, s := range []string{"Roses ", "are red"} {
				if _, err := w.WriteString(s); err != nil {
					return "", err
				}
			}
			return "", errors.Join(w.Close(), c.Say(runtime.StateCompleted, runtime.MessageOf(runtime.Text("There."))))
		case "fail":
			return "", c.Fail("no")
		}
		return "re: " + c.Text(), nil
	})))
	ann, bob := store.Owner{Principal: "ann"}, store.Owner{Principal: "bob"}
	tenant := store.Owner{Tenant: "t", Principal: "ann"}
	say := func(who store.Owner, in, task, text, want string) string {
		t.Helper()
		id := a.says(who, in, task, text).TaskInfo().ID
		if got := shown(seen); got != want {
			t.Errorf("%q of %v sees\n%s, want\n%s", text, who, got, want)
		}
		return id
	}
	say(ann, "c", "", "one", "")
	say(ann, "c", "", "stream", "[completed user:one agent:re:_one]")
	const two = "[completed user:stream agent:Roses_are_red agent:There.][completed user:one agent:re:_one]"
	id := say(ann, "c", "", "ask", two)
	if got := shown([]task.Exchange{{Turns: turns}}); got != "[unspecified user:ask]" {
		t.Errorf("its own turns are %s", got)
	}
	const parked = "[input-required user:ask agent:Which?map[a:1]<nil>]"
	say(ann, "c", "", "fail", parked+two)
	say(ann, "c", id, "this", "[failed user:fail agent:no]"+two) // its own task is not among the others
	if got := shown([]task.Exchange{{Turns: turns}}); got != "[unspecified user:ask agent:Which?map[a:1]<nil> user:this]" {
		t.Errorf("its own turns are %s", got)
	}
	say(bob, "c", "", "one", "")
	say(tenant, "c", "", "one", "")
	say(store.Owner{}, "c", "", "one", "")
	say(ann, "d", "", "one", "")
	say(ann, "", "", "one", "")
	n = 1
	say(ann, "c", "", "one", "[completed user:ask agent:Which?map[a:1]<nil> user:this agent:re:_this]")
	n = 0
	say(ann, "c", "", "one", "")
}

// TestAConversationHasABoundOfBytes: but at least one task.
func TestAConversationHasABoundOfBytes(t *testing.T) {
	var seen []task.Exchange
	a := ticking(newAgent(t, Options{Limits: Limits{Page: 20_000}}, skillOf("chat", func(ctx context.Context, c *task.Task) (text string, err error) {
		seen, err = c.Context().Conversation(ctx, 1000)
		return "x", err
	})))
	for range 130 {
		a.says(store.Owner{}, "c", "", "short")
	}
	short := len(seen)
	for range 3 {
		a.says(store.Owner{}, "c", "", strings.Repeat("long", 4000))
	}
	if short < 10 || short > 20 || len(seen) != 1 {
		t.Errorf("%d short ones, then %d", short, len(seen))
	}
}

// TestAConversationReadsManyPages: as many tasks as are asked for.
func TestAConversationReadsManyPages(t *testing.T) {
	var seen []task.Exchange
	n := 0
	a := newAgent(t, Options{}, skillOf("chat", func(ctx context.Context, c *task.Task) (text string, err error) {
		if c.Text() == "look" {
			if err = c.Progress("looking"); err != nil { // so that its task is in the list
				return "", err
			}
			seen, err = c.Context().Conversation(ctx, n)
		}
		return "x", err
	}))
	for range 250 {
		a.says(store.Owner{}, "c", "", "x")
	}
	for _, n = range []int{1, 99, 100, 101, 230} {
		a.says(store.Owner{}, "c", "", "look")
		if len(seen) != n {
			t.Errorf("%d of %d", len(seen), n)
		}
	}
}

// TestTasksOfHiddenSkillsAreForHandlersOfSuch: what only the extended card has is not told by a handler of another.
func TestTasksOfHiddenSkillsAreForHandlersOfSuch(t *testing.T) {
	var seen []task.Exchange
	look := func(ctx context.Context, c *task.Task) (text string, err error) {
		seen, err = c.Context().Conversation(ctx, 9)
		return "x", err
	}
	public, hidden := skillOf("public", look), skillOf("hidden", look)
	hidden.Hidden = true
	a := newAgent(t, Options{}, public, hidden)
	call := func(skill string) int {
		t.Helper()
		r := a.request("SendMessage")
		r.Barred = nil
		decoded, fault := r.Version.Decode(r.Op, []byte(`{"message":{"messageId":"m","role":"ROLE_USER","contextId":"c","metadata":{"skillId":"`+skill+`"},"parts":[{"text":"x"}]}}`))
		if fault != nil {
			t.Fatal(fault)
		}
		if _, err := r.Serve(decoded); err != nil {
			t.Fatal(err)
		}
		return len(seen)
	}
	if got := []int{call("hidden"), call("public"), call("public"), call("hidden")}; fmt.Sprint(got) != "[0 0 1 3]" {
		t.Errorf("%v", got)
	}
}

// TestAContextKeepsWhatHandlersSave: by owner, for whatever task comes next.
func TestAContextKeepsWhatHandlersSave(t *testing.T) {
	type memory struct{ Names []string }
	a := newAgent(t, Options{}, skillOf("chat", func(_ context.Context, c *task.Task) (string, error) {
		var m memory
		found, err := c.Context().Load(&m)
		if err != nil || c.Text() == "forget" {
			return "forgotten", errors.Join(err, c.Context().Save(nil))
		}
		m.Names = append(m.Names, c.Text())
		return fmt.Sprint(found, m.Names), c.Context().Save(m)
	}))
	say := func(who store.Owner, in, text string) string {
		return runtime.Turns(a.says(who, in, "", text))[1].Parts[0].Text
	}
	ann, bob := store.Owner{Principal: "ann"}, store.Owner{Principal: "bob"}
	for _, step := range []struct {
		who            store.Owner
		in, text, want string
	}{
		{ann, "c", "a", "false [a]"}, {ann, "c", "b", "true [a b]"}, {ann, "d", "c", "false [c]"}, {bob, "c", "d", "false [d]"},
		{store.Owner{Tenant: "t", Principal: "ann"}, "c", "e", "false [e]"}, {store.Owner{}, "c", "f", "false [f]"},
		{ann, "c", "forget", "forgotten"}, {ann, "c", "g", "false [g]"}, {bob, "c", "h", "true [d h]"},
	} {
		if got := say(step.who, step.in, step.text); got != step.want {
			t.Errorf("%s says %q in %s: %s", step.who, step.text, step.in, got)
		}
	}
}

// TestOfTwoTasksThatChangeAContextOneIsToldSo: unless it did not look.
func TestOfTwoTasksThatChangeAContextOneIsToldSo(t *testing.T) {
	loaded, saved := make(chan struct{}), make(chan struct{})
	var first, again, blind, large error
	a := newAgent(t, Options{}, skillOf("chat", func(_ context.Context, c *task.Task) (string, error) {
		var n int
		x := c.Context()
		if c.Text() == "second" {
			_, err := x.Load(&n)
			return "", errors.Join(err, x.Save(n+1), x.Save(n+2), c.Say(runtime.StateCompleted, runtime.MessageOf(runtime.Text("done")))) // its own changes are no conflict
		}
		if c.Text() == "blind" {
			blind, large = x.Save(100), x.Save(strings.Repeat("x", store.MaxNote))
			return "done", nil
		}
		if _, err := x.Load(&n); err != nil {
			return "", err
		}
		close(loaded)
		<-saved
		first = x.Save(n + 10)
		if _, err := x.Load(&n); err != nil {
			return "", err
		}
		again = x.Save(n + 10)
		return fmt.Sprint(n + 10), nil
	}))
	done := make(chan runtime.Task)
	go func() { done <- a.says(store.Owner{}, "c", "", "first") }()
	<-loaded
	a.says(store.Owner{}, "c", "", "second")
	close(saved)
	if got := runtime.Turns(<-done)[1].Parts[0].Text; got != "12" || !errors.Is(first, run.ErrContextChanged) || again != nil {
		t.Errorf("%s, %v, %v", got, first, again)
	}
	if a.says(store.Owner{}, "c", "", "blind"); blind != nil || !errors.Is(large, run.ErrTooLarge) {
		t.Errorf("%v, %v", blind, large)
	}
}

// TestAContextIsSavedOnceAlthoughTheStoreDoesNotSaySo: and not by a call that is over, or was canceled.
func TestAContextIsSavedOnceAlthoughTheStoreDoesNotSaySo(t *testing.T) {
	kept := faultstore.New(memory.New(memory.Limits{}), faultstore.Times(1, faultstore.Fault{After: true}, func(c faultstore.Call) bool {
		return c.Op == "setnote"
	}))
	begun, after := make(chan *task.Task, 1), make(chan error, 1)
	var last *task.Task
	a := newAgent(t, Options{Store: kept}, skillOf("chat", func(ctx context.Context, c *task.Task) (string, error) {
		if last = c; c.Text() == "wait" {
			if err := c.Progress("waiting"); err != nil { // there is a task from now on
				return "", err
			}
			begun <- c
			<-ctx.Done()
			after <- c.Context().Save("canceled")
			return "", nil
		}
		var s string
		_, err := c.Context().Load(&s)
		return "x" + s, errors.Join(err, c.Context().Save("kept"))
	}))
	if got := a.says(store.Owner{}, "c", "", "one").TaskInfo().State; got != runtime.StateCompleted {
		t.Errorf("the task is %s", got)
	}
	if err := last.Context().Save("late"); !errors.Is(err, run.ErrAnswered) {
		t.Errorf("after the call: %v", err)
	}
	go func() {
		c := <-begun
		if _, err := a.runner.Cancel(context.Background(), store.Key{Task: c.Call().TaskID()}); err != nil {
			t.Error(err)
		}
	}()
	answer, err := a.serve("SendMessage", `{'message':{'messageId':'m','role':'ROLE_USER','contextId':'c','parts':[{'text':'wait'}]},'configuration':{'returnImmediately':true}}`)
	if err != nil {
		t.Fatal(answer, err)
	}
	if err := <-after; !errors.Is(err, run.ErrCanceled) {
		t.Errorf("of a canceled task: %v", err)
	}
	if n, err := kept.Note(t.Context(), store.Owner{}, "c"); string(n.Value) != `"kept"` || err != nil {
		t.Errorf("%s, %v", n.Value, err)
	}
}
