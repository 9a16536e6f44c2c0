package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/test/bufconn"
)

// serving serves on a port of its own, and returns its address.
func serving(t *testing.T, s *Server) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

// speaking2 is a client of HTTP/2 in clear text.
func speaking2(t *testing.T) *http.Client {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	tr := &http.Transport{Protocols: p}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// A stream over HTTP/2 may be silent for longer than a reader may take nothing. The clock is the test's.
func TestASilentStreamOverHTTP2Lives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const stall = time.Second
		s := hosted(t, func(_ context.Context, t *Task) (string, error) {
			if err := t.Progress("working"); err != nil {
				return "", err
			}
			time.Sleep(4 * stall)
			return "done", nil
		}, Limits{Stall: stall, Heartbeat: time.Minute})
		ln := bufconn.Listen(64 << 10)
		defer servedInMemory(t, s, ln, false)()
		p := new(http.Protocols)
		p.SetUnencryptedHTTP2(true)
		tr := &http.Transport{Protocols: p, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return ln.DialContext(ctx) }}
		defer tr.CloseIdleConnections()
		resp, err := (&http.Client{Transport: tr}).Post("http://localhost", "application/json", strings.NewReader(sendStream))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(bufio.NewReader(resp.Body))
		if err != nil || resp.ProtoMajor != 2 || !bytes.Contains(b, []byte("COMPLETED")) {
			t.Errorf("%s: %v in %s", resp.Proto, err, b)
		}
	})
}

// A request that is refused before its body is read does not end a connection that others use, too.
func TestARefusalOverHTTP2LeavesTheConnection(t *testing.T) {
	t.Parallel()
	nobody := WithProxyIdentity(func(r *http.Request) (string, error) {
		if r.Header.Get("Authorization") == "" {
			return "", errors.New("nobody")
		}
		return "ann", nil
	})
	s := hosted(t, func(context.Context, *Task) (string, error) { return "done", nil }, Limits{}, nobody)
	web, addr := speaking2(t), serving(t, s)
	used := map[bool]int{}
	for _, who := range []string{"", "ann", "", "ann"} {
		trace := &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { used[i.Reused]++ }}
		ctx := httptrace.WithClientTrace(t.Context(), trace)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr, strings.NewReader(sendStream))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if who != "" {
			req.Header.Set("Authorization", who)
		}
		resp, err := web.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if (resp.StatusCode == http.StatusOK) != (who != "") {
			t.Errorf("%q: %s", who, resp.Status)
		}
	}
	if used[true] != 3 {
		t.Errorf("%d of 4 requests came over the first one's connection", used[true])
	}
}

// A client that takes nothing of an answer over HTTP/2 loses it, whatever the answer is.
func TestAnAnswerOverHTTP2ThatNobodyTakesEnds(t *testing.T) {
	t.Parallel()
	s := hosted(t, func(context.Context, *Task) (string, error) { return "done", nil }, Limits{Stall: 200 * time.Millisecond})
	c, err := net.Dial("tcp", serving(t, s))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	f := http2.NewFramer(c, c)
	var headers bytes.Buffer
	enc := hpack.NewEncoder(&headers)
	for _, h := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":path", CardPath}, {":authority", "localhost"}} {
		if err := enc.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}), f.WriteHeaders(
		http2.HeadersFrameParam{StreamID: 1, BlockFragment: headers.Bytes(), EndHeaders: true, EndStream: true})); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := frame.(*http2.RSTStreamFrame); ok {
			return
		}
	}
}
