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

// The services that gRPC itself has are answered within the limits of calls: what they receive has a budget and a time,
// who takes nothing of their answers is dropped, and their streams count as streams.

// Bounds of calls that are no operations of the protocol's.
const (
	asideMessage = 16 << 10 // bytes of a request
	asidesOfConn = 8        // open streams of a connection
	asideShare   = 8        // of all open streams, one in so many
)

// lastWords is how long a stream that its client keeps open may take to say what it has to say of the end.
const lastWords = 50 * time.Millisecond

// asideOperation stands for what is none of the protocol's.
var asideOperation = &runtime.Operation{Stream: true}

// within has a service answered within the limits. An open one is for everybody; another one is for those who meet what
// the card demands.
func (t *transport) within(desc grpc.ServiceDesc, open bool) *grpc.ServiceDesc {
	streams, methods := slices.Clone(desc.Streams), desc.Methods
	desc.Streams, desc.Methods = nil, nil
	for _, m := range methods {
		streams = append(streams, grpc.StreamDesc{StreamName: m.MethodName, Handler: unary(m)})
	}
	for _, s := range streams {
		s.Handler = t.aside(s, open)
		desc.Streams = append(desc.Streams, s)
	}
	return &desc
}

// unary is a method of one answer as the handler of a stream of one, as grpc-go serves it itself.
func unary(m grpc.MethodDesc) grpc.StreamHandler {
	return func(service any, stream grpc.ServerStream) error {
		answer, err := m.Handler(service, stream.Context(), stream.RecvMsg, nil)
		if err != nil {
			return err
		}
		return stream.SendMsg(answer)
	}
}

// aside is the handler of a method.
func (t *transport) aside(s grpc.StreamDesc, open bool) grpc.StreamHandler {
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
			release, err := t.asides.begin(c)
			if err != nil {
				return c.status(err)
			}
			defer release()
			c.LimitStream()
			defer c.endWith(c.Context, errOver)()
			defer c.endWith(t.closing, errClosing)()
		}
		return s.Handler(service, asideStream{stream, c})
	}
}

func (t *transport) newAside(stream grpc.ServerStream) *call {
	ctx := stream.Context()
	c := &call{Request: t.agent.Unobserved(ctx, runtime.BindingGRPC), t: t, stream: stream, metadata: metadataOf(ctx)}
	c.Op = asideOperation
	c.full, _ = grpc.MethodFromServerStream(stream)
	c.peer, _ = peer.FromContext(ctx)
	return c
}

// admit lets in who may call the agent.
func (c *call) admit() error {
	if err := c.allowed(); err != nil {
		return err
	}
	return c.Identify("", func(*engine.Version) bool { return true }, c.request)
}

// What a stream ends with that its client would keep open.
var (
	errClosing = status.Error(codes.Unavailable, "the agent is shutting down")
	errOver    = status.Error(codes.Unauthenticated, "the credential has expired")
)

// endWith ends the call with an error when ctx ends, after its last words. The function that it returns takes that
// back.
func (c *call) endWith(ctx context.Context, err error) (forget func()) {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-ended:
		case <-time.After(lastWords):
			c.abort(err)
		}
	})
	return func() {
		close(ended)
		stop()
	}
}

// asideStream is the stream of a call whose messages protobuf's own library reads and writes.
type asideStream struct {
	grpc.ServerStream
	c *call
}

// RecvMsg receives a message within the limits.
func (s asideStream) RecvMsg(m any) error {
	switch err := s.c.receive(asideMessage); {
	case errors.Is(err, io.EOF): // the client has no more messages
		return err
	case err != nil:
		return s.c.status(err)
	}
	defer s.c.in.free()
	if n := len(s.c.in.bytes()); n > asideMessage {
		return status.Errorf(codes.ResourceExhausted, "the message has %d bytes, more than %d", n, asideMessage)
	}
	if err := proto.Unmarshal(s.c.in.bytes(), m.(proto.Message)); err != nil {
		return status.Errorf(codes.InvalidArgument, "the message cannot be read: %v", err)
	}
	return nil
}

// SendMsg sends a message within the limits.
func (s asideStream) SendMsg(m any) error {
	err := s.c.send("answer", func(b []byte) ([]byte, error) { return proto.MarshalOptions{}.MarshalAppend(b, m.(proto.Message)) })
	if err != nil {
		return s.c.status(err)
	}
	return nil
}

// asides counts the open streams of gRPC's own services, which are few of a connection and a share of all: they are not
// to keep out those of tasks.
type asides struct {
	most int

	mu  sync.Mutex
	all int
	of  map[any]int // by connection: its link, or where it comes from
}

// begin counts a stream, or refuses one too many. release counts it out.
func (a *asides) begin(c *call) (release func(), err error) {
	key := c.connection()
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.of[key] >= asidesOfConn:
		return nil, status.Errorf(codes.ResourceExhausted, "a connection has %d of these streams at most", asidesOfConn)
	case a.all >= a.most:
		return nil, errAsides
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

// errAsides refuses a stream.
var errAsides = engine.ErrBusy.With("too many open streams that are not of tasks, try again later")

// connection tells the call's connection from others.
func (c *call) connection() any {
	switch {
	case c.link != nil:
		return c.link
	case c.peer != nil && c.peer.Addr != nil:
		return c.peer.Addr.String()
	}
	return ""
}
