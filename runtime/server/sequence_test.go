package server_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// watched serves an agent whose operation Watch is f.
func watched(t *testing.T, f func(ctx context.Context, in *ping) iter.Seq2[*pong, error], opts ...server.Option) (*server.Server, *httptest.Server) {
	t.Helper()
	cfg := server.Config{Protocol: strange(), Card: readCard(t, testCard), Operations: map[string]server.Operation{"Watch": server.NewStreamOperation(f)}}
	s, err := server.New(cfg, append(opts, server.WithLogger(slog.New(slog.DiscardHandler)))...)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		web.Close()
	})
	return s, web
}

// watch calls Watch.
func watch(ctx context.Context, t *testing.T, web *httptest.Server) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, web.URL+"/rpc", strings.NewReader(`{"jsonrpc":"2.0","id":"w","method":"Watch","params":{"a":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("A2A-Version", "1.0")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	resp, err := web.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func TestStreamsOfOperationsThatTheRuntimeDoesNotKnow(t *testing.T) {
	const head = `data: {"jsonrpc":"2.0","id":"w",`
	tests := []struct {
		name string
		run  func(yield func(*pong, error) bool)
		want string // every line that is not empty, without the details of errors
	}{
		{"items", func(yield func(*pong, error) bool) {
			_ = yield(&pong{`{"b":1}`}, nil) && yield(&pong{"{\n\"b\":2}"}, nil)
		}, head + `"result":{"b":1}}` + "\n" + head + `"result":{ "b":2}}` + "\n"},
		{"nothing", func(func(*pong, error) bool) {}, ""},
		{"an error of the protocol at once", func(yield func(*pong, error) bool) { yield(nil, runtime.ErrTaskNotFound) }, head + `"error":{"code":-32001` + "\n"},
		{"an error after an item", func(yield func(*pong, error) bool) {
			_ = yield(&pong{`{"b":1}`}, nil) && yield(nil, errors.New("secret"))
		}, head + `"result":{"b":1}}` + "\n" + head + `"error":{"code":-32603` + "\n"},
		{"an item that cannot be written", func(yield func(*pong, error) bool) { yield(nil, nil) }, head + `"error":{"code":-32603` + "\n"},
		{"a panic after an item", func(yield func(*pong, error) bool) {
			yield(&pong{`{"b":1}`}, nil)
			panic("secret")
		}, head + `"result":{"b":1}}` + "\n" + head + `"error":{"code":-32603` + "\n"},
		{"items after an error", func(yield func(*pong, error) bool) {
			yield(nil, runtime.ErrTaskNotFound)
			yield(&pong{`{"b":1}`}, nil)
		}, head + `"error":{"code":-32001` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, web := watched(t, func(ctx context.Context, in *ping) iter.Seq2[*pong, error] {
				if in.text != `{"a":1}` {
					t.Errorf("request %s", in.text)
				}
				return tt.run
			})
			resp := watch(t.Context(), t, web)
			if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
				t.Errorf("content type %s", got)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for line := range strings.Lines(string(body)) {
				if before, _, failed := strings.Cut(line, `,"message"`); failed {
					line = before + "\n"
				}
				if line != "\n" {
					got.WriteString(line)
				}
			}
			if diff := cmp.Diff(tt.want, got.String()); diff != "" || strings.Contains(string(body), "secret") {
				t.Errorf("(-want +got):\n%s\n%s", diff, body)
			}
		})
	}
}

// endless yields one item and waits for its context, whose end it reports.
func endless(ended chan<- error) func(ctx context.Context, in *ping) iter.Seq2[*pong, error] {
	return func(ctx context.Context, _ *ping) iter.Seq2[*pong, error] {
		return func(yield func(*pong, error) bool) {
			yield(&pong{"{}"}, nil)
			<-ctx.Done()
			ended <- ctx.Err()
			yield(nil, ctx.Err())
		}
	}
}

func TestAStreamOfOnesOwnEndsWithItsClientItsServerAndItsTime(t *testing.T) {
	t.Run("the client leaves", func(t *testing.T) {
		ended := make(chan error, 1)
		_, web := watched(t, endless(ended))
		ctx, cancel := context.WithCancel(t.Context())
		resp := watch(ctx, t, web)
		if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Run("the server shuts down", func(t *testing.T) {
		ended := make(chan error, 1)
		s, web := watched(t, endless(ended))
		resp := watch(t.Context(), t, web)
		body := bufio.NewReader(resp.Body)
		if _, err := body.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if rest, err := io.ReadAll(body); err != nil || strings.TrimSpace(string(rest)) != "" {
			t.Errorf("%q, %v", rest, err)
		}
	})
	t.Run("the time is over", func(t *testing.T) {
		ended := make(chan error, 1)
		_, web := watched(t, endless(ended), server.WithLimits(server.Limits{Timeout: 30 * time.Millisecond}))
		body, err := io.ReadAll(watch(t.Context(), t, web).Body)
		if err != nil || !strings.Contains(string(body), `"code":-32603`) {
			t.Errorf("%s, %v", body, err)
		}
		if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestASilentStreamOfOnesOwnHasHeartbeats(t *testing.T) {
	ended := make(chan error, 1)
	_, web := watched(t, endless(ended), server.WithLimits(server.Limits{Heartbeat: 10 * time.Millisecond}))
	ctx, cancel := context.WithCancel(t.Context())
	body := bufio.NewScanner(watch(ctx, t, web).Body)
	for beats := 0; beats < 2 && body.Scan(); {
		if strings.HasPrefix(body.Text(), ":") {
			beats++
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestStreamsOfOnesOwnCountAmongTheOpenOnes(t *testing.T) {
	ended := make(chan error, 1)
	_, web := watched(t, endless(ended), server.WithLimits(server.Limits{Streams: 1}))
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := bufio.NewReader(watch(ctx, t, web).Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(watch(t.Context(), t, web).Body); err != nil || !strings.Contains(string(body), "too many open streams") {
		t.Errorf("%s, %v", body, err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
