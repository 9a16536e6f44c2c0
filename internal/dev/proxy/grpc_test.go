package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// overHTTP2 starts a server that speaks HTTP/2 without TLS.
func overHTTP2(t *testing.T, h http.Handler) *process {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return &process{s}
}

// part is a field that is bytes, a text or a message.
func part(number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
}

// event is an item of a stream about task "t 1", with a state.
func grpcEvent(number protowire.Number, state uint64) []byte {
	status := protowire.AppendVarint(protowire.AppendTag(nil, fieldState, protowire.VarintType), state)
	return message(part(number, append(part(fieldID, []byte("t 1")), part(fieldStatus, status)...)))
}

// callGRPC makes a call, and returns its messages, and its status.
func callGRPC(t *testing.T, url, path string, body []byte) (got []byte, status string) {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	r, err := http.NewRequest(http.MethodPost, url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/grpc")
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if got, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	return got, resp.Header.Get("Grpc-Status") + resp.Trailer.Get("Grpc-Status")
}

// ok answers with messages of gRPC and a good status.
func ok(w http.ResponseWriter, messages ...[]byte) {
	w.Header().Set("Content-Type", "application/grpc")
	for _, m := range messages {
		_, _ = w.Write(m)
	}
	w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
}

// TestAStreamOfGRPCIsTakenUpOnTheNextProcess by the subscription of its version; and where the task has ended
// meanwhile, the task as it stands ends it.
func TestAStreamOfGRPCIsTakenUpOnTheNextProcess(t *testing.T) {
	working, completed := grpcEvent(fieldTask, 2), grpcEvent(fieldStatus, 3)
	task := []byte("the task as it is")
	for name, tt := range map[string]struct {
		path, asked string
		body        []byte
		over        bool
		want        []byte
	}{
		"1.0": {
			path: "/lf.a2a.v1.A2AService/SendStreamingMessage", body: message(part(1, []byte("acme"))),
			asked: fmt.Sprintf("/lf.a2a.v1.A2AService/SubscribeToTask %q", message(append(part(1, []byte("acme")), part(2, []byte("t 1"))...))), want: completed,
		},
		"0.3": {
			path: "/a2a.v1.A2AService/SendStreamingMessage", body: message(part(1, []byte("message"))),
			asked: fmt.Sprintf("/a2a.v1.A2AService/TaskSubscription %q", message(part(1, []byte("tasks/t 1")))), want: completed,
		},
		"ended": {
			path: "/lf.a2a.v1.A2AService/SendStreamingMessage", body: message(nil), over: true,
			asked: fmt.Sprintf("/lf.a2a.v1.A2AService/GetTask %q", message(part(2, []byte("t 1")))), want: message(part(fieldTask, task)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := New()
			front := overHTTP2(t, f)
			began, asked := make(chan struct{}, 1), make(chan string, 2)
			old := overHTTP2(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/grpc")
				_, _ = w.Write(working)
				_, _ = w.Write(completed[:7]) // half of one
				_ = http.NewResponseController(w).Flush()
				began <- struct{}{}
				<-r.Context().Done()
			}))
			f.Switch(old.addr())
			next := overHTTP2(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				_, method := lastSegment(r.URL.Path)
				switch {
				case method == "GetTask":
					ok(w, message(task))
				case tt.over:
					w.Header().Set("Content-Type", "application/grpc")
					w.Header().Set("Grpc-Status", "9")
					return
				default:
					ok(w, completed)
				}
				asked <- fmt.Sprintf("%s %q", r.URL.Path, body)
			}))
			go func() {
				<-began
				f.Hold()
				old.kill()
				f.Switch(next.addr())
			}()
			got, status := callGRPC(t, front.URL, tt.path, tt.body)
			if want := append(bytes.Clone(working), tt.want...); !bytes.Equal(got, want) || status != "0" {
				t.Errorf("got  %q, %s\nwant %q", got, status, want)
			}
			if r := <-asked; r != tt.asked {
				t.Errorf("asked %s\nwant  %s", r, tt.asked)
			}
		})
	}
}

// TestACallOfGRPCIsMadeAgain when its process says that it shuts down.
func TestACallOfGRPCIsMadeAgain(t *testing.T) {
	f := New()
	front := overHTTP2(t, f)
	began, stop := make(chan struct{}), make(chan struct{})
	f.Switch(overHTTP2(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(began)
		<-stop
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Grpc-Status", "14")
	})).addr())
	go func() {
		<-began
		f.Hold()
		close(stop)
		f.Switch(overHTTP2(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { ok(w, message([]byte("new"))) })).addr())
	}()
	got, status := callGRPC(t, front.URL, "/lf.a2a.v1.A2AService/GetTask", message(nil))
	if !bytes.Equal(got, message([]byte("new"))) || status != "0" {
		t.Errorf("%q, %s", got, status)
	}
}
