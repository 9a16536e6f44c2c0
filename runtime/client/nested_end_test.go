package client_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store"
)

// What ends a call of another agent, and what does not.

// inMemory is a planner whose tasks are in memory, with a time limit.
func inMemory(t *testing.T, limit time.Duration, run func(ctx context.Context, t *server.Task, in any) ([]byte, error)) *planner {
	p := &planner{points: make(chan string, 10)}
	p.hosted = host(t, func() (*server.Server, store.Store) {
		return newServer(t, []server.Skill{{ID: "plan", Name: "plan", Run: run, Timeout: limit}}, nil), nil
	})
	return p
}

func (h *hosted) cancel(c *rpc.Client, task string) {
	h.t.Helper()
	if _, err := c.Call(h.t.Context(), rpc.Method{Role: runtime.RoleCancel}, &a2a.CancelTaskRequest{ID: task}); err != nil {
		h.t.Fatal(err)
	}
}

// calling is a handler that makes one call, and passes a question on.
func calling(c *rpc.Client) func(ctx context.Context, t *server.Task, in any) ([]byte, error) {
	return func(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
		r, err := askWeather.Call(ctx, c, t.Text())
		var ask *rpc.InputRequiredError
		if errors.As(err, &ask) {
			return nil, t.AskFrom(ask)
		}
		if err != nil {
			return nil, err
		}
		return []byte(r.Text()), nil
	}
}

// withEachWeather runs a test for each kind of agent in virtual time.
func withEachWeather(t *testing.T, f func(t *testing.T, w *weather)) {
	for kind := range weathers {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { f(t, newWeather(t, kind)) })
		})
	}
}

func TestACanceledTaskHasTheTaskOfTheOtherAgentCanceled(t *testing.T) {
	t.Parallel()
	withEachWeather(t, func(t *testing.T, w *weather) {
		p := inMemory(t, 0, calling(w.client()))
		c := p.client()
		task := p.begin(c, "slow Rome")
		<-w.began
		synctest.Wait() // the planner knows its task
		time.Sleep(time.Minute)
		p.cancel(c, task)
		if err := <-w.stopped; !errors.Is(err, server.ErrCanceled) {
			t.Errorf("the weather stops because %v", err)
		}
		time.Sleep(time.Hour)
		if n := w.cancels.Load(); n != 1 {
			t.Errorf("the weather was told %d times", n)
		}
	})
}

func TestTheTimeOfAHandlerIsThatOfItsCalls(t *testing.T) {
	t.Parallel()
	withEachWeather(t, func(t *testing.T, w *weather) {
		p := inMemory(t, time.Minute, calling(w.client()))
		begin := time.Now()
		_, err := plan.Call(t.Context(), p.client(), "slow Rome")
		var failed *rpc.TaskError
		if !errors.As(err, &failed) || failed.Message != "The work took longer than allowed." {
			t.Errorf("got %v", err)
		}
		if err := <-w.stopped; !errors.Is(err, server.ErrCanceled) {
			t.Errorf("the weather stops because %v", err)
		}
		if d := time.Since(begin); d < time.Minute || d > 61*time.Second {
			t.Errorf("after %v", d)
		}
	})
}

func TestACanceledTaskThatWaitsWithTheQuestionOfAnotherAgentHasThatCanceledToo(t *testing.T) {
	t.Parallel()
	withEachWeather(t, func(t *testing.T, w *weather) {
		weather := w.client()
		p := inMemory(t, 0, calling(weather))
		c := p.client()
		task := p.begin(c, "ask Rome")
		other := <-w.began
		_, err := c.Await(t.Context(), task)
		var ask *rpc.InputRequiredError
		if !errors.As(err, &ask) {
			t.Fatal(err)
		}
		p.cancel(c, task)
		synctest.Wait()
		var ended *rpc.TaskError
		if _, err := weather.Await(t.Context(), other); !errors.As(err, &ended) || ended.State != runtime.StateCanceled {
			t.Errorf("the weather's task came to %v", err)
		}
	})
}

// TestAShutdownCancelsNothingElsewhere: the next process asks for the task that goes on.
func TestAShutdownCancelsNothingElsewhere(t *testing.T) {
	t.Parallel()
	withEachWeather(t, func(t *testing.T, w *weather) {
		p := inMemory(t, 0, calling(w.client()))
		p.begin(p.client(), "slow Rome")
		<-w.began
		synctest.Wait()
		time.Sleep(time.Minute)
		if err := p.now.Load().Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if len(w.stopped) > 0 || w.cancels.Load() > 0 {
			t.Errorf("the weather was told %d times", w.cancels.Load())
		}
		w.next <- struct{}{}
	})
}

// TestALimitOfOnesOwnCancelsNothingElsewhere: the handler may ask for the task again.
func TestALimitOfOnesOwnCancelsNothingElsewhere(t *testing.T) {
	t.Parallel()
	withEachWeather(t, func(t *testing.T, w *weather) {
		weather := w.client()
		p := inMemory(t, 0, func(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
			short, done := context.WithTimeout(ctx, time.Minute)
			defer done()
			_, err := askWeather.Call(short, weather, t.Text())
			var lost *rpc.LostCallError
			if !errors.As(err, &lost) || lost.TaskID == "" {
				return nil, err
			}
			w.next <- struct{}{}
			r, err := weather.Await(ctx, lost.TaskID)
			if err != nil {
				return nil, err
			}
			return []byte("late: " + r.Text()), nil
		})
		r, err := plan.Call(t.Context(), p.client(), "slow Rome")
		if err != nil || r.Text() != "late: sunny in slow Rome" || w.cancels.Load() > 0 {
			t.Errorf("got %+v, %v, told %d times", r, err, w.cancels.Load())
		}
	})
}

// TestAWantedAuthorizationGoesUp with its scheme, its scopes and the URL; when it is granted, the other agent goes on.
func TestAWantedAuthorizationGoesUp(t *testing.T) {
	t.Parallel()
	withEachWeather(t, func(t *testing.T, w *weather) {
		p := inMemory(t, 0, calling(w.client()))
		c := p.client()
		begin := time.Now()
		_, err := plan.Call(t.Context(), c, "auth Rome")
		var ask *rpc.InputRequiredError
		if d := time.Since(begin); !errors.As(err, &ask) || ask.Auth == nil || d > time.Second {
			t.Fatalf("got %v after %v", err, d)
		}
		if a := ask.Auth; ask.Prompt != "Log in." || a.Scheme != "idp" || !slices.Equal(a.Scopes, []string{"read"}) || a.URL != "https://idp.example/login" {
			t.Errorf("got %q, %+v", ask.Prompt, a)
		}
		if ask.Result.State != runtime.StateAuthRequired {
			t.Errorf("the task is %s", ask.Result.State)
		}
		r, err := plan.Answer(t.Context(), c, ask, runtime.Text("granted"))
		if err != nil || r.Text() != "auth Rome in granted" {
			t.Errorf("got %+v, %v", r, err)
		}
		if got := w.ran(); got != `["auth Rome"] ["granted"]` {
			t.Errorf("the weather was asked %s", got)
		}
	})
}

// TestAQuestionOfNoCallOfOnesOwnIsNotPassedOn: its answer would have nowhere to go.
func TestAQuestionOfNoCallOfOnesOwnIsNotPassedOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWeather(t, "ours")
		weather := w.client()
		said := make(chan error, 1)
		p := inMemory(t, 0, func(ctx context.Context, k *server.Task, _ any) ([]byte, error) {
			_, err := askWeather.Call(t.Context(), weather, "ask Rome")
			var ask *rpc.InputRequiredError
			if !errors.As(err, &ask) {
				return nil, err
			}
			said <- k.AskFrom(ask)
			return nil, k.AskFrom(ask)
		})
		_, err := plan.Call(t.Context(), p.client(), "x")
		var failed *rpc.TaskError
		if !errors.As(err, &failed) || failed.State != runtime.StateFailed {
			t.Errorf("got %v", err)
		}
		const want = "the question is of a call that was not made with the context of this handler, or cannot be remembered: " +
			"ask with Ask, and keep its token with Save"
		if err := <-said; err.Error() != want {
			t.Errorf("said %v", err)
		}
	})
}

// TestAnAnswerIsNoMessageOfOldTimes: an agent refuses messages that it may have forgotten, and the answer to its question
// is none, however long it took.
func TestAnAnswerIsNoMessageOfOldTimes(t *testing.T) {
	t.Parallel()
	withEachWeather(t, func(t *testing.T, w *weather) {
		p := inMemory(t, 0, calling(w.client()))
		c := p.client()
		_, err := plan.Call(t.Context(), c, "ask Rome")
		var ask *rpc.InputRequiredError
		if !errors.As(err, &ask) {
			t.Fatal(err)
		}
		time.Sleep(2 * remembered)
		if r, err := plan.Answer(t.Context(), c, ask, runtime.Text("celsius")); err != nil || r.Text() != "ask Rome in celsius" {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

// TestNothingIsLeftOfACanceledTaskElsewhere: neither by a handler that has the other agent's question in hand, nor by one
// that does not return.
func TestNothingIsLeftOfACanceledTaskElsewhere(t *testing.T) {
	t.Parallel()
	withEachWeather(t, func(t *testing.T, w *weather) {
		weather, on := w.client(), make(chan struct{})
		p := inMemory(t, 0, func(ctx context.Context, k *server.Task, _ any) ([]byte, error) {
			_, err := askWeather.Call(ctx, weather, k.Text())
			var ask *rpc.InputRequiredError
			if errors.As(err, &ask) {
				<-ctx.Done()
				return nil, k.AskFrom(ask)
			}
			<-on
			return nil, err
		})
		c := p.client()
		for _, text := range []string{"ask Rome", "slow Rome"} {
			task := p.begin(c, text)
			other := <-w.began
			synctest.Wait()
			time.Sleep(time.Minute)
			p.cancel(c, task)
			synctest.Wait()
			var ended *rpc.TaskError
			if _, err := weather.Await(t.Context(), other); !errors.As(err, &ended) || ended.State != runtime.StateCanceled {
				t.Errorf("%s: the weather's task came to %v", text, err)
			}
		}
		close(on)
	})
}
