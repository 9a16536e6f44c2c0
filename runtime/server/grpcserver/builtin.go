package grpcserver

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// The built-in services of gRPC, health and reflection, are answered within the limits of calls: what they receive has
// a budget and a deadline, clients that do not read are dropped, and their streams count as streams.

// Limits of calls of built-in services.
const (
	builtinMessage = 16 << 10 // bytes of a request
	builtinsOfConn = 8        // open streams of a connection
	builtinShare   = 8        // of all open streams, one in so many
)

// closingTime is how long a stream that its client keeps open may take to send its last message.
const closingTime = 50 * time.Millisecond

// builtinOperation stands for the operations of built-in services.
var builtinOperation = &runtime.Operation{Stream: true}

// within makes the handlers of a service keep to the limits. An open service answers everybody; any other answers
// callers that meet what the card demands.
func (t *transport) within(desc grpc.ServiceDesc, open bool) *grpc.ServiceDesc {
	streams, methods := slices.Clone(desc.Streams), desc.Methods
	desc.Streams, desc.Methods = nil, nil
	for _, m := range methods {
		streams = append(streams, grpc.StreamDesc{StreamName: m.MethodName, Handler: unary(m)})
	}
	for _, s := range streams {
		s.Handler = t.builtin(s, open)
		desc.Streams = append(desc.Streams, s)
	}
	return &desc
}

// unary makes a method with one answer the handler of a stream with one message, as grpc-go does itself.
func unary(m grpc.MethodDesc) grpc.StreamHandler {
	return func(service any, stream grpc.ServerStream) error {
		answer, err := m.Handler(service, stream.Context(), stream.RecvMsg, nil)
		if err != nil {
			return err
		}
		return stream.SendMsg(answer)
	}
}

// builtin is the handler of a method of a built-in service.
func (t *transport) builtin(s grpc.StreamDesc, open bool) grpc.StreamHandler {
	return func(service any, stream grpc.ServerStream) error {
		c := t.newAside(stream)
		defer c.end()
		c.many = s.ClientStreams
		if !open {
			if err := c.admit(); err != nil {
				return c.status(err)
			}
		}
		if err := c.attach(); err != nil {
			return c.status(err)
		}
		if s.ServerStreams {
			release, err := t.builtins.begin(c)
			if err != nil {
				return c.status(err)
			}
			defer release()
			c.LimitStream()
			defer c.endWith(c.Context, errOver)()
			defer c.endWith(t.closing, errClosing)()
		}
		return s.Handler(service, builtinStream{stream, c})
	}
}

func (t *transport) newAside(stream grpc.ServerStream) *call {
	ctx := stream.Context()
	c := &call{t: t, stream: stream, metadata: metadataOf(ctx)}
	c.Begin(ctx, t.agent, runtime.BindingGRPC)
	c.Op = builtinOperation
	c.full, _ = grpc.MethodFromServerStream(stream)
	c.peer, _ = peer.FromContext(ctx)
	return c
}

// admit refuses callers that may not call the agent.
func (c *call) admit() error {
	if err := c.allowed(); err != nil {
		return err
	}
	return c.Identify("", func(*engine.Version) bool { return true }, c.request)
}

// Errors that end streams which their clients would keep open.
var (
	errClosing = status.Error(codes.Unavailable, "the agent is shutting down")
	errOver    = status.Error(codes.Unauthenticated, "the credential has expired")
)

// endWith ends the call with an error when ctx ends, after closingTime. The function that it returns stops that.
func (c *call) endWith(ctx context.Context, err error) (forget func()) {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-ended:
		case <-time.After(closingTime):
			c.abort(err)
		}
	})
	return func() {
		close(ended)
		stop()
	}
}

// builtinStream is the stream of a call whose messages protobuf's own library reads and writes.
type builtinStream struct {
	grpc.ServerStream
	c *call
}

// RecvMsg receives a message within the limits.
func (s builtinStream) RecvMsg(m any) error {
	switch err := s.c.receive(builtinMessage); {
	case errors.Is(err, io.EOF): // the client has no more messages
		return err
	case err != nil:
		return s.c.status(err)
	}
	defer func() { s.c.in.free(); s.c.GiveBack() }()
	if n := len(s.c.in.bytes()); n > builtinMessage {
		return status.Errorf(codes.ResourceExhausted, "the message has %d bytes, more than %d", n, builtinMessage)
	}
	if err := proto.Unmarshal(s.c.in.bytes(), m.(proto.Message)); err != nil {
		return status.Errorf(codes.InvalidArgument, "the message cannot be read: %v", err)
	}
	return nil
}

// SendMsg sends a message within the limits.
func (s builtinStream) SendMsg(m any) error {
	err := s.c.send("answer", func(b []byte) ([]byte, error) { return proto.MarshalOptions{}.MarshalAppend(b, m.(proto.Message)) })
	if err != nil {
		return s.c.status(err)
	}
	return nil
}

// builtins counts the open streams of built-in services. A connection may have few of them, and all together a share of
// the streams, so that there is room for those of tasks.
type builtins struct {
	most int

	mu  sync.Mutex
	all int
	of  map[any]int // by connection: its link, or where it comes from
}

// begin counts a stream, or refuses one too many. release ends the count.
func (a *builtins) begin(c *call) (release func(), err error) {
	key := c.connection()
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.of[key] >= builtinsOfConn:
		return nil, status.Errorf(codes.ResourceExhausted, "a connection has %d of these streams at most", builtinsOfConn)
	case a.all >= a.most:
		return nil, errBuiltins
	}
	counted, err := c.t.agent.AdmitStream()
	if err != nil {
		return nil, err
	}
	if a.of == nil {
		a.of = map[any]int{}
	}
	a.all++
	a.of[key]++
	return func() {
		counted()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.all--
		if a.of[key]--; a.of[key] == 0 {
			delete(a.of, key)
		}
	}, nil
}

// errBuiltins refuses a stream.
var errBuiltins = engine.ErrBusy.With("too many open streams that are not of tasks, try again later")

// connection identifies the call's connection.
func (c *call) connection() any {
	switch {
	case c.link != nil:
		return c.link
	case c.peer != nil && c.peer.Addr != nil:
		return c.peer.Addr.String()
	}
	return ""
}
