package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/internal/test/a2amore"
	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/internal/test/seeds"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/runtime/task"
)

// generation is that of a task, as its clients see it.
func generation(task runtime.Task) int64 { return task.EventInfo().Generation }

// asking is a skill that asks again and again, and reports in between what it is told to.
func asking() Skill {
	return skillOf("ask", func(_ context.Context, c *task.Task) (string, error) {
		if c.Text() == "end" {
			return "done", nil
		}
		if err := c.Progress("asked by " + c.Text()); err != nil {
			return "", err
		}
		return "", c.Ask("Which?")
	})
}

// A generation is the number of the task's events, for whoever asks, and also after a handler was taken over.
func TestAGenerationIsTheNumberOfEvents(t *testing.T) {
	for seed := range seeds.Of(t, 5) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { generationsOf(t, rand.New(rand.NewPCG(seed, 0))) })
		})
	}
}

// generationsOf has a handler say random things while the instances that run it are killed.
func generationsOf(t *testing.T, random *rand.Rand) {
	var mu sync.Mutex
	draw := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(n)
	}
	work := func() []Skill {
		s := skillOf("work", func(ctx context.Context, c *task.Task) (string, error) {
			for range 5 + draw(20) {
				var err error
				switch draw(3) {
				case 0:
					err = c.Progress("on it")
				case 1:
					err = c.Emit(runtime.ArtifactData{ID: "a", Parts: []runtime.Part{runtime.Text("x")}, Append: true})
				default:
					select {
					case <-ctx.Done():
						return "", context.Cause(ctx)
					case <-time.After(time.Duration(1+draw(3000)) * time.Millisecond):
					}
				}
				if err != nil {
					return "", err
				}
			}
			return "done", nil
		})
		s.OnCrash = CrashRetry
		return []Skill{s}
	}
	f := &fleet{t: t, shared: memory.New(memory.Limits{}), skills: work, protocol: a2amore.Protocol()}
	f.reach = func(s *faultstore.Store) store.Store { return s }
	first := f.start()
	last := first.send(message(early))
	id := last.TaskInfo().ID
	at := generation(last)
	if at < 1 {
		t.Errorf("a new task has generation %d", at)
	}
	for killed := 0; !last.TaskInfo().State.Terminal(); time.Sleep(time.Second) {
		if now := f.agents[len(f.agents)-1]; killed < 2 && draw(4) == 0 {
			f.start()
			f.kill(killed)
			killed++
		} else if last = now.get(id); generation(last) < at {
			t.Fatalf("the generation went from %d to %d", at, generation(last))
		}
		at = generation(last)
	}
	events, err := f.shared.Head(t.Context(), store.Key{Task: id})
	if err != nil || events.Version != at {
		t.Errorf("the task has generation %d and %d events, %v", at, events.Version, err)
	}
}

// The events of a stream and the task that it begins with have their generations one by one.
func TestAStreamHasTheGenerationOfEachEvent(t *testing.T) {
	a := newAgentOf(t, a2amore.Protocol(), Options{}, asking())
	got, err := a.serve("SendStreamingMessage", message(""))
	if err != nil {
		t.Fatal(err)
	}
	defer got.Stream.Close()
	read := func(b []byte, want int64) {
		e, err := a.Versions()[0].ReadEvent(b)
		if err != nil || e.EventInfo().Generation != want {
			t.Errorf("event %d is %s: %v", want, b, err)
		}
	}
	var last int64
	for step := got.Stream.Next(); step != Over; step = got.Stream.Next() {
		switch step {
		case Snapshot:
			if err := got.Stream.WriteSnapshot(func(seq int64, b []byte) error { read(b, seq); last = seq; return nil }); err != nil {
				t.Fatal(err)
			}
		case Events:
			for i := range got.Stream.Len() {
				b, err := got.Stream.Append(nil, i)
				if last++; err != nil || got.Stream.Seq(i) != last {
					t.Fatalf("event %d follows event %d: %v", got.Stream.Seq(i), last-1, err)
				}
				read(b, last)
			}
			got.Stream.Take(got.Stream.Len())
		}
	}
	if last < 3 {
		t.Errorf("the stream ended with event %d", last)
	}
}

// poll asks for a task with the generation that the client has.
func (a *agent) poll(ctx context.Context, id string, known int64) (runtime.Task, error) {
	got, err := a.serveWithin(ctx, "GetTask", fmt.Sprintf(`{'id':'%s','currentGeneration':'%d'}`, id, known))
	if err != nil {
		return nil, err
	}
	return got.Result.(runtime.Task), nil
}

// polled is an answer to a poll.
type polled struct {
	task runtime.Task
	err  error
}

// A poll waits for the next event, whichever instance stores it. It ends when its client leaves, after a while, when the
// task ends and when the server does; then nothing of it is left.
func TestAPollWaitsForTheNextGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{t: t, shared: memory.New(memory.Limits{}), skills: func() []Skill { return []Skill{asking()} }, protocol: a2amore.Protocol()}
		f.reach = func(s *faultstore.Store) store.Store { return s }
		here, elsewhere := f.start(), f.start()
		asked := here.send(message(""))
		id, at := asked.TaskInfo().ID, generation(asked)
		begin := func(ctx context.Context) <-chan polled {
			c := make(chan polled, 1)
			go func() {
				task, err := here.poll(ctx, id, at)
				c <- polled{task, err}
			}()
			synctest.Wait()
			return c
		}
		over := func(what string, c <-chan polled, want int64, within time.Duration) {
			t.Helper()
			begun := time.Now()
			p := <-c
			if p.err != nil || generation(p.task) < want || time.Since(begun) > within {
				t.Fatalf("%s: %+v after %v, want generation %d within %v", what, p, time.Since(begun), want, within)
			}
			at = generation(p.task)
			if n := here.feed.Streams(); n != 0 {
				t.Errorf("%s: %d requests are still counted", what, n)
			}
		}

		if early, err := here.poll(t.Context(), id, at-1); err != nil || generation(early) != at {
			t.Errorf("a client that has missed something waits: %v", err)
		}
		waits := begin(t.Context())
		select {
		case p := <-waits:
			t.Fatalf("a poll for what is not there yet returns %+v", p)
		default:
		}
		here.send(followUp(id, ""))
		over("a change made here", waits, at+1, 0)
		at = generation(here.get(id))
		waits = begin(t.Context())
		elsewhere.send(followUp(id, ""))
		over("a change made elsewhere", waits, at+1, 2*time.Second)
		at = generation(here.get(id))
		over("no change", begin(t.Context()), at, longestPoll)

		leaving, leave := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		waits = begin(leaving)
		leave(gone)
		if p := <-waits; !errors.Is(p.err, gone) {
			t.Errorf("the client is gone: %+v", p)
		}

		waits = begin(t.Context())
		if err := here.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		over("the shutdown", waits, at, 0)

		elsewhere.send(message("")) // a task that does not concern the poll
		ended := elsewhere.send(followUp(id, ""))
		here, at = elsewhere, generation(ended)
		done := elsewhere.send(`{'message':{'messageId':'m','role':'ROLE_USER','taskId':'` + id + `','parts':[{'text':'end'}]}}`)
		if p, err := here.poll(t.Context(), id, generation(done)); err != nil || !p.TaskInfo().State.Terminal() {
			t.Errorf("a poll for a task that has ended: %v, %v", p, err)
		}
	})
}

// ifMatch is a message for a task that must have a generation.
func ifMatch(id string, generation int64) string {
	return followUp(id, fmt.Sprintf(`,'configuration':{'ifGenerationMatch':'%d'}`, generation))
}

// A message that names the generation of its task is taken on only if that is right; then nothing has happened.
func TestAMessageIsTakenOnAtItsGenerationAlone(t *testing.T) {
	a := newAgentOf(t, a2amore.Protocol(), Options{}, asking())
	a.repeats = Repeats{Window: runtime.RepeatWindow}
	asked := a.send(message(""))
	id, at := asked.TaskInfo().ID, generation(asked)
	for _, wrong := range []int64{0, 1, at - 1, at + 1, -1} {
		_, err := a.serve("SendMessage", ifMatch(id, wrong))
		var e *runtime.Error
		if !errors.Is(err, runtime.ErrTaskGenerationMismatch) || !errors.As(err, &e) {
			t.Errorf("generation %d of %d: %v", wrong, at, err)
		}
		if _, err := a.keyed("key", "SendMessage", ifMatch(id, wrong)); !errors.Is(err, runtime.ErrTaskGenerationMismatch) {
			t.Errorf("generation %d of %d, with a key: %v", wrong, at, err)
		}
		if now := a.get(id); generation(now) != at || now.TaskInfo().History != asked.TaskInfo().History {
			t.Fatalf("the message is refused, and the task has generation %d", generation(now))
		}
	}
	first, err := a.keyed("key 2", "SendMessage", ifMatch(id, at))
	if err != nil || generation(first.Result.(runtime.Task)) <= at {
		t.Fatalf("%v, %v", first, err)
	}
	again, err := a.keyed("key 2", "SendMessage", ifMatch(id, at))
	if err != nil || generation(again.Result.(runtime.Task)) != generation(first.Result.(runtime.Task)) {
		t.Errorf("the same message again: %v, %v", again, err)
	}
	if _, err := a.serve("SendMessage", message(`,'configuration':{'ifGenerationMatch':'1'}`)); !errors.Is(err, runtime.ErrInvalidParams) {
		t.Errorf("a generation of no task: %v", err)
	}
}

// Of two clients that have seen the same task, and that different instances serve, one is taken on.
func TestOneOfTwoMessagesWithOneGenerationIsTakenOn(t *testing.T) {
	shared := memory.New(memory.Limits{})
	agents := []*agent{
		newAgentOf(t, a2amore.Protocol(), Options{Store: shared.Instance(time.Minute)}, asking()),
		newAgentOf(t, a2amore.Protocol(), Options{Store: shared.Instance(time.Minute)}, asking()),
	}
	id := agents[0].send(message("")).TaskInfo().ID
	for round := range 50 {
		before := agents[0].get(id)
		var errs [2]error
		var wg sync.WaitGroup
		for i, a := range agents {
			wg.Go(func() { _, errs[i] = a.serve("SendMessage", ifMatch(id, generation(before))) })
		}
		wg.Wait()
		lost := 0
		for _, err := range errs {
			if errors.Is(err, runtime.ErrTaskGenerationMismatch) {
				lost++
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if after := agents[0].get(id); lost != 1 || after.TaskInfo().History != before.TaskInfo().History+3 {
			t.Fatalf("round %d: %v, and %d messages after %d", round, errs, after.TaskInfo().History, before.TaskInfo().History)
		}
	}
}

// A notification of several events would have one generation.
func TestNotificationsWithGenerationsAreOfOneEventEach(t *testing.T) {
	if Pushing(nil)(newAgentOf(t, a2amore.Protocol(), Options{}).Engine).(*deliveries).Join != nil {
		t.Error("an agent with generations joins events")
	}
	if Pushing(nil)(newAgent(t, Options{}).Engine).(*deliveries).Join == nil {
		t.Error("another one does not")
	}
}
