package a2atest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/a2a/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/testkit/a2atest"
)

// failed returns the words with which a call failed.
func failed(t testing.TB, err error) string {
	t.Helper()
	var ended *rpc.TaskError
	if !errors.As(err, &ended) || ended.State != runtime.StateFailed {
		t.Fatalf("%v, want a failed task", err)
	}
	return ended.Message
}

func TestACallThatNobodyExpectedFailsTheTest(t *testing.T) {
	got := record(t, func(tb testing.TB) {
		f := newFake(tb)
		_, err := forecast.Call(tb.Context(), f.Client(tb).RPC(), rome)
		if words := failed(t, err); !strings.Contains(words, `no answer for this call of skill "forecast"`) {
			t.Error(words)
		}
	})
	wantReports(t, got, []string{"harness_test.go:", `the fake "weather" got a call of skill "forecast", and nobody expected it`, `{"city":"Rome"}`, "f.Forecast.Returns(…)", "f.Samples()"})
}

func TestAnAnswerThatWasUsedIsNamed(t *testing.T) {
	var said string
	got := record(t, func(tb testing.TB) {
		f := newFake(tb)
		said = here(1)
		f.Chat.Returns("hello").Once()
		c := f.Client(tb).RPC()
		for range 2 {
			_, _ = chat.Call(tb.Context(), c, "hi")
		}
	})
	wantReports(t, got, []string{`a call of skill "chat"`, "the answer of " + said + " was to be used once", `"hi"`})
}

func TestAnAnswerThatWasNotUsedFailsTheTest(t *testing.T) {
	var once, thrice string
	got := record(t, func(tb testing.TB) {
		f := newFake(tb)
		once = here(1)
		f.Forecast.Returns(sunny(1)).Once()
		thrice = here(1)
		f.Chat.Returns("hello").Times(3)
		f.Chat.Returns("need not be used")
		_, _ = chat.Call(tb.Context(), f.Client(tb).RPC(), "hi")
	})
	wantReports(t, got,
		[]string{once, `this answer of skill "forecast" of the fake "weather" was to be used once, and was used 0 times`},
		[]string{thrice, `this answer of skill "chat" of the fake "weather" was to be used 3 times, and was used once`},
	)
}

func TestAFakeCannotLie(t *testing.T) {
	var said, function string
	got := record(t, func(tb testing.TB) {
		f := newFake(tb)
		c := f.Client(tb).RPC()
		said = here(1)
		f.Forecast.Returns(&forecastOutput{Text: "no days"}).Once()
		_, err := forecast.Call(tb.Context(), c, rome)
		if words := failed(t, err); !strings.Contains(words, "/days") {
			t.Error(words)
		}
		function = here(1)
		f.Forecast.On(func(context.Context, *forecastInput, *a2atest.Task) (*forecastOutput, error) {
			return &forecastOutput{}, nil
		})
		_, err = forecast.Call(tb.Context(), c, rome)
		_ = failed(t, err)
	})
	wantReports(t, got,
		[]string{said + ": a2atest: ", `what skill "forecast" is to return breaks its output schema: /days: must be at least 1`},
		[]string{function, `breaks the output schema of skill "forecast": /days: must be at least 1`, `{"city":"Rome"}`},
	)
}

func TestAnAnswerThatIsChangedLaterStaysAsItWas(t *testing.T) {
	f := newFake(t)
	out := sunny(2)
	f.Forecast.Returns(out)
	out.Days = 7
	if got, err := forecast.Call(t.Context(), f.Client(t).RPC(), rome); err != nil || got.Days != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAnAnswerWithoutAnEndIsReported(t *testing.T) {
	var said string
	got := record(t, func(tb testing.TB) {
		f := newFake(tb)
		said = here(1)
		f.Forecast.Streams("a", "b")
		_, err := forecast.Call(tb.Context(), f.Client(tb).RPC(), rome)
		_ = failed(t, err)
	})
	wantReports(t, got, []string{said, `this answer of skill "forecast" does not say how it ends`, "Returns, Fails, Rejects or On"})
}

func TestNothingFollowsTheEndOfAnAnswer(t *testing.T) {
	var said string
	got := record(t, func(tb testing.TB) {
		f := newFake(tb)
		said = here(1)
		f.Forecast.Returns(sunny(1)).Returns(sunny(2))
	})
	wantReports(t, got, []string{said + ": a2atest: ", `this answer of skill "forecast" has ended already`, "f.Forecast", "Once()"})
}

func TestAPanicOfAFunctionFailsTheTest(t *testing.T) {
	var said string
	got := record(t, func(tb testing.TB) {
		f := newFake(tb)
		said = here(1)
		f.Chat.On(func(context.Context, string, *a2atest.Task) (string, error) { panic("oops") })
		_, err := chat.Call(tb.Context(), f.Client(tb).RPC(), "hi")
		if words := failed(t, err); !strings.Contains(words, "oops") {
			t.Error(words)
		}
	})
	wantReports(t, got, []string{said, `the function of skill "chat" panicked: oops`, "report_test.go"})
}

func TestAFunctionThatIsNilIsReportedWhereItIsGiven(t *testing.T) {
	var said string
	got := record(t, func(tb testing.TB) {
		f := newFake(tb)
		said = here(1)
		f.Chat.On(nil)
	})
	wantReports(t, got, []string{said + ": a2atest: " + said + `: the function of skill "chat" is nil`})
}

func TestAFunctionThatEndsItsGoroutineEndsTheCallAlone(t *testing.T) {
	got := record(t, func(tb testing.TB) {
		f := newFake(tb)
		f.Chat.On(func(context.Context, string, *a2atest.Task) (string, error) {
			tb.Fatalf("said by the test")
			return "", nil
		})
		if _, err := chat.Call(tb.Context(), f.Client(tb).RPC(), "hi"); err == nil {
			t.Error("no error")
		}
	})
	wantReports(t, got, []string{"said by the test"})
}

func TestAMessageThatFitsNoSkillFailsTheTest(t *testing.T) {
	got := record(t, func(tb testing.TB) {
		c := newFake(tb).Client(tb)
		var unnamed = rpc.Skill[string, *rpc.Result]{In: rpc.TextInput, Out: rpc.PlainOutput, By: rpc.Unnamed}
		_, _ = unnamed.Call(tb.Context(), c.RPC(), "xyzzy")
	})
	wantReports(t, got, []string{`a message came to the fake "weather" that names no skill`, `["xyzzy"]`})
}

// What a client sends that breaks the input's schema is refused as the agent would, and is no call.
func TestAnInputThatBreaksItsSchemaIsRefused(t *testing.T) {
	f := newFake(t)
	f.Forecast.Returns(sunny(1))
	raw := rpc.Skill[[]runtime.Part, *rpc.Result]{ID: "forecast", In: rpc.PlainInput, Out: rpc.PlainOutput}
	_, err := raw.Call(t.Context(), f.Client(t).RPC(), []runtime.Part{runtime.Data(map[string]any{"city": ""})})
	if !errors.Is(err, runtime.ErrInvalidParams) || !strings.Contains(err.Error(), "city") {
		t.Errorf("%v", err)
	}
	if got := f.Forecast.Calls(); len(got) != 0 {
		t.Errorf("calls: %v", got)
	}
}

func TestMistakesInAFakesMakingAreReportedWhereTheyAre(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(f *fake, tb testing.TB)
		want string
	}{
		"a version that is not there": {func(f *fake, _ testing.TB) { f.Versions("0.3") }, `cannot speak version "0.3" of the protocol: its protocol package has 1.0; list the version`},
		"a binding that is not there": {func(f *fake, _ testing.TB) { f.Over("GRPC") }, `cannot speak "GRPC": it speaks JSONRPC, HTTP+JSON`},
		"too late":                    {func(f *fake, tb testing.TB) { f.Client(tb); f.Over("JSONRPC") }, "must be called before the first request"},
		"a message of a type":         {func(f *fake, _ testing.TB) { f.Forecast.Replies() }, `skill "forecast" has an output schema: let it answer by Returns instead`},
		"for no call":                 {func(f *fake, _ testing.TB) { f.Chat.Returns("x").Times(0) }, "an answer is for one call at least"},
	} {
		t.Run(name, func(t *testing.T) {
			got := record(t, func(tb testing.TB) { c.do(newFake(tb), tb) })
			wantReports(t, got, []string{"report_test.go:", c.want})
		})
	}
}

// What the generator makes up is held to the schema as all else is.
func TestAMadeUpValueCannotLie(t *testing.T) {
	skill := a2atest.NewSkill[*forecastInput, *forecastOutput]("forecast", "Forecast")
	got := record(t, func(tb testing.TB) {
		f := a2atest.NewFake(tb, a2atest.FakeConfig{
			Name: "weather", Protocol: a2a.ClientProtocol(), Skills: []a2atest.AnySkill{skill}, Samples: map[string]string{"forecast": `{"days":0}`},
		})
		f.Samples()
		_, err := forecast.Call(tb.Context(), (&fake{Fake: f}).Client(tb).RPC(), rome)
		_ = failed(t, err)
	})
	wantReports(t, got, []string{`the value made up for skill "forecast" breaks its output schema: /days`, "f.Forecast.Returns(…)"})
}

func TestReportsOfOneFakeAreBounded(t *testing.T) {
	got := record(t, func(tb testing.TB) {
		f := newFake(tb)
		c := f.Client(tb).RPC()
		for range 60 {
			_, _ = chat.Call(tb.Context(), c, "hi")
		}
	})
	if len(got) != 50 || !strings.Contains(got[49], "reports no more failures") {
		t.Errorf("%d reports, at last %s", len(got), got[len(got)-1])
	}
}

func TestNothingIsReportedAfterTheEndOfATest(t *testing.T) {
	var f *fake
	got := record(t, func(tb testing.TB) {
		f = newFake(tb)
		tb.Cleanup(func() { _, _ = chat.Call(t.Context(), f.Client(t).RPC(), "hi") }) // while the fake is still there
	})
	wantReports(t, got, []string{`got a call of skill "chat"`})
	if _, err := a2aclient.New(t.Context(), f.URL(), f.Options()...); err == nil || !strings.Contains(err.Error(), "has ended with its test") {
		t.Errorf("%v", err)
	}
}
