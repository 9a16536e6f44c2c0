// Package grpcserver lets an agent answer gRPC, on the same port as everything else. Agents link it by choice:
//
//	agent.NewServer(skills.New(), grpcserver.Serve())
//
// The build tag grpcnotrace leaves out grpc-go's debug pages, which are a fifth of the binary.
//
// It uses grpc-go's own transport with the codecs of the protocol package. What requests mean is the engine's to say,
// as over any binding; here are the frames, the metadata and the statuses.
package grpcserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/keepalive"

	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// shortestPing is how often a client may ask whether the agent is there.
const shortestPing = 5 * time.Second

// How much a client may send of a call, and on a connection, before anybody reads it, in bytes. What a message needs
// beyond that is let in when it is read. And how much of a connection is read at a time, which an idle one holds, too.
const (
	streamWindow = 64 << 10
	connWindow   = 1 << 20
	readBuffer   = 4 << 10
)

// Option changes how gRPC is served.
type Option func(*options)

type options struct {
	streams uint32
	hidden  bool
}

// WithStreams sets how many calls a connection may have at a time; the default is 1,000. A client waits with the next
// one.
func WithStreams(n int) Option { return func(o *options) { o.streams = uint32(n) } }

// WithoutReflection keeps clients from asking which services, methods and messages there are. They are those of the
// public definition, unless the agent has its own.
func WithoutReflection() Option { return func(o *options) { o.hidden = true } }

// Serve is the option of a server that answers gRPC: every spoken version that has a protobuf definition, as a service
// of its own, with the health and reflection services of gRPC.
func Serve(opts ...Option) server.Option {
	o := options{streams: 1000}
	for _, opt := range opts {
		opt(&o)
	}
	return server.WithTransport(func(a *binding.Agent, p *binding.Policy) (binding.Transport, error) {
		t, err := newTransport(a, p, o)
		if err != nil {
			return nil, err // not a transport that is nil
		}
		return t, nil
	})
}

// transport is grpc-go's server as a [listen.Transport].
type transport struct {
	agent    *binding.Agent
	policy   *binding.Policy
	grpc     *grpc.Server
	health   *health.Server
	watch    *watch
	builtins builtins
	closing  context.Context // ends when the server shuts down
	close    func()
}

func newTransport(a *binding.Agent, p *binding.Policy, o options) (*transport, error) {
	t := &transport{agent: a, policy: p}
	t.closing, t.close = context.WithCancel(context.Background())
	t.builtins.most = max(1, a.Limits.Streams/builtinShare)
	t.watch = newWatch(t)
	limits, buffers := a.Limits, &pool{a, t.watch.crowded}
	t.grpc = grpc.NewServer(
		grpc.ForceServerCodecV2(codec{buffers}),
		experimental.BufferPool(buffers),
		//lint:ignore SA1019 the other way is one for the whole process
		grpc.RPCDecompressor(unpacker{}),
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connWindow),
		grpc.ReadBufferSize(readBuffer),
		grpc.Creds(handshaken{}),
		grpc.InTapHandle(keepMetadata),
		grpc.MaxRecvMsgSize(int(limits.Body)),
		grpc.MaxHeaderListSize(binding.MaxHeader),
		grpc.MaxConcurrentStreams(o.streams),
		grpc.ConnectionTimeout(limits.Header),
		grpc.WaitForHandlers(true),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: limits.Idle, Time: limits.Heartbeat, Timeout: limits.Stall,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: shortestPing, PermitWithoutStream: true}),
	)
	services := t.services()
	if len(services) == 0 {
		return nil, errors.New("grpcserver: no spoken version has a protobuf encoding: list GRPC under \"bindings\" " +
			"in a2agen.yaml and generate")
	}
	for _, desc := range services {
		t.grpc.RegisterService(desc, nil)
	}
	t.addHealth(services)
	if !o.hidden {
		t.addReflection()
	}
	return t, nil
}

// Serve answers the connections of a listener.
func (t *transport) Serve(ln net.Listener) error {
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { t.watch.run(ended) })
	defer watching.Wait()
	defer close(ended)
	return t.grpc.Serve(ln)
}

// Drain tells who asks that no new work is taken.
func (t *transport) Drain() { t.health.Shutdown() }

// Shutdown lets calls end, until ctx is done.
func (t *transport) Shutdown(ctx context.Context) error {
	t.Drain()
	t.close()
	stop := context.AfterFunc(ctx, t.grpc.Stop)
	t.grpc.GracefulStop()
	if !stop() {
		return fmt.Errorf("grpc: %w", context.Cause(ctx))
	}
	return nil
}

// Calls reports whether a request is a call of gRPC. net/http brings it where a connection, or a whole server, is not
// ours alone.
func (t *transport) Calls(r *http.Request) bool {
	return r.ProtoMajor == 2 && isGRPC(r.Header.Get("Content-Type"))
}

// ServeHTTP answers a call that net/http serves.
func (t *transport) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u := newUpload(t, r.Body)
	defer u.close()
	t.grpc.ServeHTTP(w, u.in(r))
}

// contentType is that of gRPC, which may have the name of a codec behind it.
const contentType = "application/grpc"

func isGRPC(value string) bool {
	rest, ok := strings.CutPrefix(value, contentType)
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
}
