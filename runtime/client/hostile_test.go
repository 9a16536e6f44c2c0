package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// What a hostile agent does. Each is a reply like any other.

// drip answers with a text, byte by byte with a pause after each, and then goes on with nothing.
func drip(contentType, text string, pause time.Duration) reply {
	return func(w http.ResponseWriter, r *http.Request, q request) {
		w.Header().Set("Content-Type", contentType)
		for i := 0; r.Context().Err() == nil; i++ {
			b := []byte{' '}
			if i < len(text) {
				b[0] = text[i]
			}
			_, _ = w.Write(b)
			w.(http.Flusher).Flush()
			time.Sleep(pause)
		}
	}
}

// flood streams items made from their number until the client goes.
func flood(item func(i int) string) reply {
	return func(w http.ResponseWriter, r *http.Request, q request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := 0; r.Context().Err() == nil; i++ {
			if _, err := fmt.Fprintf(w, "id: %d\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", i, q.id, item(i)); err != nil {
				return
			}
		}
	}
}

// pour answers with the same bytes until the client goes.
func pour(contentType, text string) reply {
	return func(w http.ResponseWriter, r *http.Request, q request) {
		w.Header().Set("Content-Type", contentType)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
		}
	}
}

// redirect sends the client to another place.
func redirect(status int, url string) reply {
	return func(w http.ResponseWriter, r *http.Request, _ request) { http.Redirect(w, r, url, status) }
}

// lie announces a length that the body does not have.
func lie(length int64, text string) reply {
	return func(w http.ResponseWriter, r *http.Request, q request) {
		c, buf, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer c.Close()
		text := strings.ReplaceAll(text, "$ID", q.id)
		fmt.Fprintf(buf, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", length, text)
		_ = buf.Flush() // the client may be gone
	}
}

// nested is JSON of that depth.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// another is an item of a stream, of another task than the one it began with.
func another(item string) string { return strings.ReplaceAll(item, `"t1"`, `"t2"`) }

const answer = `{"jsonrpc":"2.0","id":$ID,"result":{"task":` + taskT1 + `}}`

// attacks are answers that must not be taken for a result, or that never end.
var attacks = map[string]reply{
	"drips an answer": drip("application/json", `{"jsonrpc":"2.0",`, time.Millisecond*5),
	"drips lines":     drip("application/json", strings.Repeat("\n", 10_000), time.Millisecond*5), // which are life in a stream alone
	"drips a page":    drip("text/html", `<p>`, time.Millisecond*5),
	"drips an event":  drip("text/event-stream", `data: {"jsonrpc":"2.0"`, time.Millisecond*5),
	"drips an error": func(w http.ResponseWriter, r *http.Request, q request) {
		w.WriteHeader(503)
		drip("", "", 5*time.Millisecond)(w, r, q)
	},
	"begins an answer and waits": func(w http.ResponseWriter, r *http.Request, q request) {
		body(200, "application/json", "{")(w, r, q)
		w.(http.Flusher).Flush()
		hang(w, r)
	},
	"begins a stream and waits":    stream(hang),
	"never ends an answer":         pour("application/json", strings.Repeat(" ", 4096)),
	"never ends an event":          pour("text/event-stream", "data: "+strings.Repeat("x", 4096)),
	"never ends an event of lines": pour("text/event-stream", strings.Repeat("data: x\n", 512)),
	"never ends comments":          pour("text/event-stream", strings.Repeat(": x\n", 1024)),
	"never ends names of events":   pour("text/event-stream", strings.Repeat("event: x\n", 512)),
	"floods with unknown events":   flood(func(int) string { return `{"future":{}}` }),
	"floods with chunks": flood(func(i int) string {
		return strings.Replace(chunk2, "ny", strings.Repeat("x", 1000), 1)
	}),
	"floods with small chunks":    flood(func(int) string { return chunk2 }),
	"floods with artifacts":       flood(func(i int) string { return strings.Replace(chunk1, `"a"`, fmt.Sprintf(`"a%d"`, i), 1) }),
	"floods with progress":        flood(func(int) string { return working }),
	"has one id a megabyte long":  pour("text/event-stream", "id: "+strings.Repeat("x", 1<<20)+"\n"),
	"redirects in circles":        func(w http.ResponseWriter, r *http.Request, q request) { redirect(307, r.URL.Path)(w, r, q) },
	"answers with a wrong id":     body(200, "application/json", strings.Replace(answer, "$ID", "4711", 1)),
	"streams with a wrong id":     events("!data: " + strings.Replace(answer, "$ID", "4711", 1) + "\n\n"),
	"cuts an answer":              body(200, "application/json", answer[:50]),
	"cuts a stream":               stream(drop, taskWorking),
	"nests":                       result(nested(1_000_000)),
	"nests in a stream":           events(nested(10_000)),
	"announces more than it says": lie(1000, answer),
	"announces 1 TB":              lie(1<<40, answer),
	"announces less than it says": lie(30, answer),
	"goes on with another task":   events(taskWorking, another(taskWorking), another(completed)),
	"updates another task":        events(taskWorking, another(completed)),
	"ends with another's message": events(taskWorking, `{"message":{"messageId":"m","taskId":"t2","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}`),
}

// limits are those of a client under attack, so small that a test sees them at work.
var limits = []rpc.Option{rpc.IdleTimeout(60 * time.Millisecond), rpc.Reattach(1), rpc.MaxResponse(2 << 20), rpc.MaxEvent(64 << 10), rpc.MaxEvents(2000)}

// TestNothingCrossesHosts: a redirect to another host gets neither the message nor a header of the client.
func TestNothingCrossesHosts(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		var reached atomic.Int32
		elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { reached.Add(1) }))
		defer elsewhere.Close()
		for _, status := range []int{301, 302, 303, 307, 308} {
			f := newFake(t, binding, map[string][]reply{"SendMessage": {redirect(status, elsewhere.URL)}, "SendStreamingMessage": {redirect(status, elsewhere.URL)}})
			for name, opts := range map[string][]rpc.Option{"own": nil, "the user's": {rpc.HTTPClient(&http.Client{Transport: http.DefaultTransport})}} {
				c := f.dial(append(opts, rpc.DefaultHeader("X-Key", "secret"))...)
				if _, err := chat.Call(t.Context(), c, rpc.Say("hi")); err == nil {
					t.Errorf("call, %d, %s: no error", status, name)
				}
				if _, _, err := steps(chat.Stream(t.Context(), c, rpc.Say("hi"))); err == nil {
					t.Errorf("stream, %d, %s: no error", status, name)
				}
			}
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) }))
			_, err := rpc.FetchCard(t.Context(), a2a.Protocol(), web.URL, rpc.DefaultHeader("X-Key", "secret"))
			if err == nil || !strings.Contains(err.Error(), "use "+elsewhere.URL) {
				t.Errorf("card, %d: %v", status, err)
			}
			web.Close()
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		if n := reached.Load(); n > 0 {
			t.Errorf("the other host was asked %d times", n)
		}
	})
}

func TestRedirectsWithinTheHostAreFollowed(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		moved := func(w http.ResponseWriter, r *http.Request, _ request) {
			http.Redirect(w, r, r.URL.Path+"?moved=1", http.StatusTemporaryRedirect)
		}
		f := newFake(t, binding, map[string][]reply{"SendMessage": {moved, result(`{"task":` + taskT1 + `}`)}})
		if _, err := chat.Call(t.Context(), f.dial(rpc.DefaultHeader("X-Key", "k")), rpc.Say("hi")); err != nil {
			t.Fatal(err)
		}
		if q := f.call(1); q.Header.Get("X-Key") != "k" || !strings.Contains(string(q.Params), "hi") {
			t.Errorf("the moved request has %v, %s", q.Header, q.Params)
		}
	}, overHTTP...)
}

// TestACardIsFetchedInTime: the fetch of a card meets the same agents.
func TestACardIsFetchedInTime(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		t.Parallel()
		for _, name := range []string{"drips an answer", "drips an error", "begins an answer and waits", "never ends an answer", "redirects in circles", "cuts an answer", "nests", "announces 1 TB", "announces more than it says"} {
			t.Run(name, func(t *testing.T) {
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { attacks[name](w, r, request{id: "1"}) }))
				defer srv.Close()
				within(t, func() {
					if _, err := rpc.FetchCard(t.Context(), a2a.Protocol(), srv.URL, limits...); err == nil {
						t.Error("taken for a card")
					}
				})
			})
		}
	})
}

func TestAnotherTaskIsNotTakenForTheOneThatIsAskedFor(t *testing.T) {
	for _, binding := range []string{runtime.BindingJSONRPC, runtime.BindingHTTP, runtime.BindingGRPC} {
		f := newFake(t, binding, map[string][]reply{"GetTask": {result(another(taskT1))}})
		_, err := f.dialCard(cardJSON(f.url, "", declared)).Await(t.Context(), "t1")
		if !errors.Is(err, runtime.ErrInvalidAgentResponse) || !strings.Contains(err.Error(), "task t2 instead of t1") {
			t.Errorf("%s: %v", binding, err)
		}
	}
}
