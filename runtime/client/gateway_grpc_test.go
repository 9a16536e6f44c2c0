package client_test

import (
	"bytes"
	"net"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/errorformat"
)

// grpcGateway speaks gRPC before an agent that speaks JSON-RPC.
type grpcGateway struct {
	t       *testing.T
	agent   http.Handler
	version *runtime.Version
	wire    *runtime.Table
}

// startGRPC serves until the test ends, and returns the address.
func startGRPC(t *testing.T, agent http.Handler) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveGRPC(t, agent, ln)
	return ln.Addr().String()
}

// serveGRPC serves until the test ends.
func serveGRPC(t *testing.T, agent http.Handler, ln net.Listener, opts ...grpc.ServerOption) {
	g := &grpcGateway{t: t, agent: agent, version: a2a.Protocol().Versions[0]}
	g.wire = g.version.Over(runtime.BindingGRPC)
	s := grpc.NewServer(append(opts, grpc.ForceServerCodecV2(rawCodec{}), grpc.UnknownServiceHandler(g.serve))...)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(ln)
	}()
	t.Cleanup(func() {
		s.Stop()
		<-done
	})
}

func (g *grpcGateway) serve(_ any, stream grpc.ServerStream) (err error) {
	full, _ := grpc.MethodFromServerStream(stream)
	var in []byte
	if err := stream.RecvMsg(&in); err != nil {
		return err
	}
	for i, row := range g.wire.Operations {
		if row.GRPC == full {
			return g.call(stream, row, g.version.Operations[i], in)
		}
	}
	g.t.Errorf("no operation %s", full)
	return status.Error(codes.Unimplemented, "unknown")
}

// call makes a call of the agent. The operation stands in the one table as in the other.
func (g *grpcGateway) call(stream grpc.ServerStream, row, plain *runtime.Operation, in []byte) (err error) {
	got, err := row.Decode(in)
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	params, err := plain.AppendRequest(nil, source(got))
	if err != nil {
		g.t.Errorf("%s: %v", plain.RPC, err)
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"` + plain.RPC + `","params":` + string(params) + `}`
	r, err := http.NewRequestWithContext(stream.Context(), http.MethodPost, "/", strings.NewReader(body))
	if err != nil {
		return err
	}
	md, _ := metadata.FromIncomingContext(stream.Context())
	for key, values := range md {
		r.Header[http.CanonicalHeaderKey(key)] = values
	}
	w := &grpcWriter{g: g, stream: stream, row: row, plain: plain, header: http.Header{}}
	defer func() {
		if recover() != nil { // net/http cuts the connection, but not before what was sent is out
			err = status.Error(codes.Unavailable, "cut")
		}
	}()
	g.agent.ServeHTTP(w, r)
	return w.finish()
}

// source is the generated request.
func source(neutral any) any {
	switch r := neutral.(type) {
	case *runtime.SendRequest:
		return r.Source
	case *runtime.TaskRequest:
		return r.Source
	case *runtime.ListRequest:
		return r.Source
	case *runtime.PushRequest:
		return r.Source
	}
	return neutral
}

// grpcWriter turns what a JSON-RPC agent writes into messages. What is no JSON-RPC is one, too.
type grpcWriter struct {
	g          *grpcGateway
	stream     grpc.ServerStream
	row, plain *runtime.Operation
	header     http.Header
	status     int
	held       held
	err        error // the status of the call
}

func (w *grpcWriter) Header() http.Header    { return w.header }
func (w *grpcWriter) WriteHeader(status int) { w.status = status }
func (w *grpcWriter) Flush()                 { _ = w.stream.SendHeader(nil) }

func (w *grpcWriter) events() bool { return w.header.Get("Content-Type") == "text/event-stream" }

func (w *grpcWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.held.Write(p)
	for w.events() {
		event := w.held.cut()
		if event == nil {
			break
		}
		if w.err = w.event(event); w.err != nil {
			return len(p), w.err
		}
	}
	if w.held.Len() > 3<<20 {
		w.err = w.send(w.held.Bytes())
		w.held.Reset()
		if w.err == nil && !w.row.Stream { // an answer is one message: who pours on is stopped
			w.err = status.Error(codes.DataLoss, "more than one answer")
		}
	}
	return len(p), w.err
}

// event sends an event, or returns the status that it stands for.
func (w *grpcWriter) event(text []byte) error {
	e, err := sse.NewReader(bytes.NewReader(text), 0).Next()
	if err != nil || len(bytes.TrimSpace(e.Data)) == 0 {
		return nil // a comment
	}
	r, ok := parse(e.Data)
	switch {
	case !ok:
		return w.send([]byte("\x07" + string(e.Data)))
	case r.fault != nil:
		return statusOf(r.fault)
	}
	event, err := w.g.version.ReadEvent(r.result)
	if err != nil {
		return w.send(w.odd(r.result))
	}
	b, err := w.g.wire.AppendEvent(nil, event)
	if err != nil {
		w.g.t.Errorf("%s: %v", r.result, err)
	}
	return w.send(b)
}

// odd is a message for JSON that is no result: an event of a kind that is not known, or bytes that are no message.
func (w *grpcWriter) odd(result []byte) []byte {
	if strings.Contains(string(result), `"future"`) {
		return []byte("\xfa\x07\x00") // a field with number 127
	}
	return []byte("\x07")
}

func (w *grpcWriter) send(b []byte) error {
	b = bytes.Clone(b)
	return w.stream.SendMsg(&b)
}

// finish answers with what is left when the agent is done.
func (w *grpcWriter) finish() error {
	text := bytes.Clone(w.held.Bytes())
	if w.err != nil || w.events() {
		if w.err == nil && len(bytes.TrimSpace(text)) > 0 {
			return w.event(text)
		}
		return w.err
	}
	r, ok := parse(text)
	switch {
	case ok && r.fault != nil:
		return statusOf(r.fault)
	case w.status/100 > 2:
		return status.Error(codeOf(w.status), string(text))
	case !ok:
		return w.send([]byte("\x07"))
	case w.row.Stream:
		return w.event([]byte("data: " + string(text) + "\n\n"))
	}
	if len(r.result) == 0 || string(r.result) == "null" {
		return w.send(nil)
	}
	result, err := w.plain.Read(r.result)
	if err != nil {
		return w.send(w.odd(r.result))
	}
	b, err := w.row.Append(nil, result)
	if err != nil {
		w.g.t.Errorf("%s: %v", r.result, err)
	}
	return w.send(b)
}

// codeOf is the code of an answer whose status has no error of A2A in its body.
func codeOf(status int) codes.Code {
	switch status {
	case http.StatusUnauthorized:
		return codes.Unauthenticated
	case http.StatusForbidden:
		return codes.PermissionDenied
	case http.StatusBadGateway, http.StatusServiceUnavailable:
		return codes.Unavailable
	case http.StatusTeapot:
		return codes.Unimplemented
	}
	return codes.Unknown
}

// statusOf is an error as a status.
func statusOf(e *runtime.Error) error {
	details := []protoadapt.MessageV1{protoadapt.MessageV1Of(&errdetails.ErrorInfo{Reason: e.Reason, Domain: runtime.ErrorDomain})}
	s, err := status.New(codes.Code(errorformat.Of(e, errorformat.Statuses101).Code), e.Message).WithDetails(details...)
	if err != nil {
		return err
	}
	return s.Err()
}

// rawCodec is a codec of bytes.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}
