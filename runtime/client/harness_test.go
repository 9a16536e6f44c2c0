package client_test

import (
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
)

// TestMain lets many tests wait at once: those that are parallel do little else.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "64"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// request is one JSON-RPC request as the fake agent got it.
type request struct {
	Method string
	Params json.RawMessage
	Header http.Header
	Query  string // of the URL
	id     string
}

// reply writes what a fake agent answers. In all texts, $ID stands for the request's id.
type reply func(w http.ResponseWriter, r *http.Request, q request)

// fake is an agent that answers hand-written bytes: by method, one reply after the other, the last one for ever.
type fake struct {
	t       *testing.T
	binding string
	url     string
	mu      sync.Mutex
	replies map[string][]reply
	got     []request
}

func newFake(t *testing.T, binding string, replies map[string][]reply) *fake {
	f := &fake{t: t, binding: binding, replies: replies}
	var agent http.Handler = f
	switch binding {
	case runtime.BindingHTTP:
		agent = restGateway{t, f}
	case runtime.BindingGRPC:
		f.url = startGRPC(t, f)
		return f
	}
	srv := httptest.NewServer(agent)
	t.Cleanup(srv.Close)
	f.url = srv.URL
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var in struct {
		JSONRPC string
		ID      json.RawMessage
		Method  string
		Params  json.RawMessage
	}
	if err := json.Unmarshal(body, &in); err != nil || in.JSONRPC != "2.0" || len(in.ID) == 0 {
		f.t.Errorf("not a JSON-RPC 2.0 request: %s", body)
	}
	q := request{in.Method, in.Params, r.Header, r.URL.RawQuery, string(in.ID)}
	f.mu.Lock()
	f.got = append(f.got, q)
	list := f.replies[in.Method]
	if len(list) > 1 {
		f.replies[in.Method] = list[1:]
	}
	f.mu.Unlock()
	if len(list) == 0 {
		f.t.Errorf("unexpected call of %s", in.Method)
		http.Error(w, "unexpected", http.StatusTeapot)
		return
	}
	list[0](w, r, q)
}

// methods lists the methods called so far.
func (f *fake) methods() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []string
	for _, q := range f.got {
		list = append(list, q.Method)
	}
	return strings.Join(list, " ")
}

// call returns the i-th request.
func (f *fake) call(i int) request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.got[i]
}

// body answers with a content type and a text.
func body(status int, contentType, text string) reply {
	return func(w http.ResponseWriter, r *http.Request, q request) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.ReplaceAll(text, "$ID", q.id))
	}
}

// result answers with a JSON-RPC result, and fault with a JSON-RPC error.
func result(text string) reply {
	return body(200, "application/json", `{"jsonrpc":"2.0","id":$ID,"result":`+text+`}`)
}

func fault(text string) reply {
	return body(200, "application/json", `{"jsonrpc":"2.0","id":$ID,"error":`+text+`}`)
}

// events answers with a stream of results and ends it. A text that begins with "!" goes out as it is.
func events(items ...string) reply { return stream(nil, items...) }

// stream is events with something to do at the end, before the stream is closed.
func stream(atEnd func(w http.ResponseWriter, r *http.Request), items ...string) reply {
	return func(w http.ResponseWriter, r *http.Request, q request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for _, item := range items {
			if raw, ok := strings.CutPrefix(item, "!"); ok {
				item = raw
			} else {
				item = "data: {\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":" + item + "}\n\n"
			}
			_, _ = io.WriteString(w, strings.ReplaceAll(item, "$ID", q.id))
			w.(http.Flusher).Flush()
		}
		if atEnd != nil {
			atEnd(w, r)
		}
	}
}

// withID gives an event an id.
func withID(id, item string) string {
	return "!id: " + id + "\ndata: {\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":" + item + "}\n\n"
}

// drop cuts the connection, and hang keeps the stream open until the client goes.
func drop(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// Items of a stream.
const (
	taskWorking = `{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}`
	working     = `{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m1","role":"ROLE_AGENT","parts":[{"text":"half way"}]}}}}`
	completed   = `{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}}`
	chunk1      = `{"artifactUpdate":{"taskId":"t1","contextId":"c1","artifact":{"artifactId":"a","parts":[{"text":"sun"}]}}}`
	chunk2      = `{"artifactUpdate":{"taskId":"t1","contextId":"c1","append":true,"lastChunk":true,"artifact":{"artifactId":"a","parts":[{"text":"ny"}]}}}`
)

// skillsExtension in a card.
const declared = `"extensions":[{"uri":"` + runtime.SkillsExtension + `"}],`

// cardJSON is a card whose only interface is at url. extra goes into the interface, capabilities into the capabilities.
func cardJSON(url, extra, capabilities string) string {
	return `{"name":"weather","description":"d","version":"1","supportedInterfaces":[{"url":"` + url + `","protocolBinding":"JSONRPC","protocolVersion":"1.0"` + extra + `}],
	"capabilities":{` + capabilities + `"pushNotifications":false},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
	"skills":[{"id":"forecast","name":"Forecast","description":"d","tags":["weather"]}]}`
}

const streams = `"streaming":true,`

func decodeCard(t *testing.T, text string) runtime.Card {
	t.Helper()
	card, err := a2a.Protocol().DecodeCard([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return card
}

// dial returns an untyped client of the fake agent, which streams and declares our extension.
func (f *fake) dial(opts ...rpc.Option) *rpc.Client {
	f.t.Helper()
	return f.dialCard(cardJSON(f.url, "", streams+declared), opts...)
}

// card is a card with the binding of the agent.
func (f *fake) card(text string) string {
	return strings.ReplaceAll(text, `"protocolBinding":"JSONRPC"`, `"protocolBinding":"`+f.binding+`"`)
}

func (f *fake) dialCard(card string, opts ...rpc.Option) *rpc.Client {
	f.t.Helper()
	c, err := rpc.FromCard(a2a.Protocol(), decodeCard(f.t, f.card(card)), withGRPC(opts)...)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(c.Close)
	return c
}

// typed returns the emitted client.
func (f *fake) typed(opts ...rpc.Option) *a2aclient.Client {
	f.t.Helper()
	card := decodeCard(f.t, f.card(cardJSON(f.url, "", streams+declared))).Generated().(*a2a.AgentCard)
	c, err := a2aclient.FromCard(card, withGRPC(opts)...)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(c.Close)
	return c
}

// withGRPC lets a client speak gRPC, too.
func withGRPC(opts []rpc.Option) []rpc.Option {
	return append([]rpc.Option{rpc.Use(grpcclient.Binding())}, opts...)
}

// hello is a message to send.
func hello() *a2a.SendMessageRequest {
	return &a2a.SendMessageRequest{Message: &a2a.Message{MessageID: "m0", Role: a2a.RoleUser, Parts: []*a2a.Part{{Content: a2a.PartText("hi")}}}}
}

// within fails the test when f hangs.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(time.Minute): // a hang, not a busy machine
		t.Fatal("does not end")
	}
}
