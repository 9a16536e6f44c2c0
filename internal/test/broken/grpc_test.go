package broken

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/a2agen/a2agen/internal/test/prototest"
	"github.com/a2agen/a2agen/runtime"
)

// grpcNames are operations of 0.3 that have other names in 1.0.
var grpcNames = map[string]string{"TaskSubscription": "SubscribeToTask", "ListTaskPushNotificationConfig": "ListTaskPushNotificationConfigs", "GetAgentCard": "GetExtendedAgentCard"}

// rpc is the method of 1.0 or 0.3 that a path names; nil if there is none. What comes over gRPC is changed as the JSON that
// it stands for.
func rpc(version, name string) protoreflect.MethodDescriptor {
	services, err := definitions()
	if err != nil {
		panic(err)
	}
	return services[version].Methods().ByName(protoreflect.Name(name))
}

var definitions = sync.OnceValues(func() (map[string]protoreflect.ServiceDescriptor, error) {
	all := map[string]protoreflect.ServiceDescriptor{}
	for _, version := range []string{"1.0", "0.3"} {
		src, err := os.ReadFile("../../../spec/v" + version + "/a2a.proto")
		if err != nil {
			return nil, err
		}
		file, err := prototest.Compile(string(src))
		if err != nil {
			return nil, err
		}
		all[version] = file.Services().Get(0)
	}
	return all, nil
})

// fromProto is the JSON of a message; nil if its bytes are none.
func fromProto(of protoreflect.MessageDescriptor, message []byte) any {
	m := dynamicpb.NewMessage(of)
	if proto.Unmarshal(message, m) != nil {
		return nil
	}
	body, err := protojson.Marshal(m)
	if err != nil {
		return nil
	}
	return decode(body)
}

// toProto is the message of some JSON. The error says that protobuf cannot say it.
func toProto(of protoreflect.MessageDescriptor, doc any) ([]byte, error) {
	m := dynamicpb.NewMessage(of)
	if err := protojson.Unmarshal([]byte(jsonText(doc)), m); err != nil {
		return nil, err
	}
	return proto.Marshal(m)
}

// readFrame reads the next message of a body.
func readFrame(from io.Reader) ([]byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, err
	}
	message := make([]byte, binary.BigEndian.Uint32(head[1:]))
	_, err := io.ReadFull(from, message)
	return message, err
}

func frame(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// roundTripGRPC passes a call of gRPC on: the row changes the request, the messages of the answer and how the call ends.
func (p *proxy) roundTripGRPC(r *http.Request) (*http.Response, error) {
	service, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	x := &exchange{request: r.Clone(r.Context()), binding: runtime.BindingGRPC, version: "1.0", op: name}
	if strings.HasPrefix(service, "a2a.v1.") {
		x.version = "0.3"
	}
	x.method = rpc(x.version, name)
	if other := grpcNames[name]; other != "" {
		x.op = other
	}
	message, err := readFrame(r.Body)
	if err != nil || x.method == nil {
		return nil, fmt.Errorf("no request of A2A: %q, %w", name, err)
	}
	x.params = asMap(fromProto(x.method.Input(), message))
	mine := p.row.concerns(x)
	if mine && p.row.request != nil {
		p.row.request(p, x)
		if message, err = toProto(x.method.Input(), x.params); err != nil {
			return nil, p.unsayable(err)
		}
	}
	x.setBody(frame(message))
	resp, err := p.http2.RoundTrip(x.request)
	if err != nil {
		return nil, err
	}
	if mine && p.row.instead != nil {
		if result := p.row.instead(p, x); result != nil {
			_ = resp.Body.Close()
			return resp, p.answerGRPC(x, resp, result)
		}
	}
	if mine && p.row.trailer != nil && resp.Header.Get("Grpc-Status") != "" {
		p.row.trailer(x, resp.Header)
	}
	if mine && p.row.response != nil {
		p.row.response(x, resp)
	}
	resp.Body = &frames{p: p, x: x, resp: resp, from: resp.Body, mine: mine}
	if mine && p.row.body != nil {
		resp.Body = p.row.body(x.request.Context(), resp.Body)
	}
	return resp, nil
}

// unsayable notes that protobuf cannot say what a row changed: the row is none for gRPC.
func (p *proxy) unsayable(err error) error {
	p.broke.Store(&err)
	return err
}

// answerGRPC makes an answer of a result, or of a failure, in place of the agent's.
func (p *proxy) answerGRPC(x *exchange, resp *http.Response, result any) error {
	resp.Header, resp.Trailer = http.Header{"Content-Type": {"application/grpc"}}, http.Header{}
	resp.ContentLength, resp.Body = -1, http.NoBody
	if f, failed := result.(failure); failed {
		resp.Header.Set("Grpc-Status", strconv.Itoa(failures[f["code"].(int)].grpc))
		resp.Header.Set("Grpc-Message", text(f["message"]))
		return nil
	}
	message, err := toProto(x.method.Output(), result)
	if err != nil {
		return p.unsayable(err)
	}
	resp.Trailer.Set("Grpc-Status", "0")
	resp.Body = io.NopCloser(bytes.NewReader(frame(message)))
	return nil
}

// frames are the messages of an answer, changed one by one.
type frames struct {
	p       *proxy
	x       *exchange
	resp    *http.Response
	from    io.ReadCloser
	mine    bool
	pending []byte
}

func (f *frames) Close() error { return f.from.Close() }

func (f *frames) Read(b []byte) (int, error) {
	for len(f.pending) == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, f.pending)
	f.pending = f.pending[n:]
	return n, nil
}

// next reads a message and puts what comes of it into pending. At the end it changes the trailers.
func (f *frames) next() error {
	message, err := readFrame(f.from)
	if err != nil {
		if err == io.EOF && f.mine && f.p.row.trailer != nil && f.resp.Header.Get("Grpc-Status") == "" {
			f.p.row.trailer(f.x, f.resp.Trailer)
		}
		return err
	}
	doc := f.p.changeDocument(f.x, fromProto(f.x.method.Output(), message), f.mine)
	docs := []any{doc}
	if f.mine && f.p.row.event != nil {
		docs = f.p.row.event(f.x, f.x.seen, doc)
	}
	f.x.seen++
	for _, doc := range docs {
		message, err := toProto(f.x.method.Output(), doc)
		if err != nil {
			return f.p.unsayable(err)
		}
		f.pending = append(f.pending, frame(message)...)
	}
	return nil
}
