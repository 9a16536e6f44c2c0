package grpcserver_test

import (
	"context"
	"log/slog"
	"net"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"

	"github.com/a2agen/a2agen/a2a"
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
}

// start serves skills until the test ends.
func start(t testing.TB, skills []server.Skill, opts ...server.Option) *agent {
	t.Helper()
	p := protocol()
	card, err := p.DecodeCard([]byte(testCard))
	if err != nil {
		t.Fatal(err)
	}
	opts = append([]server.Option{server.WithLogger(slog.New(slog.DiscardHandler)), grpcserver.Serve()}, opts...)
	s, err := server.New(server.Config{Protocol: p, Card: card, Skills: skills}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
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
	return &agent{s, t, ln.Addr().String()}
}

// protocol is that of package a2a with a wire whose messages are JSON: what is tested here does not depend on what the
// frames hold.
func protocol() *runtime.Protocol {
	p := *a2a.Protocol()
	v := *p.Versions[0]
	v.Wires = []*runtime.Wire{{Encoding: runtime.EncodingProto, Table: v.Table}}
	p.Versions = []*runtime.Version{&v}
	return &p
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

const service = "/lf.a2a.v1.A2AService/"

// call makes a call of one answer.
func call(ctx context.Context, c *grpc.ClientConn, method, params string, opts ...grpc.CallOption) (string, error) {
	in, out := []byte(params), []byte(nil)
	err := c.Invoke(ctx, service+method, &in, &out, opts...)
	return string(out), err
}

// open makes a call whose answer is a stream.
func open(ctx context.Context, c *grpc.ClientConn, method, params string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	st, err := c.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, service+method, opts...)
	if err != nil {
		return nil, err
	}
	in := []byte(params)
	if err := st.SendMsg(&in); err != nil {
		return nil, err
	}
	return st, st.CloseSend()
}

// next returns the next message of a stream.
func next(st grpc.ClientStream) (string, error) {
	var out []byte
	err := st.RecvMsg(&out)
	return string(out), err
}

// run makes a skill of a function.
func run(id string, f func(ctx context.Context, t *server.Task) (string, error)) server.Skill {
	return server.Skill{ID: id, Name: id, Run: func(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
		out, err := f(ctx, t)
		return []byte(out), err
	}}
}

// message is send parameters for a text.
func message(text string) string {
	return `{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"` + text + `"}]}}`
}
