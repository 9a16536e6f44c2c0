package grpcclient_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// card has interfaces, each as URL, binding and version.
func card(t *testing.T, interfaces ...string) *a2a.AgentCard {
	t.Helper()
	var list []string
	for _, i := range interfaces {
		f := strings.Fields(i)
		list = append(list, `{"url":"`+f[0]+`","protocolBinding":"`+f[1]+`","protocolVersion":"`+f[2]+`"}`)
	}
	c, err := a2a.Protocol().DecodeCard([]byte(`{"name":"Test","description":"d","version":"1","supportedInterfaces":[` + strings.Join(list, ",") + `],
		"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	return c.Generated().(*a2a.AgentCard)
}

func dial(t *testing.T, address string, binding []grpcclient.Option, opts ...client.Option) *a2aclient.Client {
	t.Helper()
	return dialCard(t, card(t, address+" GRPC 1.0"), binding, opts...)
}

func dialCard(t *testing.T, card *a2a.AgentCard, binding []grpcclient.Option, opts ...client.Option) *a2aclient.Client {
	t.Helper()
	c, err := a2aclient.FromCard(card, append(opts, client.Use(grpcclient.Binding(binding...)))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func hello() *a2a.SendMessageRequest {
	return &a2a.SendMessageRequest{Message: &a2a.Message{MessageID: "m0", Role: a2a.RoleUser, Parts: []*a2a.Part{{Content: a2a.PartText("hi")}}}}
}

// agent serves an agent over gRPC until the test ends, and returns its address.
func agent(t *testing.T, config *tls.Config) string {
	t.Helper()
	p := a2a.Protocol()
	text := server.Skill{ID: "chat", Name: "chat", Run: func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		return []byte("you said " + t.Text()), nil
	}}
	decoded := asCard(t, card(t, "https://localhost/rpc JSONRPC 1.0"))
	s, err := server.New(server.Config{Protocol: p, Card: decoded, Skills: []server.Skill{text}}, server.WithLogger(slog.New(slog.DiscardHandler)), grpcserver.Serve())
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if config != nil {
		ln = tls.NewListener(ln, config)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return ln.Addr().String()
}

// asCard is a generated card as the runtime sees it.
func asCard(t *testing.T, c *a2a.AgentCard) runtime.Card {
	t.Helper()
	client, err := a2aclient.FromCard(c)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	return client.RPC().Card()
}

func TestMetadataAreTheServiceParameters(t *testing.T) {
	var got metadata.MD
	var left time.Duration
	addr := failing(t, status.New(codes.NotFound, "Task not found"), func(ctx context.Context) {
		got, _ = metadata.FromIncomingContext(ctx)
		deadline, _ := ctx.Deadline()
		left = time.Until(deadline)
	})
	c := dial(t, addr, []grpcclient.Option{grpcclient.Gzip()}, client.DefaultHeader("Authorization", "Bearer x"), client.DefaultExtensions("https://e.example/1"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if _, err := c.SendMessage(ctx, hello(), client.Header("X-Trace", "7"), client.Header("Connection", "close")); !errors.Is(err, runtime.ErrTaskNotFound) {
		t.Error(err)
	}
	for key, want := range map[string]string{"a2a-version": "1.0", "a2a-extensions": "https://e.example/1", "authorization": "Bearer x", "x-trace": "7", "connection": ""} {
		if value := strings.Join(got.Get(key), ", "); value != want {
			t.Errorf("%s is %q", key, value)
		}
	}
	if left < 30*time.Minute || left > time.Hour {
		t.Errorf("the agent has %v", left)
	}
}

func TestRequestsMayBeCompressed(t *testing.T) {
	c := dial(t, agent(t, nil), []grpcclient.Option{grpcclient.Gzip()})
	if answer, err := c.SendMessage(t.Context(), hello()); err != nil {
		t.Errorf("%v, %v", answer, err)
	}
}

// TestTLS is used where the address, the card, a port or an option says so.
func TestTLS(t *testing.T) {
	certificate, pool := selfSigned(t)
	addr := agent(t, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"}})
	trust := grpcclient.TLS(&tls.Config{RootCAs: pool})
	for _, url := range []string{"https://" + addr, "grpcs://" + addr + "/a2a/grpc", addr, "dns:///" + addr} {
		c := dial(t, url, []grpcclient.Option{trust})
		if _, err := c.SendMessage(t.Context(), hello()); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	c := dial(t, "https://"+addr, nil, client.Policy(client.CallPolicy{Attempts: 1}))
	if _, err := c.SendMessage(t.Context(), hello()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate that nobody vouches for: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"a.example:50051": false, "a.example:443": true, "a.example": false, "[::1]:50051": false, "https://a.example/x/y": true, "https://a.example:8443": true,
		"http://a.example:80": false, "grpc://a.example:1": false, "grpcs://a.example": true, "dns:///a.example:1": false, "dns://8.8.8.8/a.example:443": true, "dns:a.example:1": false, "a.example:50051/": false,
	} {
		conn, err := grpcclient.Binding().Connect(client.Target{URL: address})
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if conn.Secure() != want {
			t.Errorf("%s is encrypted: %v", address, conn.Secure())
		}
		conn.Close()
	}
	for _, address := range []string{"", "/rpc", "ftp://a.example", "https://", "https://u:p@a.example", "a b:1", "a.example:http", ":443", "unix:///tmp/x", "http://a.example:x"} {
		if conn, err := grpcclient.Binding().Connect(client.Target{URL: address}); err == nil {
			conn.Close()
			t.Errorf("%q is taken for an address", address)
		}
	}
}

// TestAnOpenAddressIsEncryptedLikeItsHost, unless an option says otherwise.
func TestAnOpenAddressIsEncryptedLikeItsHost(t *testing.T) {
	const grpc, rest = "a.example:8443 GRPC 1.0", "https://a.example:8443/rest HTTP+JSON 1.0"
	for name, tt := range map[string]struct {
		card []string
		opts []grpcclient.Option
		want bool
	}{
		"alone":                        {[]string{grpc}, nil, false},
		"beside https":                 {[]string{grpc, rest}, nil, true},
		"beside https, without a port": {[]string{"a.example GRPC 1.0", "https://a.example/rest HTTP+JSON 1.0"}, nil, true},
		"beside another host's":        {[]string{grpc, "https://b.example:8443/ JSONRPC 1.0"}, nil, false},
		"beside http":                  {[]string{grpc, "http://a.example:8443/ JSONRPC 1.0"}, nil, false},
		"against https":                {[]string{grpc, rest}, []grpcclient.Option{grpcclient.ClearText()}, false},
		"with certificates":            {[]string{grpc}, []grpcclient.Option{grpcclient.TLS(&tls.Config{})}, true},
		"a URL that says it is not":    {[]string{"http://a.example:8443 GRPC 1.0", rest}, []grpcclient.Option{grpcclient.TLS(&tls.Config{})}, false},
	} {
		b := &spy{Binding: grpcclient.Binding(tt.opts...)}
		c, err := a2aclient.FromCard(card(t, tt.card...), client.Use(b))
		if err != nil {
			t.Fatal(err)
		}
		if b.conn.Secure() != tt.want {
			t.Errorf("%s: encrypted %v", name, b.conn.Secure())
		}
		c.Close()
	}
}

// spy keeps the connection that a binding made.
type spy struct {
	client.Binding
	conn client.Conn
}

func (s *spy) Connect(t client.Target) (conn client.Conn, err error) {
	s.conn, err = s.Binding.Connect(t)
	return s.conn, err
}

// TestErrorsAreReadHoweverTheyAreTold: patch levels and versions each have their own codes (T9).
func TestErrorsAreReadHoweverTheyAreTold(t *testing.T) {
	info := &errdetails.ErrorInfo{Reason: "TASK_NOT_CANCELABLE", Domain: runtime.ErrorDomain, Metadata: map[string]string{"taskId": "t", "detail": "over"}}
	bad := &errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "a.b", Description: "c"}}}
	retry := &errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)}
	for _, tt := range []struct {
		name    string
		code    codes.Code
		message string
		details []protoadapt.MessageV1
		want    error
		text    string
	}{
		{"1.0.1", codes.FailedPrecondition, "no", []protoadapt.MessageV1{protoadapt.MessageV1Of(info)}, runtime.ErrTaskNotCancelable, "no: over (TASK_NOT_CANCELABLE) [-32002]"},
		{"a code of another table", codes.Unimplemented, "no", []protoadapt.MessageV1{protoadapt.MessageV1Of(retry), protoadapt.MessageV1Of(info)}, runtime.ErrTaskNotCancelable, "[-32002]"},
		{"violations", codes.InvalidArgument, "no", []protoadapt.MessageV1{protoadapt.MessageV1Of(bad)}, runtime.ErrInvalidParams, "no; a.b: c (INVALID_PARAMS)"},
		{"0.3 in Python", codes.Unimplemented, "PushNotificationNotSupportedError: none here", nil, runtime.ErrPushNotificationNotSupported, "none here"},
		{"words", codes.NotFound, "Task not found", nil, runtime.ErrTaskNotFound, "Task not found"},
		{"0.3 in Go", codes.NotFound, "failed to load: no such task", nil, runtime.ErrTaskNotFound, "no such task"},
		{"0.3 in JavaScript", codes.NotFound, "there is no t1", nil, runtime.ErrTaskNotFound, "there is no t1"},
		{"a bad argument", codes.InvalidArgument, "what?", nil, runtime.ErrInvalidParams, "what?"},
		{"nothing that is known", codes.PermissionDenied, "go\x00 away", nil, nil, "gRPC PermissionDenied: go away"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := status.New(tt.code, tt.message)
			if len(tt.details) > 0 {
				var err error
				if s, err = s.WithDetails(tt.details...); err != nil {
					t.Fatal(err)
				}
			}
			c := dial(t, failing(t, s, nil), nil)
			_, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"})
			var said *grpcclient.StatusError
			if tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) || !errors.As(err, &said) || status.Code(err) != tt.code {
				t.Errorf("call: %v", err)
			}
			for _, err := range c.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: "t1"}) {
				if tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("stream: %v", err)
				}
			}
		})
	}
}

// TestPingsAreHeartbeats: a stream on which nothing happens lives as long as its server says so.
func TestPingsAreHeartbeats(t *testing.T) {
	t.Parallel()
	table := a2a.Protocol().Versions[0].Over(runtime.BindingGRPC)
	var subscriptions atomic.Int32
	handler := func(_ any, stream grpc.ServerStream) error {
		subscriptions.Add(1)
		for _, text := range []string{
			`{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}`,
			`{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}}`,
		} {
			event, err := a2a.Protocol().Versions[0].ReadEvent([]byte(text))
			if err != nil {
				return err
			}
			b, err := table.AppendEvent(nil, event)
			if err != nil {
				return err
			}
			if err := stream.SendMsg(&b); err != nil {
				return err
			}
			select {
			case <-time.After(2500 * time.Millisecond):
			case <-stream.Context().Done():
			}
		}
		return nil
	}
	pings := keepalive.ServerParameters{Time: time.Second} // no more often, says grpc-go
	addr := serveCalls(t, handler, grpc.ForceServerCodecV2(raw{}), grpc.KeepaliveParams(pings))
	n := 0
	c := dial(t, addr, nil, client.IdleTimeout(2*time.Second))
	for _, err := range c.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: "t1"}) {
		if n++; err != nil {
			t.Error(err)
		}
		c.Close() // which ends no call that is under way
	}
	if n != 2 || subscriptions.Load() != 1 {
		t.Errorf("%d events of %d subscriptions", n, subscriptions.Load())
	}
}

// raw is a codec of bytes.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// failing serves calls that end with a status. seen is called with every one.
func failing(t *testing.T, s *status.Status, seen func(context.Context)) string {
	t.Helper()
	return serveCalls(t, func(_ any, stream grpc.ServerStream) error {
		if seen != nil {
			seen(stream.Context())
		}
		return s.Err()
	})
}

// serveCalls serves all calls by one handler until the test ends.
func serveCalls(t *testing.T, handler grpc.StreamHandler, opts ...grpc.ServerOption) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := grpc.NewServer(append(opts, grpc.UnknownServiceHandler(handler))...)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	t.Cleanup(func() {
		srv.Stop()
		<-done
	})
	return ln.Addr().String()
}

// TestAnotherInterfaceStandsInWhereGRPCIsDown, and only where nothing was sent.
func TestAnotherInterfaceStandsInWhereGRPCIsDown(t *testing.T) {
	addr := agent(t, nil)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	down := ln.Addr().String() + " GRPC 1.0"
	c := dialCard(t, card(t, down, "http://"+addr+"/rpc JSONRPC 1.0"), nil)
	if _, err := c.SendMessage(t.Context(), hello()); err != nil || c.RPC().Interface().Binding != "JSONRPC" {
		t.Errorf("%v, over %v", err, c.RPC().Interface())
	}
	for _, err := range c.SendStreamingMessage(t.Context(), hello()) {
		if err != nil {
			t.Error(err)
		}
	}
	unfit := dialCard(t, card(t, "https://"+addr+"/rpc JSONRPC 1.0", "http://"+addr+" GRPC 1.0"), nil)
	if _, err := unfit.SendMessage(t.Context(), hello()); err == nil {
		t.Error("it was sent in clear text")
	}
	cut := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	c = dialCard(t, card(t, cut.Listener.Addr().String()+" GRPC 1.0", "http://"+addr+"/rpc JSONRPC 1.0"), nil)
	if _, err := c.SendMessage(t.Context(), hello()); err == nil || c.RPC().Interface().Binding != "GRPC" {
		t.Errorf("after a request was sent: %v, over %v", err, c.RPC().Interface())
	}
}

func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	web := httptest.NewTLSServer(http.NotFoundHandler()) // whose certificate is for 127.0.0.1
	t.Cleanup(web.Close)
	pool := x509.NewCertPool()
	pool.AddCert(web.Certificate())
	return web.TLS.Certificates[0], pool
}

// late is a context whose deadline is over, and that does not say so yet.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now().Add(-time.Second), true }

// TestADeadlineIsTheCallersWhoeverSeesItFirst: grpc-go looks at the clock, a context waits for its timer.
func TestADeadlineIsTheCallersWhoeverSeesItFirst(t *testing.T) {
	c := dial(t, agent(t, nil), nil)
	if _, err := c.GetTask(late{t.Context()}, &a2a.GetTaskRequest{ID: "t1"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("call: %v", err)
	}
	for _, err := range c.SubscribeToTask(late{t.Context()}, &a2a.SubscribeToTaskRequest{ID: "t1"}) {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("stream: %v", err)
		}
	}
}
