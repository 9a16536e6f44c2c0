package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/a2agen/a2agen/bench/internal/proc"
	"github.com/a2agen/a2agen/bench/internal/raw"
)

// GRPC is A2A 1.0 over gRPC, on a connection for each driver.
var GRPC = V1.over(overGRPC{}, a2apb.A2AService_SendMessage_FullMethodName, a2apb.A2AService_SendStreamingMessage_FullMethodName,
	byID(a2apb.A2AService_GetTask_FullMethodName))

// CannedGRPC is to GRPC what Canned is to V1.
var CannedGRPC = GRPC.over(overGRPC{}, GRPC.send, GRPC.stream, nil)

// Shared is the dialect with all drivers on one connection, if its binding can do that.
func (d *Dialect) Shared() *Dialect {
	if d == nil || d.binding != (overGRPC{}) {
		return d
	}
	shared := *d
	shared.shared = true
	return &shared
}

// overGRPC is the binding gRPC. Its requests and answers are protobuf.
type overGRPC struct{}

func (overGRPC) addr(p *proc.Process) string { return cmp.Or(p.GRPC, p.Addr) }

func (overGRPC) dial(addr string) (line, error) {
	cc, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(raw.Codec)), grpc.WithNoProxy())
	if err != nil {
		return nil, err
	}
	return &channel{ClientConn: cc}, nil
}

// forms are the protobuf messages of a method.
func forms(method string) (request, answer proto.Message) {
	if method == a2apb.A2AService_GetTask_FullMethodName {
		return new(a2apb.GetTaskRequest), new(a2apb.Task)
	}
	return new(a2apb.SendMessageRequest), new(a2apb.SendMessageResponse)
}

func (overGRPC) request(_ *Dialect, _, method, params string) *request {
	m, _ := forms(method)
	if err := protojson.Unmarshal([]byte(params), m); err != nil {
		panic(fmt.Sprintf("parameters of %s: %v", method, err)) // they are written in this package
	}
	src, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return numbered(method, src)
}

// answers cannot tell: an answer is that of the call it came in.
func (overGRPC) answers(_, _ []byte) bool { return true }

// complete reads an event, or the answer to a send: both have a task and a message in the same fields.
func (overGRPC) complete(_ *Dialect, body []byte) bool {
	var e a2apb.StreamResponse
	if proto.Unmarshal(body, &e) != nil {
		return false
	}
	status := e.GetTask().GetStatus()
	if status == nil {
		status = e.GetStatusUpdate().GetStatus()
	}
	return status.GetState() == a2apb.TaskState_TASK_STATE_COMPLETED
}

func (overGRPC) open(method string, body []byte) ([]byte, error) {
	_, m := forms(method)
	if err := proto.Unmarshal(body, m); err != nil {
		return nil, fmt.Errorf("reading answer to %s: %w", path.Base(method), err)
	}
	return protojson.Marshal(m)
}

// channel is a connection of gRPC, which several drivers may share.
type channel struct{ *grpc.ClientConn }

// context is that of a call that has to go on at least every [patience]. It has no deadline, which the server would be told.
func (*channel) context() (context.Context, *time.Timer) {
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(context.Background(), "a2a-version", V1.Name))
	return ctx, time.AfterFunc(patience, cancel)
}

// call implements line.
func (c *channel) call(r *request) ([]byte, error) {
	ctx, late := c.context()
	defer late.Stop()
	var body []byte
	err := c.Invoke(ctx, r.method, &r.raw, &body)
	return body, err
}

// stream implements line. Writes cannot be seen. A stream that each has enough of stays open.
func (c *channel) stream(r *request, each func(data []byte) error) (writes int, err error) {
	ctx, late := c.context()
	st, err := c.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, r.method)
	if err == nil {
		err = errors.Join(st.SendMsg(&r.raw), st.CloseSend())
	}
	var data []byte
	for err == nil {
		if err = st.RecvMsg(&data); err == nil {
			late.Reset(patience)
			err = each(data)
		}
	}
	late.Stop()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return 0, err
}
