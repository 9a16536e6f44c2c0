package grpcserver_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/test/testcert"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testCard = `{"name":"Test","description":"for tests","version":"1.0.0","supportedInterfaces":[{"url":"http://localhost/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
	"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`

// agent is an agent on a port of its own.
type agent struct {
	*server.Server
	t    testing.TB
	addr string
	stop func() // waits until the port is closed
}

// newServer makes a server that speaks all versions.
func newServer(t testing.TB, card string, skills []server.Skill, opts ...server.Option) *server.Server {
	t.Helper()
	p := a2awires.Protocol()
	read, err := p.DecodeCard([]byte(card))
	if err != nil {
		t.Fatal(err)
	}
	opts = append([]server.Option{server.WithLogger(slog.New(slog.DiscardHandler)), grpcserver.Serve()}, opts...)
	s, err := server.New(server.Config{Protocol: p, Card: read, Skills: skills}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start serves skills until the test ends.
func start(t testing.TB, skills []server.Skill, opts ...server.Option) *agent {
	t.Helper()
	return startCard(t, testCard, skills, opts...)
}

// startCard is start with a card of one's own.
func startCard(t testing.TB, card string, skills []server.Skill, opts ...server.Option) *agent {
	t.Helper()
	s := newServer(t, card, skills, opts...)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(stop)
	return &agent{s, t, ln.Addr().String(), stop}
}

// mounted serves skills in an http.Server of somebody's own, without limits, until the test ends.
func mounted(t testing.TB, card string, skills []server.Skill, opts ...server.Option) *agent {
	t.Helper()
	s := newServer(t, card, skills, opts...)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &http.Server{Handler: s, Protocols: new(http.Protocols)}
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetUnencryptedHTTP2(true)
	served := make(chan error, 1)
	go func() { served <- h.Serve(ln) }()
	stop := sync.OnceFunc(func() {
		if err := errors.Join(h.Close(), s.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
		<-served
	})
	t.Cleanup(stop)
	return &agent{s, t, ln.Addr().String(), stop}
}

// dial connects to the agent.
func (a *agent) dial(opts ...grpc.DialOption) *grpc.ClientConn {
	a.t.Helper()
	opts = append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(raw{})),
	}, opts...)
	c, err := grpc.NewClient("passthrough:///"+a.addr, opts...)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = c.Close() })
	return c
}

// trusting is what trusts a pair.
func trusting(pair testcert.Pair) *tls.Config {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pair.Cert)
	return &tls.Config{RootCAs: pool}
}

// secure is for dialing over TLS.
func secure(pair testcert.Pair) grpc.DialOption {
	return grpc.WithTransportCredentials(credentials.NewTLS(trusting(pair)))
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

// wireOf is the protobuf of a version.
func wireOf(t testing.TB, version string) *runtime.Table {
	t.Helper()
	for _, v := range a2awires.Protocol().Versions {
		if v.Name == version {
			return v.Over(runtime.BindingGRPC)
		}
	}
	t.Fatalf("no version %s", version)
	return nil
}

// operation is a row of a version's protobuf.
func operation(t testing.TB, version string, role runtime.Role) *runtime.Operation {
	t.Helper()
	for _, op := range wireOf(t, version).Operations {
		if op.Role == role {
			return op
		}
	}
	t.Fatalf("%s has no role %d", version, role)
	return nil
}

// send makes a call of one answer.
func send(ctx context.Context, c *grpc.ClientConn, op *runtime.Operation, request any, opts ...grpc.CallOption) (any, error) {
	in, err := op.AppendRequest(nil, request)
	if err != nil {
		return nil, err
	}
	var out []byte
	if err := c.Invoke(ctx, op.GRPC, &in, &out, opts...); err != nil {
		return nil, err
	}
	return op.Read(out)
}

// stream is an open stream of a version.
type stream struct {
	grpc.ClientStream
	table *runtime.Table
}

// open makes a call whose answer is a stream.
func open(ctx context.Context, t testing.TB, c *grpc.ClientConn, version string, role runtime.Role, request any, opts ...grpc.CallOption) *stream {
	t.Helper()
	op := operation(t, version, role)
	st, err := c.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, op.GRPC, opts...)
	if err != nil {
		t.Fatal(err)
	}
	in, err := op.AppendRequest(nil, request)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(st.SendMsg(&in), st.CloseSend()); err != nil {
		t.Fatal(err)
	}
	return &stream{st, wireOf(t, version)}
}

// next returns the next event.
func (s *stream) next() (runtime.Event, error) {
	var out []byte
	if err := s.RecvMsg(&out); err != nil {
		return nil, err
	}
	return s.table.ReadEvent(out)
}

// rest returns all events up to the end.
func (s *stream) rest() (all []runtime.Event, err error) {
	for {
		e, err := s.next()
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return all, err
		}
		all = append(all, e)
	}
}

// run makes a skill of a function.
func run(id string, f func(ctx context.Context, t *server.Task) (string, error)) server.Skill {
	return server.Skill{ID: id, Name: id, Run: func(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
		out, err := f(ctx, t)
		return []byte(out), err
	}}
}

// message is the request to send a text.
func message(text string) any { return messageTo("", text) }

// messageTo is message for a task that is there.
func messageTo(task, text string) any {
	p := a2awires.Protocol()
	return p.NewSend(runtime.SendRequest{Message: p.NewMessage(runtime.MessageData{
		MessageInfo: runtime.MessageInfo{ID: "m1", TaskID: task, User: true}, Parts: []runtime.Part{runtime.Text(text)},
	})})
}

// taskRequest is the request for a task.
func taskRequest(role runtime.Role, id string) any {
	return a2awires.Protocol().NewTaskRequest(role, runtime.TaskRequest{ID: id})
}

// messageFor is message for a skill.
func messageFor(skill, text string) any {
	p := a2awires.Protocol()
	metadata, _ := json.Marshal(map[string]any{runtime.SkillsExtension: map[string]string{"skill": skill}})
	return p.NewSend(runtime.SendRequest{Message: p.NewMessage(runtime.MessageData{
		MessageInfo: runtime.MessageInfo{ID: "m1", User: true, Metadata: metadata}, Parts: []runtime.Part{runtime.Text(text)},
	})})
}
