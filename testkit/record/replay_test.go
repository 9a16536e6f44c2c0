package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	onlya2a "github.com/a2agen/a2agen/a2a/a2aclient"
	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/internal/test/gotool"
	a2aruntime "github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/testkit/a2atest"
	"github.com/a2agen/a2agen/testkit/record"
)

// fake is as a generated fake: a skill with schemas, and one of text.
type fake struct {
	*a2atest.Fake
	Forecast *a2atest.Skill[*place, *place]
	Chat     *a2atest.Skill[string, string]
}

// place is what the skill with schemas takes and answers.
type place struct {
	City string `json:"city"`
}

func (v *place) UnmarshalJSON(src []byte) error {
	type plain place
	return json.Unmarshal(src, (*plain)(v))
}

func (v *place) AppendJSON(dst []byte) ([]byte, error) {
	b, err := json.Marshal(v)
	return append(dst, b...), err
}

var (
	forecast = rpc.Skill[*place, *place]{ID: "forecast", In: rpc.DataInput[place], Out: rpc.DataOutput[place]}
	chat     = rpc.Skill[string, *rpc.Result]{ID: "chat", In: rpc.TextInput, Out: rpc.PlainOutput}
	ostia    = &place{City: "Ostia"}
)

// trial is a test within a test, which may fail.
type trial struct {
	testing.TB
	name    string
	said    []string  // errors
	log     *[]string // what is logged; nil: it does not matter
	cleanup []func()
}

func (t *trial) Name() string                   { return t.name }
func (t *trial) Helper()                        {}
func (t *trial) Failed() bool                   { return len(t.said) > 0 }
func (t *trial) Skipped() bool                  { return false }
func (t *trial) Cleanup(f func())               { t.cleanup = append(t.cleanup, f) }
func (t *trial) Errorf(format string, a ...any) { t.said = append(t.said, fmt.Sprintf(format, a...)) }
func (t *trial) Fatalf(format string, a ...any) { t.Errorf(format, a...); runtime.Goexit() }
func (t *trial) Fatal(a ...any)                 { t.Fatalf("%s", fmt.Sprint(a...)) }

func (t *trial) Logf(format string, a ...any) {
	if t.log != nil {
		*t.log = append(*t.log, fmt.Sprintf(format, a...))
	}
}

// try runs a test within a test, and returns its errors.
func try(t *testing.T, test func(t *trial)) string {
	tt := &trial{TB: t, name: t.Name()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for i := range tt.cleanup {
				tt.cleanup[len(tt.cleanup)-1-i]()
			}
		}()
		test(tt)
	}()
	<-done
	return strings.Join(tt.said, "\n")
}

// dialogue is what a test says to the agent.
type dialogue func(t *trial, c *a2aclient.Client)

// recordIt records a dialogue with a fake.
func recordIt(t *testing.T, f *fake, file string, talk dialogue, opts ...record.Option) string {
	t.Helper()
	if err := os.Setenv(record.Env, "1"); err != nil {
		t.Fatal(err)
	}
	defer os.Unsetenv(record.Env)
	return try(t, func(t *trial) {
		converse(t, f.URL(), file, talk, append(opts, record.Over(f.HTTPClient().Transport))...)
	})
}

// replayIt plays a recorded dialogue. No agent is there.
func replayIt(t *testing.T, file string, talk dialogue, opts ...record.Option) string {
	t.Helper()
	return try(t, func(t *trial) { converse(t, "http://anywhere.test", file, talk, opts...) })
}

func converse(t *trial, url, file string, talk dialogue, opts ...record.Option) {
	c, err := a2aclient.New(t.Context(), url, record.Replay(t, file, opts...))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	talk(t, c)
}

// newRecordedFake is a fake of all versions that answers what [everything] asks.
func newRecordedFake(t *testing.T, version, binding string) *fake {
	f := &fake{
		Forecast: a2atest.NewSkill[*place, *place]("forecast", "Forecast"),
		Chat:     a2atest.NewSkill[string, string]("chat", "Chat"),
	}
	f.Fake = a2atest.NewFake(t, a2atest.FakeConfig{
		Name: "weather", Protocol: a2awires.ClientProtocol(), Skills: []a2atest.AnySkill{f.Forecast, f.Chat},
	}, a2atest.Versions(version), a2atest.Over(binding))
	f.Forecast.Returns(ostia)
	f.Chat.On(func(ctx context.Context, in string, t *a2atest.Task) (string, error) {
		switch {
		case t.Resumed():
			return "for " + t.Text() + " in " + t.Call().TaskID(), nil
		case in == "ask":
			return "", t.Ask("For which day?")
		case in == "wait":
			<-ctx.Done()
			return "", ctx.Err()
		}
		w := t.Stream("words")
		for _, word := range []string{"one ", "two ", "three"} {
			time.Sleep(time.Minute)
			if _, err := io.WriteString(w, word); err != nil {
				return "", err
			}
		}
		return "", w.Close()
	})
	return f
}

// everything is a dialogue with calls, streams, a question, and a task that is canceled while its stream is open.
func everything(t *trial, c *a2aclient.Client) {
	ctx := t.Context()
	out, err := forecast.Call(ctx, c.RPC(), &place{City: "Rome"})
	t.check(fmt.Sprint(out, err), fmt.Sprint(ostia, nil))

	text := ""
	for e, err := range chat.Stream(ctx, c.RPC(), "words") {
		if err != nil {
			t.Fatal(err)
		}
		text += e.Text()
	}
	t.check(text, "one two three")

	var ask *rpc.InputRequiredError
	if _, err = chat.Call(ctx, c.RPC(), "ask"); !errors.As(err, &ask) {
		t.Fatal(err)
	}
	answer, err := chat.Answer(ctx, c.RPC(), ask, a2aruntime.Text("Sunday"))
	if err != nil {
		t.Fatal(err)
	}
	t.check(answer.Text(), "for Sunday in "+ask.TaskID)

	if c.RPC().Interface().Version == "0.1" {
		return // which has no call that returns before its task ends
	}
	var pending *rpc.PendingError
	if _, err = chat.Call(ctx, c.RPC(), "wait", rpc.ReturnImmediately()); !errors.As(err, &pending) {
		t.Fatal(err)
	}
	go func() {
		time.Sleep(time.Minute)
		_, _ = c.CancelTask(ctx, &a2awires.CancelTaskRequest{ID: pending.TaskID})
	}()
	var ended *rpc.TaskError
	if _, err = c.RPC().Await(ctx, pending.TaskID); !errors.As(err, &ended) || ended.State != a2aruntime.StateCanceled {
		t.Errorf("the canceled task: %v", err)
	}
	synctest.Wait()
}

func (t *trial) check(got, want string) {
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestARecordedConversationIsPlayed over each binding in each version, and recorded again it is the same file.
func TestARecordedConversationIsPlayed(t *testing.T) {
	for _, v := range []struct{ version, binding string }{
		{"1.0", "JSONRPC"}, {"1.0", "HTTP+JSON"}, {"0.3", "JSONRPC"}, {"0.3", "HTTP+JSON"}, {"0.2", "JSONRPC"}, {"0.1", "JSONRPC"},
	} {
		t.Run(v.version+" "+v.binding, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "testdata", "quote.jsonl")
				first := newRecordedFake(t, v.version, v.binding)
				if said := recordIt(t, first, file, everything); said != "" {
					t.Fatal(said)
				}
				recorded := text(t, file)
				if said := replayIt(t, file, everything); said != "" {
					t.Error(said)
				}
				second := newRecordedFake(t, v.version, v.binding)
				if said := recordIt(t, second, file, everything); said != "" {
					t.Fatal(said)
				}
				if more := linesOnlyIn(text(t, file), recorded) + linesOnlyIn(recorded, text(t, file)); more != "" {
					t.Errorf("recorded again it has other lines:\n%s", more)
				}
				if !strings.Contains(recorded, `"protocol":"`+v.version+`","binding":"`+v.binding+`"`) {
					t.Errorf("the header is %.200s", recorded)
				}
			})
		})
	}
}

// linesOnlyIn are the lines of a that b does not have, without those of the last task, whose stream and cancelation
// are at the same time.
func linesOnlyIn(a, b string) (more string) {
	there := map[string]bool{}
	for l := range strings.Lines(b) {
		there[l] = true
	}
	for l := range strings.Lines(a) {
		if !there[l] && !strings.Contains(l, "task-4") && !strings.Contains(l, `"n":7`) {
			more += l
		}
	}
	return more
}

// TestACallThatIsNotRecordedFailsTheTest, also where the code that is tested does not say so, and names the line of
// the test.
func TestACallThatIsNotRecordedFailsTheTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "quote.jsonl")
		ask := func(city string) dialogue {
			return func(t *trial, c *a2aclient.Client) {
				_, _ = forecast.Call(t.Context(), c.RPC(), &place{City: city})
			}
		}
		if said := recordIt(t, newRecordedFake(t, "1.0", "JSONRPC"), file, ask("Rome")); said != "" {
			t.Fatal(said)
		}
		said := replayIt(t, file, ask("Paris"))
		for _, part := range []string{
			"record: replay_test.go:", ": " + file + " has no request like this POST / SendMessage; the nearest is in line 4\n",
			"\n\t-             \"city\": \"Rome\"\n\t+             \"city\": \"Paris\"\n",
			"\nIf the change is meant, record again: go test -run '^TestACallThatIsNotRecordedFailsTheTest$' . -record",
		} {
			if !strings.Contains(said, part) {
				t.Errorf("%q is not in\n%s", part, said)
			}
		}
		if strings.Contains(said, "messageId") || strings.Contains(said, "were not made") {
			t.Errorf("too much is said:\n%s", said)
		}
		nothing := func(*trial, *a2aclient.Client) {}
		if said := replayIt(t, file, nothing); !strings.HasPrefix(said, "record: 1 recorded requests were not made; record again: go test") {
			t.Errorf("of a call that is not made: %s", said)
		}
		if said := replayIt(t, file, nothing, record.Lenient()); said != "" {
			t.Error(said)
		}
	})
}

// TestAFailedTestLeavesItsRecordingAsItWas.
func TestAFailedTestLeavesItsRecordingAsItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "quote.jsonl")
		said := recordIt(t, newRecordedFake(t, "1.0", "JSONRPC"), file, func(t *trial, _ *a2aclient.Client) { t.Errorf("wrong") })
		if _, err := os.Stat(file); said != "wrong" || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("said %q, the file: %v", said, err)
		}
	})
}

// TestWithoutARecordingTheCommandIsSaid that makes one.
func TestWithoutARecordingTheCommandIsSaid(t *testing.T) {
	for name, tt := range map[string]struct{ lines, env, want string }{
		"none":     {"", "", "record: there is no recording FILE yet: make it with the agent running, in the folder of this test: go test -run '^TestA$/^it.s_so\\.$' . -record"},
		"a broken": {"{}\n", "", "record: FILE:1: it is no recording: the first line is not {\"type\":\"recording\",…}; to make it anew: go test -run '^TestA$/^it.s_so\\.$' . -record"},
		"a typo":   {"", "yess", "record: A2A_RECORD is \"yess\": set it to 1 to record, or unset it"},
	} {
		t.Setenv(record.Env, tt.env)
		file := filepath.Join(t.TempDir(), "quote.jsonl")
		if tt.lines != "" {
			if err := os.WriteFile(file, []byte(tt.lines), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		said := try(t, func(t *trial) {
			t.name = "TestA/it's_so."
			record.Replay(t, file)
		})
		if want := strings.ReplaceAll(tt.want, "FILE", file); said != want {
			t.Errorf("%s: got  %s\nwant %s", name, said, want)
		}
	}
}

// TestARecordingOfAVersionThatIsNotSpokenIsNamed.
func TestARecordingOfAVersionThatIsNotSpokenIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "quote.jsonl")
		if said := recordIt(t, newRecordedFake(t, "0.3", "JSONRPC"), file, askFor("Rome")); said != "" {
			t.Fatal(said)
		}
		var logged []string
		said := try(t, func(t *trial) {
			t.log = &logged
			if _, err := onlya2a.New(t.Context(), "http://weather.test", record.Replay(t, file)); err != nil {
				t.Fatal(err)
			}
		})
		want := "record: nothing of " + file + " was asked for, which is of version 0.3 of the protocol, over JSONRPC: if the client does not speak that any more, record again: go test "
		if !strings.Contains(said, "the card was made for an older protocol version (0.3.0) than 1.0") || len(logged) != 1 || !strings.HasPrefix(logged[0], want) {
			t.Errorf("said %s\nlogged %q", said, logged)
		}
	})
}

// askFor is a dialogue of one call.
func askFor(city string) dialogue {
	return func(t *trial, c *a2aclient.Client) {
		if _, err := forecast.Call(t.Context(), c.RPC(), &place{City: city}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheFlagRecords: in test programs, which have it, as the variable does.
func TestTheFlagRecords(t *testing.T) {
	if err := flag.Set("record", "true"); err != nil {
		t.Fatal(err)
	}
	defer flag.Set("record", "false")
	said := try(t, func(t *trial) { record.Replay(t, filepath.Join(t.TempDir(), "quote.jsonl")) })
	if !strings.Contains(said, "nothing was recorded") {
		t.Error(said)
	}
}

// TestOtherProgramsHaveNoFlagOfRecordings: it would be in the way of one of their own.
func TestOtherProgramsHaveNoFlagOfRecordings(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	file := filepath.Join(t.TempDir(), "main.go")
	err := os.WriteFile(file, []byte(`package main

import (
	"flag"

	"github.com/a2agen/a2agen/testkit/record"
)

func main() {
	flag.Bool("record", false, "a flag of the program")
	_ = record.NewRecorder()
}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := gotool.Command(".", "run", "-mod=readonly", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestTwoTestsDoNotRecordOneFile.
func TestTwoTestsDoNotRecordOneFile(t *testing.T) {
	t.Setenv(record.Env, "1")
	file := filepath.Join(t.TempDir(), "quote.jsonl")
	said := try(t, func(t *trial) { record.Replay(t, file) })
	if !strings.Contains(said, "nothing was recorded") {
		t.Error(said)
	}
	said = try(t, func(t *trial) { t.name = "TestOther"; record.Replay(t, file) })
	if said != "record: "+file+" is recorded by "+t.Name()+": give each test a file of its own" {
		t.Error(said)
	}
}

// TestGRPCIsNotRecorded: an agent that has nothing else cannot be, and one that has is recorded over that.
func TestGRPCIsNotRecorded(t *testing.T) {
	t.Setenv(record.Env, "1")
	for others, want := range map[string]string{
		"": `calls over gRPC are not recorded: test with rpc.Prefer("JSONRPC", "HTTP+JSON")`,
		`,{"url":"http://127.0.0.1:1/","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}`: "",
	} {
		card, err := rpc.ParseCard(a2awires.ClientProtocol(), []byte(`{"name":"weather","description":"d","version":"1","capabilities":{},"skills":[],
			"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
			"supportedInterfaces":[{"url":"127.0.0.1:1","protocolBinding":"GRPC","protocolVersion":"1.0"}`+others+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		try(t, func(tt *trial) {
			c, err := rpc.FromCard(a2awires.ClientProtocol(), card, record.Replay(tt, filepath.Join(t.TempDir(), "r")))
			if want == "" && (err != nil || c.Interface().Binding != "HTTP+JSON") || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
				t.Errorf("%q: %v", others, err)
			}
		})
	}
}
