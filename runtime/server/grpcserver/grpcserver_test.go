package grpcserver_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

func echo() server.Skill {
	return run("echo", func(_ context.Context, t *server.Task) (string, error) {
		return "", t.Reply(runtime.Text("you said " + t.Text()))
	})
}

func count() server.Skill {
	return run("count", func(_ context.Context, t *server.Task) (string, error) {
		w := t.Stream("numbers")
		for _, n := range []string{"one ", "two ", "three "} {
			if _, err := io.WriteString(w, n); err != nil {
				return "", err
			}
		}
		return "", w.Close()
	})
}

// R155: the version that clients of 1.0 ask for is metadata.
func TestACallIsAnswered(t *testing.T) {
	c := start(t, []server.Skill{echo()}).dial()
	got, err := call(t.Context(), c, "SendMessage", message("hello"))
	if err != nil || !strings.Contains(got, "you said hello") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAStreamIsAnswered(t *testing.T) {
	c := start(t, []server.Skill{count()}).dial()
	st, err := open(t.Context(), c, "SendStreamingMessage", message("go"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for {
		m, err := next(st)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	whole := strings.Join(all, "\n")
	if !strings.HasPrefix(whole, `{"task":`) || !strings.Contains(whole, "three") || !strings.Contains(all[len(all)-1], "COMPLETED") {
		t.Errorf("%s", whole)
	}
}

// R160.
func TestErrorsHaveACodeAndDetails(t *testing.T) {
	c := start(t, []server.Skill{echo()}).dial()
	_, err := call(t.Context(), c, "GetTask", `{"id":"none"}`)
	s, _ := status.FromError(err)
	if s.Code() != codes.NotFound || s.Message() != "Task not found" || len(s.Proto().GetDetails()) != 1 {
		t.Errorf("%v with %v", err, s.Proto().GetDetails())
	}
	if _, err = call(t.Context(), c, "Nothing", `{}`); status.Code(err) != codes.Unimplemented {
		t.Errorf("an unknown method: %v", err)
	}
}

func TestAllBindingsShareThePort(t *testing.T) {
	a := start(t, []server.Skill{echo()})
	c := a.dial()
	if _, err := call(t.Context(), c, "SendMessage", message("hello")); err != nil {
		t.Error(err)
	}
	for name, protocols := range map[string]*http.Protocols{"HTTP/1.1": one(true), "HTTP/2.0": one(false)} {
		web := &http.Client{Transport: &http.Transport{Protocols: protocols}}
		body := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + message("hello") + `}`
		for range 2 {
			resp, err := web.Post("http://"+a.addr+"/rpc", "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			b, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.Proto != name || !strings.Contains(string(b), "you said hello") {
				t.Errorf("%s: %s", resp.Proto, b)
			}
		}
		web.CloseIdleConnections()
	}
}

// one is HTTP/1 or, in clear text, HTTP/2.
func one(first bool) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(first)
	p.SetUnencryptedHTTP2(!first)
	return p
}

func TestConnectionsThatSayNothingHoldNothingUp(t *testing.T) {
	a := start(t, []server.Skill{echo()})
	for _, first := range []string{"", "P", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"} {
		c, err := net.Dial("tcp", a.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := io.WriteString(c, first); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := call(t.Context(), a.dial(), "SendMessage", message("hello")); err != nil {
		t.Error(err)
	}
}
