package a2atest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/a2a/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/testkit/a2atest"
)

var rome = &forecastInput{City: "Rome"}

func TestAnAgentOfThirtyMinutesTakesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.Forecast.After(30 * time.Minute).Returns(sunny(3))
		c := f.Client(t)
		for name, call := range map[string]func() (*forecastOutput, error){
			"a call":   func() (*forecastOutput, error) { return forecast.Call(t.Context(), c.RPC(), rome) },
			"a stream": func() (*forecastOutput, error) { return lastOf(forecast.Stream(t.Context(), c.RPC(), rome)) },
		} {
			began := time.Now()
			out, err := call()
			if took := time.Since(began); err != nil || *out != *sunny(3) || took < 30*time.Minute || took > 31*time.Minute {
				t.Errorf("%s: %+v, %v after %v", name, out, err, took)
			}
		}
	})
}

func TestCallsAreKeptInOrderWithTheirInputs(t *testing.T) {
	f := newFake(t)
	f.Forecast.Returns(sunny(1))
	f.Chat.Returns("Hello.")
	c := f.Client(t).RPC()
	for _, city := range []string{"Rome", "Paris"} {
		if _, err := forecast.Call(t.Context(), c, &forecastInput{City: city}, rpc.InContext("trip"), rpc.WithMetadata("m", 1)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := chat.Call(t.Context(), c, "Good morning")
	if err != nil || r.Text() != "Hello." {
		t.Fatalf("%v, %v", r, err)
	}
	if got := f.Forecast.Calls(); len(got) != 2 || got[0].City != "Rome" || got[1].City != "Paris" {
		t.Errorf("forecast: %v", got)
	}
	if got := f.Chat.Calls(); len(got) != 1 || got[0] != "Good morning" {
		t.Errorf("chat: %v", got)
	}
	for _, got := range f.Forecast.Received() {
		if m, _ := got.Metadata.Get("m"); got.ContextID != "trip" || got.TaskID == "" || string(m) != "1" {
			t.Errorf("%+v", got)
		}
	}
}

func TestAnswersForANumberOfCallsComeBeforeTheOneForTheRest(t *testing.T) {
	f := newFake(t)
	f.Chat.Returns("never, because there is a later one")
	f.Chat.Returns("the rest")
	f.Chat.Returns("one").Once()
	f.Chat.Returns("two").Times(2)
	c := f.Client(t).RPC()
	for i, want := range []string{"one", "two", "two", "the rest", "the rest"} {
		if r, err := chat.Call(t.Context(), c, "hello"); err != nil || r.Text() != want {
			t.Errorf("call %d: %v, %v, want %s", i, r, err, want)
		}
	}
}

func TestEachEndOfATaskIsWhatItsClientGets(t *testing.T) {
	f := newFake(t)
	f.Forecast.Fails("No sky: 100% fog.").Once()
	f.Forecast.Rejects("Not there.").Once()
	c := f.Client(t).RPC()
	for _, want := range []struct {
		state runtime.State
		text  string
	}{{runtime.StateFailed, "No sky: 100% fog."}, {runtime.StateRejected, "Not there."}} {
		_, err := forecast.Call(t.Context(), c, rome)
		var ended *rpc.TaskError
		if !errors.As(err, &ended) || ended.State != want.state || ended.Message != want.text {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

func TestAQuestionIsAnsweredByWhatFollowsIt(t *testing.T) {
	f := newFake(t)
	f.Forecast.Asks("Which %s?", "Springfield").Asks("Sure?").Returns(sunny(2))
	c := f.Client(t).RPC()
	_, err := forecast.Call(t.Context(), c, &forecastInput{City: "Springfield"})
	for i, prompt := range []string{"Which Springfield?", "Sure?"} {
		var ask *rpc.InputRequiredError
		if !errors.As(err, &ask) || ask.Prompt != prompt {
			t.Fatalf("question %d: %v", i, err)
		}
		var out *forecastOutput
		if out, err = forecast.Answer(t.Context(), c, ask, runtime.Text([]string{"Oregon", "yes"}[i])); err == nil && *out != *sunny(2) {
			t.Errorf("%+v", out)
		}
	}
	if got := f.Forecast.Received(); err != nil || len(got) != 1 || len(got[0].Answers) != 2 || got[0].Answers[0].Text != "Oregon" {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestDataThatAnswersAQuestionIsInTheInput(t *testing.T) {
	f := newFake(t)
	f.Forecast.Asks("Which?").Returns(sunny(2))
	c := f.Client(t).RPC()
	_, err := forecast.Call(t.Context(), c, &forecastInput{City: "Springfield"})
	var ask *rpc.InputRequiredError
	if !errors.As(err, &ask) {
		t.Fatal(err)
	}
	if _, err := forecast.Answer(t.Context(), c, ask, runtime.Data(map[string]any{"city": "Eugene"})); err != nil {
		t.Fatal(err)
	}
	got := f.Forecast.Received()[0]
	if got.Input.City != "Springfield" || len(got.Answers) != 1 || got.Answers[0].Input.City != "Eugene" || len(got.Answers[0].Parts) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestAFunctionMayAskAndIsCalledAgain(t *testing.T) {
	f := newFake(t)
	f.Chat.On(func(_ context.Context, in string, task *a2atest.Task) (string, error) {
		if !task.Resumed() {
			return "", task.Ask("Your name?")
		}
		return "Hello, " + in, nil
	})
	c := f.Client(t).RPC()
	_, err := chat.Call(t.Context(), c, "hello")
	var ask *rpc.InputRequiredError
	if !errors.As(err, &ask) {
		t.Fatal(err)
	}
	if r, err := chat.Answer(t.Context(), c, ask, runtime.Text("Ann")); err != nil || r.Text() != "Hello, Ann" {
		t.Errorf("%v, %v", r, err)
	}
}

func TestAnAuthorizationIsWaitedFor(t *testing.T) {
	f := newFake(t)
	f.Forecast.RequiresAuth("calendar", "read").Returns(sunny(1))
	c := f.Client(t).RPC()
	_, err := forecast.Call(t.Context(), c, rome)
	var ask *rpc.InputRequiredError
	if !errors.As(err, &ask) || ask.Auth == nil || ask.Auth.Scheme != "calendar" || len(ask.Auth.Scopes) != 1 {
		t.Fatalf("%v", err)
	}
	if out, err := forecast.Answer(t.Context(), c, ask, runtime.Data(map[string]any{})); err != nil || out.Days != 1 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestChunksOfAnAnswerAreOfOneArtifact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.Forecast.Progress("Looking at 100% of it.").Streams("Sun", "day").After(time.Hour).Streams(" and Monday").Returns(sunny(2))
		f.Chat.Streams("Hel", "lo.")
		c := f.Client(t).RPC()
		var told, progress string
		for step, err := range forecast.Stream(t.Context(), c, rome) {
			switch {
			case err != nil:
				t.Fatal(err)
			case step.Done:
				if *step.Output != *sunny(2) {
					t.Errorf("%+v", step.Output)
				}
			case step.Artifact != nil:
				told += step.Text()
			default:
				progress += step.Text()
			}
		}
		if told != "Sunday and Monday" || progress != "Looking at 100% of it." {
			t.Errorf("%q, %q", told, progress)
		}
		if r, err := chat.Call(t.Context(), c, "hello"); err != nil || r.Text() != "Hello." || len(r.Artifacts) != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestAnAnswerHasFilesOrIsAMessage(t *testing.T) {
	f := newFake(t)
	f.Chat.Artifact("report", runtime.File("a.csv", "text/csv", []byte("a,b"))).Once()
	f.Chat.Replies(runtime.Text("As last week."))
	f.Forecast.Artifact("map", runtime.Link("m.png", "image/png", "https://example.com/m.png")).Returns(sunny(1))
	c := f.Client(t).RPC()
	r, err := chat.Call(t.Context(), c, "hi")
	if err != nil || len(r.Artifacts) != 1 || r.Artifacts[0].Name != "report" || string(r.Artifacts[0].Parts[0].Raw) != "a,b" {
		t.Errorf("a file: %+v, %v", r, err)
	}
	if r, err := chat.Call(t.Context(), c, "hi"); err != nil || r.Text() != "As last week." {
		t.Errorf("a message: %+v, %v", r, err)
	}
	if out, err := forecast.Call(t.Context(), c, rome); err != nil || out.Days != 1 {
		t.Errorf("beside the output: %+v, %v", out, err)
	}
}

func TestSamplesAnswerWhatNoAnswerIsSetFor(t *testing.T) {
	f := newFake(t)
	f.Samples()
	f.Forecast.Returns(sunny(4)).Once()
	c := f.Client(t).RPC()
	for i, want := range []int{4, 1, 1} {
		if out, err := forecast.Call(t.Context(), c, rome); err != nil || out.Days != want {
			t.Errorf("call %d: %+v, %v", i, out, err)
		}
	}
	if got := f.Forecast.Calls(); len(got) != 3 {
		t.Errorf("%v", got)
	}
	if r, err := chat.Call(t.Context(), c, "hello"); err != nil || r.Text() == "" {
		t.Errorf("a skill of text: %v, %v", r, err)
	}
}

func TestWhoCallsIsKnown(t *testing.T) {
	identity := server.WithProxyIdentity(func(r *http.Request) (string, error) {
		if r.Header.Get("X-Key") != "secret" {
			return "", errors.New("no key")
		}
		return "alice", nil
	})
	f := newFake(t, a2atest.With(identity))
	f.Chat.Returns("Hello.")
	c := f.Client(t).RPC()
	if _, err := chat.Call(t.Context(), c, "hi"); !errors.Is(err, runtime.ErrUnauthenticated) {
		t.Errorf("without a key: %v", err)
	}
	if _, err := chat.Call(t.Context(), c, "hi", rpc.Header("X-Key", "secret")); err != nil {
		t.Error(err)
	}
	if got := f.Chat.Received(); len(got) != 1 || got[0].Caller.ID != "alice" {
		t.Errorf("%+v", got)
	}
}

// A call ends with its client's patience, and what works on it is told.
func TestACallIsCanceledByItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		ended := make(chan error, 1)
		f.Chat.On(func(ctx context.Context, _ string, task *a2atest.Task) (string, error) {
			if err := task.Progress("at work"); err != nil {
				return "", err
			}
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return "", ctx.Err()
		})
		c := f.Client(t)
		for step, err := range chat.Stream(t.Context(), c.RPC(), "hello") {
			if err != nil || step.Progress != "at work" {
				continue
			}
			if _, err := c.CancelTask(t.Context(), cancelRequest(step.TaskID)); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-ended; err == nil {
			t.Error("no cause")
		}
	})
}

func TestManyCallAtOnce(t *testing.T) {
	f := newFake(t)
	f.Forecast.On(func(_ context.Context, in *forecastInput, _ *a2atest.Task) (*forecastOutput, error) {
		return &forecastOutput{Text: in.City, Days: 1}, nil
	})
	f.Forecast.Asks("Which?").Returns(sunny(5)).Times(20)
	c := f.Client(t).RPC()
	var asked, answered atomic.Int32
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			city := fmt.Sprint("city ", i)
			out, err := forecast.Call(t.Context(), c, &forecastInput{City: city})
			var ask *rpc.InputRequiredError
			switch {
			case errors.As(err, &ask):
				asked.Add(1)
				_, err = forecast.Answer(t.Context(), c, ask, runtime.Text("that"))
			case err == nil && out.Text == city:
				answered.Add(1)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if asked.Load() != 20 || answered.Load() != 20 || len(f.Forecast.Calls()) != 40 {
		t.Errorf("%d asked, %d answered, %d calls", asked.Load(), answered.Load(), len(f.Forecast.Calls()))
	}
}

func TestAFakeOutsideTheBubbleThatCallsItIsReported(t *testing.T) {
	f := newFake(t)
	synctest.Test(t, func(t *testing.T) {
		if _, err := a2aclient.New(t.Context(), f.URL(), f.Options()...); err == nil || !strings.Contains(err.Error(), "outside of the bubble of testing/synctest that calls it: make it inside") {
			t.Errorf("%v", err)
		}
	})
}
