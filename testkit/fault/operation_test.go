package fault

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/frames"
	"github.com/a2agen/a2agen/internal/test/growth"
	"github.com/a2agen/a2agen/runtime"
)

// TestTheOperationOfARequestIsKnown over each binding and in each version.
func TestTheOperationOfARequestIsKnown(t *testing.T) {
	for _, tt := range []struct{ verb, path, kind, body, operation, binding string }{
		{"GET", "/.well-known/agent-card.json", "", "", Card, ""},
		{"GET", "/tenant/.well-known/agent.json", "", "", Card, ""},
		{"POST", "/rpc", "application/json", `{"method":"SendMessage"}`, "SendMessage", runtime.BindingJSONRPC},
		{"POST", "/", "application/json; charset=utf-8", `{"id":1,"params":{"method":"no","list":[{"method":"no"},"method",7]},"x":null,"method":"message/stream"}`, "SendStreamingMessage", runtime.BindingJSONRPC},
		{"POST", "/", "application/json", `{"method":"tasks/resubscribe","id":"1"`, "SubscribeToTask", runtime.BindingJSONRPC},
		{"POST", "/", "application/json", `[{"method":"SendMessage"}]`, "", runtime.BindingJSONRPC},
		{"POST", "/", "application/json", `{"method":7}`, "", runtime.BindingJSONRPC},
		{"POST", "/", "application/json", `{"method":"weather/now"}`, "", runtime.BindingJSONRPC},
		{"POST", "/", "application/json", `{]`, "", runtime.BindingJSONRPC},
		{"POST", "/", "text/plain", `{"method":"SendMessage"}`, "", ""},
		{"POST", "/message:send", "application/json", `{}`, "SendMessage", runtime.BindingHTTP},
		{"POST", "/acme/message:stream", "application/json", `{}`, "SendStreamingMessage", runtime.BindingHTTP},
		{"POST", "/v1/message:send", "application/json", `{}`, "SendMessage", runtime.BindingHTTP},
		{"GET", "/tasks", "", "", "ListTasks", runtime.BindingHTTP},
		{"GET", "/v1/tasks/7", "", "", "GetTask", runtime.BindingHTTP},
		{"POST", "/tasks/7:cancel", "", "", "CancelTask", runtime.BindingHTTP},
		{"GET", "/tasks/7:subscribe", "", "", "SubscribeToTask", runtime.BindingHTTP},
		{"POST", "/v1/tasks/7:subscribe", "", "", "SubscribeToTask", runtime.BindingHTTP},
		{"POST", "/tasks/7/pushNotificationConfigs", "", "", "CreateTaskPushNotificationConfig", runtime.BindingHTTP},
		{"GET", "/tasks/7/pushNotificationConfigs", "", "", "ListTaskPushNotificationConfigs", runtime.BindingHTTP},
		{"GET", "/tasks/7/pushNotificationConfigs/a", "", "", "GetTaskPushNotificationConfig", runtime.BindingHTTP},
		{"DELETE", "/tasks/7/pushNotificationConfigs/a", "", "", "DeleteTaskPushNotificationConfig", runtime.BindingHTTP},
		{"GET", "/extendedAgentCard", "", "", "GetExtendedAgentCard", runtime.BindingHTTP},
		{"GET", "/v1/card", "", "", "GetExtendedAgentCard", runtime.BindingHTTP},
		{"GET", "/", "", "", "", ""},
		{"POST", "/lf.a2a.v1.A2AService/SendStreamingMessage", "application/grpc", "\x00", "SendStreamingMessage", runtime.BindingGRPC},
		{"POST", "/a2a.v1.A2AService/TaskSubscription", "application/grpc+proto", "\x00", "SubscribeToTask", runtime.BindingGRPC},
	} {
		r, err := http.NewRequest(tt.verb, "http://agent"+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", tt.kind)
		operation, binding := Called(r)
		if operation != tt.operation || binding != tt.binding {
			t.Errorf("%s %s %s: %q over %q", tt.verb, tt.path, tt.body, operation, binding)
		}
		if body, err := io.ReadAll(r.Body); string(body) != tt.body || err != nil {
			t.Errorf("%s: the body is %q by then, %v", tt.path, body, err)
		}
	}
}

// endless gives a body without an end, and counts what is read of it.
type endless struct {
	head string
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.head)
	for i := n; i < len(p); i++ {
		p[i] = ' '
	}
	e.head = e.head[n:]
	e.read += len(p)
	return len(p), nil
}

// TestNoMoreThanTheBudgetIsReadOfABody to find its method.
func TestNoMoreThanTheBudgetIsReadOfABody(t *testing.T) {
	for _, head := range []string{"", `{`, `{"params":`, `{"params":"`, `{"params":[1,`} {
		src := &endless{head: head}
		r, err := http.NewRequest(http.MethodPost, "http://agent/", src)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if operation, _ := Called(r); operation != "" || src.read > maxPeek {
			t.Errorf("%q: %q after %d bytes", head, operation, src.read)
		}
	}
}

// TestReadingGrowsLinearly: for bodies whose method comes late, and for streams that are all line ends.
func TestReadingGrowsLinearly(t *testing.T) {
	for _, unit := range []string{`[`, `{"a":`, `{"a":{},`} {
		growth.Linear(t, 10<<10, func(n int) func() {
			body := `{"params":[` + strings.Repeat(unit, n)
			return func() { _ = methodIn(strings.NewReader(body)) }
		})
	}
	for _, unit := range []string{"\r", "\n", "data", "data:\n\n", ":\r\n\r\n"} {
		growth.Linear(t, 10<<10, func(n int) func() {
			stream := strings.Repeat(unit, n)
			return func() { _ = eventsIn(stream, 1<<10) }
		})
	}
}

// eventsIn cuts a stream that is read in pieces.
func eventsIn(stream string, most int) (events []string) {
	next := cut(strings.NewReader(stream), frames.Scanner{})
	var event []byte
	for {
		piece, ends, err := next(most)
		event = append(event, piece...)
		if ends {
			events, event = append(events, string(event)), nil
		}
		if err != nil {
			return append(events, string(event))
		}
	}
}

// TestEventsAreCutWhereTheyEnd, however they come and whatever lines end with.
func TestEventsAreCutWhereTheyEnd(t *testing.T) {
	for stream, want := range map[string]int{
		"data: 1\n\ndata: 2\n\n":               2,
		": beat\n\n: beat\n\ndata\n\n":         1,
		"id: 1\n\nevent: data\n\ndata: 1\n\n":  1,
		"database: 1\n\ndat\n\n data: 1\n\n":   0,
		"data: 1\ndata: 2\r\n\r\ndata: 3\r\r":  2,
		"data: 1\r\n\r\n\r\n\ndata: 2\r\n\r\n": 2,
		"data: 1\n\ndata: 2":                   1,
		"":                                     0,
	} {
		for most := 1; most < 9; most++ {
			events := eventsIn(stream, most)
			if strings.Join(events, "") != stream || len(events)-1 != want {
				t.Errorf("%q in pieces of %d: %q", stream, most, events)
			}
		}
	}
}

// FuzzEvents: nothing is lost or made up, and an event ends at the same byte however it comes.
func FuzzEvents(f *testing.F) {
	f.Add("data: 1\r\n\r\n: x\n\ndata\n\n", 3)
	f.Fuzz(func(t *testing.T, stream string, most int) {
		whole, pieces := eventsIn(stream, sizeOfPiece), eventsIn(stream, max(1, most%9))
		if strings.Join(pieces, "") != stream || len(whole) != len(pieces) {
			t.Errorf("%q and %q", whole, pieces)
		}
	})
}

// TestMessagesAreCutWhereTheyEnd, the empty ones, too.
func TestMessagesAreCutWhereTheyEnd(t *testing.T) {
	const stream = "\x00\x00\x00\x00\x03abc" + "\x01\x00\x00\x00\x00" + "\x00\x00\x00\x00\x01d" + "\x00\x00"
	for most := 1; most < 20; most++ {
		next := cut(strings.NewReader(stream), frames.Scanner{GRPC: true})
		var got strings.Builder
		for {
			piece, ends, err := next(most)
			got.Write(piece)
			if ends {
				got.WriteByte('|')
			}
			if err != nil {
				break
			}
		}
		if want := "\x00\x00\x00\x00\x03abc|" + "\x01\x00\x00\x00\x00|" + "\x00\x00\x00\x00\x01d|" + "\x00\x00"; got.String() != want {
			t.Errorf("in pieces of %d: %q", most, got.String())
		}
	}
}
