package a2atest_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/a2a/a2aclient"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/testkit/a2atest"
)

// guarded is the card of an agent that demands a key.
const guarded = `{"name":"Guarded","description":"x","version":"1","supportedInterfaces":[{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
	"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
	"securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}}},"securityRequirements":[{"schemes":{"key":{"list":[]}}}],
	"skills":[{"id":"chat","name":"Chat","description":"x","tags":["x"]}]}`

// newServer is as the NewServer of a generated agent.
func newServer(run func(context.Context, *server.Task) (string, error), opts ...server.Option) (*server.Server, error) {
	protocol := a2a.ServerProtocol()
	card, err := protocol.DecodeCard([]byte(guarded))
	if err != nil {
		return nil, err
	}
	return server.New(server.Config{Protocol: protocol, Card: card, Skills: []server.Skill{{
		ID: "chat", Name: "Chat", Run: func(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
			out, err := run(ctx, t)
			return []byte(out), err
		},
	}}}, opts...)
}

func TestAnAgentOfOnesOwnIsServedInItsTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := newServer(func(ctx context.Context, _ *server.Task) (string, error) {
			time.Sleep(30 * time.Minute)
			return "Hello, " + server.CallerFrom(ctx).ID, nil
		}, a2atest.ServerOptions(t)...)
		if err != nil {
			t.Fatal(err)
		}
		a := a2atest.Serve(t, srv)
		c, err := a2aclient.New(t.Context(), a.URL(), a.Options()...)
		if err != nil {
			t.Fatal(err)
		}
		if i := c.RPC().Interface(); i.URL != "https://agent.test/" {
			t.Errorf("the card says %s", i.URL)
		}
		if r, err := chat.Call(t.Context(), c.RPC(), "hi"); err != nil || r.Text() != "Hello, "+a2atest.Tester {
			t.Errorf("%v, %v", r, err)
		}
	})
}

// What a test leaves at work ends with it.
func TestAHandlerAtWorkIsCanceledAtTheEnd(t *testing.T) {
	ended := make(chan error, 1)
	got := record(t, func(tb testing.TB) {
		begun := make(chan struct{})
		srv, err := newServer(func(ctx context.Context, _ *server.Task) (string, error) {
			close(begun)
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return "", ctx.Err()
		}, a2atest.ServerOptions(tb)...)
		if err != nil {
			t.Fatal(err)
		}
		a := a2atest.Serve(tb, srv)
		c, err := a2aclient.New(tb.Context(), a.URL(), a.Options()...)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = chat.Call(context.Background(), c.RPC(), "hi", rpc.PolicyCall(rpc.CallPolicy{Attempts: 1}))
		}()
		<-begun
	})
	if err := <-ended; err == nil || len(got) != 0 {
		t.Errorf("%v, %v", err, got)
	}
}

func TestTheStackOfAPanicIsReadableInTheLogOfTheTest(t *testing.T) {
	var log strings.Builder
	record(t, func(tb testing.TB) {
		tb.(*recorder).log = &log
		srv, err := newServer(func(context.Context, *server.Task) (string, error) { panic("oops") }, a2atest.ServerOptions(tb)...)
		if err != nil {
			t.Fatal(err)
		}
		a := a2atest.Serve(tb, srv)
		c, err := a2aclient.New(tb.Context(), a.URL(), a.Options()...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := chat.Call(tb.Context(), c.RPC(), "hi"); err == nil {
			t.Error("a handler that panics answered")
		}
	})
	line, stack, _ := strings.Cut(log.String(), "\ngoroutine ")
	if !strings.Contains(line, "panic=oops") || strings.Contains(line, "stack=") || !strings.Contains(stack, "\n\t") ||
		!strings.Contains(stack, "/agent_test.go:") {
		t.Errorf("the log is:\n%s", log.String())
	}
}

func TestAnAgentThatHasEndedIsNotReached(t *testing.T) {
	var a *a2atest.Agent
	record(t, func(tb testing.TB) { a = a2atest.Serve(tb, http.NotFoundHandler()) })
	if _, err := a.HTTPClient().Get(a.URL()); err == nil || !strings.Contains(err.Error(), `the agent "agent" has ended with its test`) {
		t.Errorf("%v", err)
	}
}

func TestAServerThatWasNotMadeIsReported(t *testing.T) {
	var said string
	got := record(t, func(tb testing.TB) {
		var srv *server.Server
		said = here(1)
		a2atest.Serve(tb, srv)
	})
	wantReports(t, got, []string{said + ": a2atest: ", `the handler of the agent "agent" is nil`})
}

func TestAnAgentSpeaksHTTP2InClearText(t *testing.T) {
	a := a2atest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }))
	transport := &http.Transport{DialContext: a.Dial, Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get("http://agent.test/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); string(b) != "HTTP/2.0" {
		t.Errorf("%s", b)
	}
}
