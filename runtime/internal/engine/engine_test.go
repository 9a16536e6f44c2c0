package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/runtime/task"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

const card = `{"name":"Test","description":"for tests","version":"1.0.0",
	"supportedInterfaces":[{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
	"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`

// agent is an engine with a binding that is a function call.
type agent struct {
	*Engine
	t *testing.T
}

func newAgent(t *testing.T, o Options, skills ...Skill) *agent {
	t.Helper()
	return newAgentOf(t, a2a.Protocol(), o, skills...)
}

func newAgentOf(t *testing.T, protocol *runtime.Protocol, o Options, skills ...Skill) *agent {
	t.Helper()
	c, err := protocol.DecodeCard([]byte(card))
	if err != nil {
		t.Fatal(err)
	}
	if o.Now = time.Now; o.Logger == nil {
		o.Logger = quiet
	}
	e, err := New(Config{Protocol: protocol, Card: c, Skills: skills}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return &agent{e, t}
}

func skillOf(id string, f func(ctx context.Context, c *task.Task) (string, error)) Skill {
	return Skill{ID: id, Name: id, Run: func(ctx context.Context, c *task.Task, _ any) ([]byte, error) {
		out, err := f(ctx, c)
		return []byte(out), err
	}}
}

// request makes a request to an operation of the newest version.
func (a *agent) request(rpc string) *Request {
	r := new(Request)
	r.Begin(a.t.Context(), a.Engine)
	r.Version = a.Versions()[0]
	r.Coding = Coding{Append: r.Version.AppendEvent}
	for _, op := range r.Version.Operations {
		if op.RPC == rpc {
			r.Op = op
		}
	}
	if err := r.Allowed(); err != nil {
		a.t.Fatal(err)
	}
	return r
}

// serve serves a request, in whose parameters ' stands for ".
func (a *agent) serve(rpc, params string) (Answer, error) {
	return a.serveWithin(a.t.Context(), rpc, params)
}

func (a *agent) serveWithin(ctx context.Context, rpc, params string) (Answer, error) {
	r := a.request(rpc)
	r.Context = ctx
	decoded, fault := r.Version.Decode(r.Op, []byte(strings.ReplaceAll(params, "'", `"`)))
	if fault != nil {
		return Answer{}, fault
	}
	return r.Serve(decoded)
}

const hello = `{'message':{'messageId':'m1','role':'ROLE_USER','parts':[{'text':'hello'}]}%s}`

func message(more string) string { return fmt.Sprintf(hello, more) }

func followUp(id, more string) string {
	return strings.Replace(message(more), "'role'", "'taskId':'"+id+"','role'", 1)
}

func (a *agent) waitFor(what string, ok func() bool) {
	a.t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			a.t.Fatalf("%s: it is never so", what)
		}
	}
}

// The engine answers without any wire: a value for who waits, a cursor for who follows.
func TestTheEngineServesWithoutAWire(t *testing.T) {
	a := newAgent(t, Options{}, skillOf("count", func(_ context.Context, c *task.Task) (string, error) {
		w := c.Stream("numbers")
		for _, s := range []string{"one", "two", "three"} {
			if _, err := w.WriteString(s); err != nil {
				return "", err
			}
		}
		return "counted", w.Close()
	}))
	got, err := a.serve("SendMessage", message(""))
	task, ok := got.Result.(runtime.Task)
	if err != nil || !ok || task.TaskInfo().State != runtime.StateCompleted || task.TaskInfo().Artifacts != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	if _, err := a.serve("CancelTask", `{'id':'`+task.TaskInfo().ID+`'}`); !errors.Is(err, runtime.ErrTaskNotCancelable) {
		t.Errorf("cancel: %v", err)
	}
	if _, err := a.serve("GetTask", `{'id':'nobody'}`); !errors.Is(err, runtime.ErrTaskNotFound) {
		t.Errorf("get: %v", err)
	}
	got, err = a.serve("SendStreamingMessage", message(""))
	if err != nil || got.Stream == nil {
		t.Fatalf("%v, %v", got, err)
	}
	defer got.Stream.Close()
	openings, last, text := 0, int64(0), ""
	for step := got.Stream.Next(); step != Over; step = got.Stream.Next() {
		switch step {
		case Snapshot:
			err := got.Stream.WriteSnapshot(func(seq int64, event []byte) error {
				openings, last = openings+1, seq
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		case Events:
			for i := range got.Stream.Len() {
				if seq := got.Stream.Seq(i); seq != last+1 {
					t.Errorf("event %d follows %d", seq, last)
				}
				last = got.Stream.Seq(i)
				b, err := got.Stream.Append(nil, i)
				if err != nil {
					t.Fatal(err)
				}
				text += string(b)
			}
			got.Stream.Take(got.Stream.Len())
		}
	}
	if openings != 1 || !strings.Contains(text, `"three"`) || !strings.Contains(text, "TASK_STATE_COMPLETED") {
		t.Errorf("%d openings, then %s", openings, text)
	}
	a.waitFor("the call is over", func() bool { l := a.Load(); return l.Answers == 0 && l.Calls == 0 })
}

// A call goes through its states as the diagram in call.go of package run has them.
func TestTheLifeOfACall(t *testing.T) {
	proceed, up := make(chan string), make(chan struct{})
	kept := faultstore.New(memory.New(memory.Limits{}), func(c faultstore.Call) faultstore.Fault {
		select {
		case <-up:
			return faultstore.Fault{}
		default:
			return faultstore.Fault{Before: c.Ends()}
		}
	})
	work := skillOf("work", func(_ context.Context, c *task.Task) (string, error) {
		if err := c.Progress("begun"); err != nil {
			return "", err
		}
		if <-proceed == "ask" {
			return "", c.Ask("Which?")
		}
		return "done", nil
	})
	work.MaxConcurrent = 1
	a := newAgent(t, Options{Store: kept}, work)
	send := func(params string) string {
		t.Helper()
		got, err := a.serve("SendMessage", params)
		if err != nil {
			t.Fatal(err)
		}
		return got.Result.(runtime.Task).TaskInfo().ID
	}
	is := func(id string, want string, behind ...string) {
		t.Helper()
		a.waitFor(fmt.Sprintf("%s, behind it %v", want, behind), func() bool {
			now, queue := a.runner.States(store.Key{Task: id})
			return now == want && fmt.Sprint(queue) == fmt.Sprint(behind)
		})
	}
	const early = `,'configuration':{'returnImmediately':true}`
	first := send(message(early))
	is(first, "running")
	second := send(message(early))
	is(second, "waiting") // for the only place
	send(followUp(second, early))
	is(second, "waiting", "queued")
	proceed <- "done"
	is(first, "ending") // the store does not take it
	is(second, "running", "queued")
	close(up)
	is(first, "over")
	proceed <- "ask"
	is(second, "running") // the one that was queued
	send(followUp(second, early))
	is(second, "running", "queued")
	proceed <- "done"
	is(second, "over") // with the one behind it
	if a.waitFor("all are counted out", func() bool { return a.Load().Calls == 0 }); a.Load().Tasks != 0 {
		t.Errorf("%+v", a.Load())
	}
}
