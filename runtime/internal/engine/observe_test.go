package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/internal/test/observed"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/task"
)

// tracing is where the recorder of these tests says that a message was taken on.
type tracing struct{ observed.Recorder }

func (*tracing) Inject(_ context.Context, c observe.Carrier) { c.Set(observe.TraceParent, "made") }

// TestARunAfterACrashBelongsToTheTraceOfItsTask: the process that made it is gone, what it kept with the task is not.
func TestARunAfterACrashBelongsToTheTraceOfItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen tracing
		f := newFleet(t, 0, func() []Skill {
			sk := skillOf("work", func(ctx context.Context, call *task.Task) (string, error) {
				if call.Call().Attempt() == 1 {
					return until(ctx)
				}
				return "done", nil
			})
			sk.OnCrash = CrashRetry
			return []Skill{sk}
		})
		f.observers = []observe.Observer{&seen}
		f.start()
		f.start()
		time.Sleep(time.Second)
		id := f.agents[0].send(message(early)).TaskInfo().ID
		time.Sleep(time.Second)
		f.kill(0)
		time.Sleep(2 * lease)
		all := seen.Wait(t, 2)
		if a := all[0]; a.Kind != observe.Run || a.Attempt != 1 || a.Reason != observe.ReasonAway && a.Reason != observe.ReasonLost {
			t.Errorf("the first run: %+v", a)
		}
		if a := all[1]; a.Attempt != 2 || a.Carried != "made" || a.Task != id || a.State != runtime.StateCompleted || a.Reason != "" {
			t.Errorf("the second run: %+v", a)
		}
	})
}

// TestHowARunEndsIsObserved: what stops a handler is told, whatever it says itself.
func TestHowARunEndsIsObserved(t *testing.T) {
	for reason, c := range map[string]struct {
		state runtime.State
		stop  func(a *agent, id string)
	}{
		observe.ReasonCanceled: {runtime.StateCanceled, func(a *agent, id string) { _, _ = a.serve("CancelTask", `{'id':'`+id+`'}`) }},
		observe.ReasonTimeout:  {runtime.StateFailed, func(*agent, string) { time.Sleep(time.Hour) }},
		observe.ReasonAway:     {runtime.StateFailed, func(a *agent, _ string) { _ = a.Close() }},
	} {
		synctest.Test(t, func(t *testing.T) {
			var seen observed.Recorder
			sk := skillOf("work", func(ctx context.Context, _ *task.Task) (string, error) { return until(ctx) })
			sk.Timeout = 30 * time.Second
			a := newAgent(t, Options{Observers: []observe.Observer{&seen}}, sk)
			id := a.send(message(early)).TaskInfo().ID
			time.Sleep(time.Second)
			c.stop(a, id)
			if got := seen.Wait(t, 1)[0]; got.Reason != reason || got.State != c.state || got.Task != id || got.Skill != "work" {
				t.Errorf("%s: %+v", reason, got)
			}
		})
	}
}
