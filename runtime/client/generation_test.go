package client_test

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/internal/test/a2amore"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// generation gives a task or an update one.
func generation(n int, text string) string {
	return strings.TrimSuffix(text, "}}") + `,"generation":"` + strconv.Itoa(n) + `"}}`
}

// taskAt is a task that GetTask answers.
func taskAt(n int, state, text string) reply {
	return result(`{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_` + state + `"},"generation":"` + strconv.Itoa(n) +
		`","artifacts":[{"artifactId":"a","parts":[{"text":"` + text + `"}]}]}`)
}

// dialDraft returns a client of the fake agent that speaks the draft.
func (f *fake) dialDraft(capabilities string, opts ...rpc.Option) *rpc.Client {
	f.t.Helper()
	text := strings.ReplaceAll(f.card(cardJSON(f.url, "", capabilities)), `"protocolVersion":"1.0"`, `"protocolVersion":"1.1-draft"`)
	card, err := a2amore.Protocol().DecodeCard([]byte(text))
	if err != nil {
		f.t.Fatal(err)
	}
	c, err := rpc.FromCard(a2amore.Protocol(), card, opts...)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(c.Close)
	return c
}

// talking is a skill from text to text.
var talking = &rpc.Skill[string, string]{
	ID: "forecast", In: rpc.TextInput, Out: func(r *rpc.Result) (string, error) { return r.Text(), nil },
}

// TestAMissingGenerationIsMadeUpForByTheTask: where the numbers of a connection do not say that an event is missing its generation does.
// Nothing is lost, nothing comes twice, and the stream goes on.
func TestAMissingGenerationIsMadeUpForByTheTask(t *testing.T) {
	const taskSunny = `{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"a","parts":[{"text":"sunny"}]}]}}`
	first, sun, ny := generation(1, taskWorking), generation(2, chunk1), generation(3, chunk2)
	working, last := generation(4, working), generation(5, completed)
	whole := func(n int) reply { return taskAt(n, "WORKING", "sunny") }
	for name, tt := range map[string]struct {
		begin, then reply
		get         []reply
		text, calls string
		err         string
	}{
		"nothing is missing":   {events(first, sun, ny, working, last), nil, nil, "sunny", "", ""},
		"one is missing":       {events(first, sun, working, last), nil, []reply{whole(4)}, "sunny", " GetTask", ""},
		"the task is ahead":    {events(first, sun, working, last), nil, []reply{taskAt(5, "COMPLETED", "sunny")}, "sunny", " GetTask", ""},
		"the task is missing":  {events(sun, ny, working, last), nil, []reply{whole(3)}, "sunny", " GetTask", ""},
		"one comes twice":      {events(first, sun, sun, ny, sun, working, last), nil, nil, "sunny", "", ""},
		"they are swapped":     {events(first, ny, sun, working, last), nil, []reply{whole(3)}, "sunny", " GetTask", ""},
		"it breaks":            {stream(drop, first, sun), events(generation(3, taskSunny), working, last), nil, "sunny", " SubscribeToTask", ""},
		"it goes on elsewhere": {stream(drop, first, sun), events(working, last), []reply{whole(4)}, "sunny", " SubscribeToTask GetTask", ""},
		"the task is behind":   {events(first, sun, working, last), events(generation(5, taskSunny), generation(6, completed)), []reply{whole(2)}, "sunny", " GetTask SubscribeToTask", ""},
		"the task is gone":     {events(first, working), nil, []reply{fault(`{"code":-32001,"message":"no"}`)}, "", " GetTask", "TASK_NOT_FOUND"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, binding string) {
				replies := map[string][]reply{"SendStreamingMessage": {tt.begin}, "GetTask": tt.get, "SubscribeToTask": {tt.then}}
				f, opts := newFakeInMemory(t, binding, replies)
				var text strings.Builder
				var out string
				var err error
				for step, failed := range talking.Stream(t.Context(), f.dialDraft(streams, append(opts, rpc.Reattach(1))...), "hi") {
					if err = failed; step.Artifact != nil {
						text.WriteString(step.Text())
					}
					out = step.Output
				}
				if tt.err == "" && (err != nil || out != tt.text || text.String() != tt.text) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
					t.Errorf("the steps say %q, the result %q, %v", &text, out, err)
				}
				if got := f.methods(); got != "SendStreamingMessage"+tt.calls {
					t.Errorf("calls %s", got)
				}
			}, overHTTP...)
		})
	}
}

// TestAnEventOfOneGenerationForEverEnds: it is no news, however often it comes.
func TestAnEventOfOneGenerationForEverEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, binding string) {
		again := strings.Replace(withID("", generation(1, chunk1))[1:], `"id":$ID,`, "", 1)
		forEver := every(time.Millisecond, strings.Replace(again, "id: \n", "", 1), generation(1, taskWorking))
		f, opts := newFakeInMemory(t, binding, map[string][]reply{"SendStreamingMessage": {forEver}, "SubscribeToTask": {forEver}})
		c := f.dialDraft(streams, append(opts, rpc.Reattach(1), rpc.MaxEvent(64<<10))...)
		steps := 0
		var err error
		for _, err = range talking.Stream(t.Context(), c, "hi") {
			steps++
		}
		if !errors.Is(err, rpc.ErrNoEvent) || steps > 4 {
			t.Errorf("%d steps, %v", steps, err)
		}
	}, runtime.BindingJSONRPC)
}

// TestAClientWithoutStreamsWaitsForTheNextGeneration, in requests that say which one it has.
func TestAClientWithoutStreamsWaitsForTheNextGeneration(t *testing.T) {
	// after answers after a while.
	after := func(d time.Duration, r reply) reply {
		return func(w http.ResponseWriter, req *http.Request, q request) {
			select {
			case <-time.After(d):
				r(w, req, q)
			case <-req.Context().Done():
			}
		}
	}
	const hour = time.Hour
	for name, tt := range map[string]struct {
		get   []reply
		known []string // what the requests say
		most  time.Duration
	}{
		"the agent waits":          {[]reply{taskAt(3, "WORKING", ""), after(20*time.Second, taskAt(4, "WORKING", "")), after(25*time.Second, taskAt(4, "WORKING", "")), after(5*time.Second, taskAt(5, "COMPLETED", "sunny"))}, []string{"", "3", "4", "4"}, 51 * time.Second},
		"the agent does not wait":  {[]reply{taskAt(3, "WORKING", ""), taskAt(3, "WORKING", ""), taskAt(3, "WORKING", ""), taskAt(5, "COMPLETED", "sunny")}, []string{"", "3", "3", "3"}, time.Second},
		"the agent does not count": {[]reply{taskAt(0, "WORKING", ""), taskAt(0, "COMPLETED", "sunny")}, []string{"", ""}, time.Second},
		"something ends long requests": {[]reply{taskAt(3, "WORKING", ""), after(10*time.Second, body(504, "", "")), taskAt(3, "WORKING", ""), taskAt(4, "COMPLETED", "sunny")},
			[]string{"", "3", "", ""}, 11 * time.Second},
		"the agent hangs": {[]reply{taskAt(3, "WORKING", ""), after(hour, taskAt(4, "WORKING", "")), taskAt(4, "COMPLETED", "sunny")}, []string{"", "3", ""}, rpc.DefaultIdleTimeout + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, binding string) {
				f, opts := newFakeInMemory(t, binding, map[string][]reply{"GetTask": tt.get})
				begun := time.Now()
				r, err := f.dialDraft("", opts...).Await(t.Context(), "t1")
				if err != nil || r.Text() != "sunny" || time.Since(begun) > tt.most {
					t.Errorf("%+v, %v after %v", r, err, time.Since(begun))
				}
				var known []string
				for _, q := range f.got {
					_, rest, _ := strings.Cut(string(q.Params), `"currentGeneration":"`)
					n, _, _ := strings.Cut(rest, `"`)
					known = append(known, n)
				}
				if diff := cmp.Diff(tt.known, known); diff != "" {
					t.Errorf("generations that the requests name (-want +got):\n%s", diff)
				}
			}, runtime.BindingJSONRPC)
		})
	}
}

// TestAMessageNamesTheGenerationOfItsTask, and is not sent to an agent that would not see it.
func TestAMessageNamesTheGenerationOfItsTask(t *testing.T) {
	f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {
		fault(`{"code":-32010,"message":"Task generation mismatch: the task has generation 8"}`),
		result(`{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_INPUT_REQUIRED"},"generation":"9"}}`),
	}})
	c := f.dialDraft("")
	_, err := talking.Call(t.Context(), c, "hi", rpc.InTask("t1"), rpc.IfGeneration(7))
	if !errors.Is(err, runtime.ErrTaskGenerationMismatch) || !strings.Contains(string(f.call(0).Params), `"ifGenerationMatch":"7"`) {
		t.Errorf("%v, the request is %s", err, f.call(0).Params)
	}
	var ask *rpc.InputRequiredError
	if _, err = talking.Call(t.Context(), c, "hi", rpc.InTask("t1")); !errors.As(err, &ask) || ask.Result.Generation != 9 {
		t.Errorf("%v", err)
	}
	before := f.methods()
	_, err = talking.Call(t.Context(), f.dial(), "hi", rpc.InTask("t1"), rpc.IfGeneration(7))
	if !errors.Is(err, runtime.ErrUnsupportedOperation) || f.methods() != before {
		t.Errorf("of an agent of 1.0: %v, calls %s", err, f.methods())
	}
}
