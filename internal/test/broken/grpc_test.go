package broken

import (
	"encoding/binary"
	"io"
	"net/http"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/a2agen/a2agen/runtime"
)

// grpcNames are operations of 0.3 that have other names in 1.0.
var grpcNames = map[string]string{"TaskSubscription": "SubscribeToTask", "ListTaskPushNotificationConfig": "ListTaskPushNotificationConfigs", "GetAgentCard": "GetExtendedAgentCard"}

// roundTripGRPC passes a call of gRPC on: the row changes the messages of the answer and how the call ends.
func (p *proxy) roundTripGRPC(r *http.Request) (*http.Response, error) {
	service, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	x := &exchange{request: r, binding: runtime.BindingGRPC, version: "1.0", op: method}
	if strings.HasPrefix(service, "a2a.v1.") {
		x.version = "0.3"
	}
	if name := grpcNames[method]; name != "" {
		x.op = name
	}
	if p.row.request != nil && p.row.concerns(x) {
		p.row.request(p, x)
	}
	resp, err := p.http2.RoundTrip(r)
	if err != nil || !p.row.concerns(x) {
		return resp, err
	}
	if p.row.trailer != nil && resp.Header.Get("Grpc-Status") != "" {
		p.row.trailer(x, resp.Header)
	}
	resp.Body = &frames{p: p, x: x, resp: resp, from: resp.Body}
	return resp, nil
}

// frames are the messages of an answer, changed one by one.
type frames struct {
	p       *proxy
	x       *exchange
	resp    *http.Response
	from    io.ReadCloser
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
	var head [5]byte
	if _, err := io.ReadFull(f.from, head[:]); err != nil {
		if err == io.EOF && f.p.row.trailer != nil && f.resp.Header.Get("Grpc-Status") == "" {
			f.p.row.trailer(f.x, f.resp.Trailer)
		}
		return err
	}
	message := make([]byte, binary.BigEndian.Uint32(head[1:]))
	if _, err := io.ReadFull(f.from, message); err != nil {
		return err
	}
	messages := [][]byte{message}
	if f.p.row.message != nil {
		messages = f.p.row.message(f.x, f.x.seen, message)
	}
	f.x.seen++
	for _, m := range messages {
		f.pending = append(f.pending, frame(m)...)
	}
	return nil
}

func frame(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// edit changes the fields with a number in a message, on the way of the numbers of the messages that they are in. f gets what
// the field holds and returns what stands there instead: nothing at all if it is nil.
func edit(message []byte, path []protowire.Number, f func(value []byte) []byte) []byte {
	var out []byte
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		size := protowire.ConsumeFieldValue(number, kind, message[n:])
		value, whole := message[n:n+size], message[:n+size]
		message = message[n+size:]
		switch {
		case number != path[0]:
			out = append(out, whole...)
		case len(path) > 1:
			inner, _ := protowire.ConsumeBytes(value)
			out = protowire.AppendBytes(protowire.AppendTag(out, number, kind), edit(inner, path[1:], f))
		default:
			if changed := f(value); changed != nil {
				out = append(protowire.AppendTag(out, number, kind), changed...)
			}
		}
	}
	return out
}

// without leaves a field out.
func without(path ...protowire.Number) func(*exchange, int, []byte) [][]byte {
	return func(_ *exchange, _ int, message []byte) [][]byte {
		return [][]byte{edit(message, path, func([]byte) []byte { return nil })}
	}
}
