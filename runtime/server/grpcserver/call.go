package grpcserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// Metadata that are service parameters (A2A 1.0 §10.2, R155).
const (
	keyVersion      = "a2a-version"
	keyExtensions   = "a2a-extensions"
	keyExtensionsV0 = "x-a2a-extensions"
	keyRepeat       = "idempotency-key"
	keyRepeatAge    = "idempotency-age"
	keyAfter        = "last-event-id"
	keyTenant       = "a2a-tenant" // ours: for clients that cannot say it in a request
)

// keyChallenge is the metadata with the challenge for a caller that is denied.
const keyChallenge = "www-authenticate"

// call is one call being answered.
type call struct {
	binding.Request
	t      *transport
	m      *method // nil: of a service that gRPC itself has
	full   string  // its name, "/lf.a2a.v1.A2AService/GetTask"
	many   bool    // its client may send more than one message
	stream grpc.ServerStream
	in     message

	metadata metadata.MD
	peer     *peer.Peer // nil: not known

	link   *link     // nil: net/http serves the call
	upload *upload   // nil: it does not
	out    *outgoing // of the connection, or of the call that net/http serves

	next, previous *call        // that are watched
	since          atomic.Int64 // tick at which it began to wait for its client; 0: it does not
	sending        atomic.Bool  // that is to take something, else to send its message
	came           int64        // what had come over the connection by then
}

// usualStack is how much of its stack most calls use, in bytes.
const usualStack = 8 << 10

// growStack grows the stack of a call's goroutine at once, while there is little on it to copy: growing it step by step
// takes a tenth of the time of a short call.
//
//go:noinline
func growStack(i int) byte {
	var room [usualStack]byte
	return room[i]
}

// serve answers a call, and returns its status.
func (m *method) serve(_ any, stream grpc.ServerStream) (err error) {
	growStack(0)
	ctx := stream.Context()
	md := metadataOf(ctx)
	c := &call{t: m.t, m: m, stream: stream, metadata: md}
	c.Begin(ctx, m.t.agent, runtime.BindingGRPC)
	c.Observe(md)
	c.Op = m.rows[0].op // until the version is known
	c.full = c.Op.GRPC
	c.peer, _ = peer.FromContext(ctx)
	defer c.end()
	failed := c.Contain(func() { err = c.answer() }, func() {
		_ = stream.SendMsg(&answer{err: c.status(c.Exited())}) // because the goroutine ends and nothing can be returned
	})
	if failed != nil {
		err = failed
	}
	if err != nil {
		return c.status(err)
	}
	return nil
}

// answer goes through the steps of a call. The order of checks is caller, version, operation, parameters (T62).
func (c *call) answer() error {
	if err := c.allowed(); err != nil {
		return err
	}
	asked := strings.TrimSpace(c.value(keyVersion))
	has := func(v *engine.Version) bool { return c.m.in(v) != nil }
	if err := c.Identify(asked, has, c.request); err != nil {
		return err
	}
	if err := c.resolve(asked, has); err != nil {
		return err
	}
	if err := c.attach(); err != nil {
		return err
	}
	if err := c.receive(int(c.t.agent.Limits.Body)); err != nil {
		return err
	}
	c.LimitStream()
	a, err := c.Run(c.in.bytes(), objectsIn, c.in.free)
	if err == nil && c.AskedByMessage() {
		err = c.echo(c.Active())
	}
	switch {
	case err != nil:
		return err
	case a.Stream != nil:
		return c.follow(a.Stream)
	case a.Sequence != nil:
		return c.sequence(a.Sequence)
	case c.Op.Stream:
		return c.single(a.Result)
	}
	return c.reply(a.Result)
}

// resolve finds version and operation, and reads what else the metadata say.
func (c *call) resolve(asked string, has func(*engine.Version) bool) error {
	v, err := c.m.t.agent.Negotiate(asked, has)
	if err != nil {
		return err
	}
	row := c.m.in(v)
	if row == nil {
		return runtime.ErrVersionNotSupported.With("this service is not one of A2A %s, but of %s", v.Name, c.m.rows[0].version.Name)
	}
	c.Version, c.Op = v, row.op
	if err := c.activate(); err != nil {
		return err
	}
	if err := c.TakeRepeatKey(c.values(keyRepeat), c.values(keyRepeatAge)); err != nil {
		return err
	}
	c.Tenant = strings.Join(c.values(keyTenant), ", ")
	if c.Op.Stream {
		c.Coding, c.After = row.coding, binding.EventNumber(c.value(keyAfter))
	}
	return nil
}

// activate echoes the requested extensions that the agent has.
func (c *call) activate() error {
	active, refused := c.Activate(slices.Concat(c.values(keyExtensions), c.values(keyExtensionsV0)))
	if err := c.echo(active); err != nil {
		return err
	}
	if refused != nil {
		return refused
	}
	return nil
}

// echo lists the extensions of the answer.
func (c *call) echo(active string) error {
	if active == "" {
		return nil
	}
	list := metadata.Pairs(keyExtensions, active)
	if c.Version.Unnamed {
		list.Set(keyExtensionsV0, active)
	}
	if err := c.stream.SetHeader(list); err != nil {
		return canceled(err)
	}
	return nil
}

// reply answers with a result.
func (c *call) reply(result any) error {
	result = c.Located(result, c.request)
	return c.send("result", func(b []byte) ([]byte, error) { return c.AppendResult(b, result) })
}

// single answers with a stream of one event.
func (c *call) single(event any) error {
	e, ok := event.(runtime.Event)
	if !ok {
		return runtime.Unexpected(event, "an event")
	}
	return c.send("result", func(b []byte) ([]byte, error) { return c.Coding.Append(b, e) })
}

// follow answers with a stream of a task's events.
func (c *call) follow(st *engine.Stream) error {
	defer st.Close()
	for {
		switch st.Next() {
		case engine.Snapshot:
			if err := st.WriteSnapshot(func(_ int64, event []byte) error { return c.write(event) }); err != nil {
				return err
			}
		case engine.Events:
			for st.Len() > 0 {
				if err := c.send("event", func(b []byte) ([]byte, error) { return st.Append(b, 0) }); err != nil {
					return err
				}
				st.Take(1)
			}
		case engine.Over:
			return nil
		}
	}
}

// sequence answers with the items of an operation of the agent's own.
func (c *call) sequence(q *engine.Sequence) error {
	defer q.Close()
	for {
		switch q.Next() {
		case engine.Events:
			item, err := q.Item()
			if err != nil {
				return err
			}
			if err := c.send("item", func(b []byte) ([]byte, error) { return c.Op.Append(b, item) }); err != nil {
				return err
			}
		case engine.Over:
			return nil
		}
	}
}

// send encodes and writes a message.
func (c *call) send(what string, encode func([]byte) ([]byte, error)) error {
	var sent error
	if err := c.Response.Pass(c.Context, encode, func(b []byte) { sent = c.write(b) }); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return sent
}

// allowed refuses calls that a web page may be behind: they come under a name of its own, or from it.
func (c *call) allowed() error {
	var local net.Addr
	if c.peer != nil {
		local = c.peer.LocalAddr
	}
	switch err := c.t.policy.CheckHost(c.value(":authority"), local); {
	case errors.Is(err, binding.ErrNoHost):
		return runtime.ErrInvalidRequest.With("%v", err)
	case err != nil:
		return runtime.ErrPermissionDenied.With("%v", err)
	}
	if len(c.values("origin"))+len(c.values("sec-fetch-site")) == 0 {
		return nil // not from a browser
	}
	if err := c.t.policy.Check(c.request()); err != nil {
		return runtime.ErrPermissionDenied.With("%v", err)
	}
	return nil
}

// attach finds what the call came over, and has its client watched. Answers are not compressed: nobody could tell when
// they have gone out.
func (c *call) attach() error {
	if c.link = c.linkOf(); c.link != nil {
		c.out = &c.link.outgoing
		c.t.watch.add(c)
	} else {
		c.upload, c.out = uploadOf(c.Context), new(outgoing)
	}
	if err := grpc.SetSendCompressor(c.stream.Context(), encoding.Identity); err != nil {
		return canceled(err)
	}
	return nil
}

// canceled is an error of setting headers, before any have been sent: the client has left.
func canceled(err error) error { return status.Error(codes.Canceled, err.Error()) }

// receive reads a message, of at most so many bytes.
func (c *call) receive(most int) error {
	c.sending.Store(false)
	if c.link != nil {
		c.came = c.link.came.Load()
	}
	c.since.Store(c.t.watch.now.Load())
	if c.upload != nil {
		c.upload.ask(c)
	}
	err := c.stream.RecvMsg(&c.in)
	if err == nil {
		c.Beside = cmp.Or(c.in.counted, int64(cap(c.in.bytes())))
		err = c.inflate(most)
	}
	c.since.Store(0)
	return err
}

// received is how much has come since the call waits for its message.
func (c *call) received() int64 { return c.link.came.Load() - c.came }

// write writes a message, whose bytes stay the caller's. A large one has gone out when this returns.
func (c *call) write(b []byte) error {
	if c.link == nil {
		return c.writeOver(b)
	}
	stall := c.t.agent.Limits.Stall
	if err := c.out.room(c.Context, stall); err != nil {
		return c.drop(err)
	}
	p, buffers := c.out.pack(b)
	c.sending.Store(true)
	c.since.Store(c.t.watch.now.Load())
	err := c.stream.SendMsg(&answer{buffers: buffers})
	c.since.Store(0)
	if err != nil || len(b) <= piece {
		return err
	}
	return c.drop(p.gone(c.Context, stall))
}

// writeOver writes a message of a call that net/http serves. grpc-go gives its pieces back when all of them are
// written, which net/http ends when the client takes nothing.
func (c *call) writeOver(b []byte) error {
	p, buffers := c.out.pack(b)
	err := c.stream.SendMsg(&answer{buffers: buffers})
	if len(b) > piece {
		_ = p.gone(context.Background(), never)
	}
	return err
}

// drop drops a connection whose client takes nothing: grpc-go would keep what it has been given.
func (c *call) drop(err error) error {
	if errors.Is(err, errStalled) {
		_ = c.link.Close()
	}
	return err
}

// cut aborts a call that waits for its client, unless that is over.
func (c *call) cut(err error) {
	if c.since.Swap(0) != 0 {
		c.abort(err)
	}
}

// abort ends the call while its goroutine waits for the client.
func (c *call) abort(err error) {
	stream := grpc.ServerTransportStreamFromContext(c.stream.Context())
	if s, ok := stream.(interface{ WriteStatus(*status.Status) error }); ok {
		_ = s.WriteStatus(status.Convert(c.status(err)))
		return
	}
	_ = c.stream.SendMsg(&answer{err: err})
}

// end lets go of what the call holds.
func (c *call) end() {
	if c.link != nil {
		c.t.watch.remove(c)
	}
	c.in.free()
	c.End()
}
