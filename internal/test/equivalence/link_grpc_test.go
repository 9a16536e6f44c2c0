package equivalence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	_ "google.golang.org/genproto/googleapis/rpc/errdetails" // what details are made of
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/a2agen/a2agen/runtime"
)

// grpcLink speaks gRPC.
type grpcLink struct{ conn *grpc.ClientConn }

func newGRPCLink(d door) (link, error) {
	security := insecure.NewCredentials()
	if d.tls != nil {
		security = credentials.NewTLS(d.tls)
	}
	conn, err := grpc.NewClient("passthrough:///"+d.addr, grpc.WithTransportCredentials(security),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(bytesCodec{}), grpc.MaxCallRecvMsgSize(64<<20)))
	return &grpcLink{conn}, err
}

func (l *grpcLink) close() { _ = l.conn.Close() }

// bytesCodec is a codec of messages that are bytes already.
type bytesCodec struct{}

func (bytesCodec) Name() string { return "proto" }

func (bytesCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (bytesCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func (l *grpcLink) call(ctx context.Context, c call) (*answer, error) {
	for name, value := range c.params {
		ctx = metadata.AppendToOutgoingContext(ctx, strings.ToLower(name), value)
	}
	ctx, cancel := context.WithCancel(ctx)
	st, err := l.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, c.op.GRPC)
	if err == nil {
		err = st.SendMsg(&c.request)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		cancel()
		return nil, err
	}
	_ = st.CloseSend()
	items := &grpcItems{stream: st, cancel: cancel}
	first, ok := items.next()
	a := &answer{}
	if head, err := st.Header(); err == nil {
		a.active = strings.Join(head.Get("a2a-extensions"), ", ")
	}
	switch {
	case c.op.Stream && (!ok || first.fault == nil):
		items.first = &first
		items.ended = !ok
		a.stream = items
		return a, nil
	case !ok:
		err = errors.New("no answer and no error")
	}
	items.close()
	a.body, a.fault = first.body, first.fault
	return a, err
}

// grpcItems are the messages of a call.
type grpcItems struct {
	stream grpc.ClientStream
	cancel context.CancelFunc
	first  *item // which was read already
	ended  bool
}

func (i *grpcItems) next() (item, bool) {
	if i.ended {
		return item{}, false
	}
	if first := i.first; first != nil {
		i.first = nil
		return *first, true
	}
	var body []byte
	err := i.stream.RecvMsg(&body)
	switch {
	case err == nil:
		return item{body: body}, true
	case errors.Is(err, io.EOF), status.Code(err) == codes.Canceled:
		i.ended = true
		return item{}, false
	}
	i.ended = true
	return item{fault: faultOf(err, i.stream.Trailer())}, true
}

func (i *grpcItems) close() { i.cancel() }

// faultOf reads the status of a call.
func faultOf(err error, trailer metadata.MD) *fault {
	s := status.Convert(err)
	var details []json.RawMessage
	for _, d := range s.Proto().GetDetails() {
		if b, err := protojson.Marshal(d); err == nil {
			details = append(details, b)
		}
	}
	message := s.Message()
	if name, rest, ok := strings.Cut(message, "Error: "); ok && !strings.Contains(name, " ") {
		message = rest // 0.3 has the name of the error first
	}
	data, _ := json.Marshal(details)
	e, err := readStatus(message, data)
	if err != nil {
		e = runtime.ErrInternal.With("unreadable: %v", err)
	}
	return &fault{
		protocolError: e, class: class{code: codeNames[s.Code()]}, challenge: trailer["www-authenticate"], raw: fmt.Sprint(s.Proto(), trailer),
	}
}

// codeNames are the names of gRPC's codes in google.rpc.Code.
var codeNames = map[codes.Code]string{
	codes.InvalidArgument: "INVALID_ARGUMENT", codes.NotFound: "NOT_FOUND", codes.FailedPrecondition: "FAILED_PRECONDITION",
	codes.Internal: "INTERNAL", codes.Unavailable: "UNAVAILABLE", codes.Unauthenticated: "UNAUTHENTICATED",
	codes.PermissionDenied: "PERMISSION_DENIED", codes.Unimplemented: "UNIMPLEMENTED", codes.ResourceExhausted: "RESOURCE_EXHAUSTED",
}
