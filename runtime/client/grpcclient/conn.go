package grpcclient

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/client"
)

// conn calls one interface.
type conn struct {
	cc       *grpc.ClientConn
	target   client.Target
	binding  *binding
	secure   bool
	received *traffic

	mu     sync.Mutex
	calls  int // under way
	closed bool
}

// Secure reports whether connections are encrypted.
func (c *conn) Secure() bool { return c.secure }

// OwnCredentials reports whether [TLS] and [DialOptions] may add a certificate, or anything else, to calls.
func (c *conn) OwnCredentials() (certificate, others bool) {
	config := c.binding.tls
	return config != nil && (len(config.Certificates) > 0 || config.GetClientCertificate != nil), len(c.binding.dial) > 0
}

// CanSend returns an error if a header that may hold an API key cannot be sent as metadata.
func (c *conn) CanSend(header string) error {
	switch key := strings.ToLower(header); {
	case strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "":
		return fmt.Errorf("gRPC has no metadata %s", client.Printable(key))
	case strings.HasSuffix(key, "-bin"):
		return fmt.Errorf("gRPC takes metadata whose names end in -bin for binary, and sends %s otherwise than HTTP does", client.Printable(key))
	}
	return nil
}

// Close ends the connections, after the last call that is under way.
func (c *conn) Close() { c.count(0, true) }

// count counts the calls under way, and closes the connections after the last one if they should be closed.
func (c *conn) count(more int, closed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls, c.closed = c.calls+more, c.closed || closed
	if c.closed && c.calls == 0 {
		_ = c.cc.Close() // it was closed before at most
	}
}

// Call makes a unary call.
func (c *conn) Call(ctx context.Context, r *client.Request) ([]byte, error) {
	call := c.begin(ctx, r)
	defer call.end()
	if r.AtOnce() {
		call.watch.start()
	}
	var answer []byte
	err := c.cc.Invoke(call.ctx, r.Operation.GRPC, &r.Body, &answer, grpc.MaxCallRecvMsgSize(c.target.MaxResponse))
	if err != nil {
		return nil, call.failed(err)
	}
	return answer, nil
}

// Open makes a call whose answer is a stream.
func (c *conn) Open(ctx context.Context, r *client.Request) (client.Stream, error) {
	call := c.begin(ctx, r)
	call.watch.start()
	desc, limit := &grpc.StreamDesc{ServerStreams: true}, grpc.MaxCallRecvMsgSize(c.target.MaxEvent)
	s, err := c.cc.NewStream(call.ctx, desc, r.Operation.GRPC, limit)
	if err == nil {
		err = s.SendMsg(&r.Body)
	}
	if err == nil {
		err = s.CloseSend()
	}
	if err == io.EOF { // the status says why
		err = s.RecvMsg(new([]byte))
	}
	call.watch.stop()
	if err != nil {
		defer call.end()
		return nil, call.failed(err)
	}
	return &stream{call: call, stream: s}, nil
}

// call is one call under way.
type call struct {
	progress
	conn   *conn
	ctx    context.Context // which the watchdog cancels
	caller context.Context
	cancel context.CancelCauseFunc
	opens  bool // its answer is a stream
	role   runtime.Role
	over   sync.Once
}

func (c *conn) begin(ctx context.Context, r *client.Request) *call {
	c.count(1, false)
	call := &call{conn: c, caller: ctx, opens: r.Operation.Stream, role: r.Operation.Role}
	call.ctx, call.cancel = context.WithCancelCause(context.WithValue(ctx, progressKey{}, &call.progress))
	call.ctx = metadata.NewOutgoingContext(call.ctx, metadataOf(r))
	call.watch = &watchdog{idle: c.target.Idle, lives: call.opens, received: c.received, cancel: call.cancel}
	return call
}

func (c *call) end() {
	c.over.Do(func() {
		c.watch.stop()
		c.cancel(nil)
		c.conn.count(-1, false)
	})
}

// notOverHTTP2 are headers that HTTP/2 does not have.
var notOverHTTP2 = map[string]bool{
	"connection": true, "content-length": true, "host": true, "keep-alive": true, "transfer-encoding": true,
	"upgrade": true,
}

// metadataOf are the headers of a request as metadata.
func metadataOf(r *client.Request) metadata.MD {
	md := make(metadata.MD, len(r.Header)+1)
	for name, values := range r.Header {
		if key := strings.ToLower(name); !notOverHTTP2[key] {
			md[key] = values
		}
	}
	if r.LastEventID != "" {
		md.Set("last-event-id", r.LastEventID)
	}
	return md
}

// stream is the answer of a streaming call.
type stream struct {
	*call
	stream grpc.ClientStream
}

// Next receives a message. The idle time limits how long nothing arrives on the connection meanwhile.
func (s *stream) Next() (client.Item, error) {
	var data []byte
	s.watch.start()
	err := s.stream.RecvMsg(&data)
	s.watch.stop()
	switch {
	case err == io.EOF:
		return client.Item{}, io.EOF
	case err != nil:
		return client.Item{}, s.failed(err)
	}
	return client.Item{Data: data}, nil
}

// Retry is 0: gRPC has no such field.
func (s *stream) Retry() time.Duration { return 0 }

// Drain does nothing: other calls share the connection.
func (s *stream) Drain() {}

// Close ends the call. The agent's task goes on.
func (s *stream) Close() { s.end() }
