package traffic

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/a2agen/a2agen/internal/frames"
)

// Limits of what a tracer prints of one body or event, in bytes.
const (
	traced    = 64 << 10
	tracedHex = 256 // of a message of gRPC, beside its JSON
)

// Tracer prints what a client and an agent say to each other as it passes: the very bytes, without secrets.
type Tracer struct {
	mu          sync.Mutex
	out         io.Writer
	definitions *Definitions
}

// NewTracer returns a tracer that reads messages of gRPC by the definitions that the tool has.
func NewTracer(out io.Writer) *Tracer { return &Tracer{out: out, definitions: Shipped(nil)} }

// print prints lines, each after a sign: ">" for what the client says, "<" for the agent.
func (t *Tracer) print(sign string, text []byte) {
	size := len(text)
	text = text[:min(size, traced)]
	var b strings.Builder
	for line := range strings.Lines(Visible(string(text))) {
		b.WriteString(sign + " " + strings.TrimRight(line, "\r\n") + "\n")
	}
	if size > traced {
		fmt.Fprintf(&b, "%s … (%d bytes in all)\n", sign, size)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = io.WriteString(t.out, b.String()) // who reads it may be gone
}

// head returns lines of headers, sorted.
func head(first string, h http.Header) []byte {
	var b strings.Builder
	b.WriteString(first + "\n")
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[name] {
			b.WriteString(name + ": " + v + "\n")
		}
	}
	return []byte(b.String())
}

func since(begun time.Time) string {
	return fmt.Sprintf("+%.1f ms", float64(time.Since(begun).Microseconds())/1000)
}

// Transport returns a transport that prints what passes.
func (t *Tracer) Transport(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		x := &trace{Tracer: t, begun: time.Now()}
		out := r.Clone(r.Context())
		header := x.mask.requestHeader(r.Header)
		path := x.mask.path(r.URL)
		at := url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host}
		t.print(">", head(r.Method+" "+at.String()+path, header))
		if r.Body != nil && r.Body != http.NoBody {
			body, err := io.ReadAll(r.Body)
			_ = r.Body.Close()
			if err != nil {
				return nil, err
			}
			out.Body = io.NopCloser(bytes.NewReader(body))
			x.sent(r, body)
		}
		resp, err := base.RoundTrip(out)
		if err != nil {
			t.print("<", []byte(since(x.begun)+" "+err.Error()))
			return nil, err
		}
		t.print("<", head(resp.Status+" "+since(x.begun), x.mask.answerHeader(resp.Header)))
		x.events = frames.IsServerSent(resp.Header)
		resp.Body = &tracedBody{ReadCloser: resp.Body, trace: x}
		return resp, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// trace is a request that is printed.
type trace struct {
	*Tracer
	begun  time.Time
	mask   mask
	method protoreflect.MethodDescriptor

	events bool
	split  frames.Splitter
	body   buffer
	over   bool
}

// sent prints a request's body. That of a login is secret throughout.
func (x *trace) sent(r *http.Request, body []byte) {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		x.print(">", fmt.Appendf(nil, "(a form of %d bytes, which is not shown)", len(body)))
		return
	}
	x.print(">", x.mask.text(body))
}

// tracedBody is the body of an answer.
type tracedBody struct {
	io.ReadCloser
	*trace
}

// Read reads on.
func (b *tracedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.received(p[:n])
	if err != nil {
		b.end(err)
	}
	return n, err
}

// Close ends it.
func (b *tracedBody) Close() error {
	b.end(nil)
	return b.ReadCloser.Close()
}

func (x *trace) received(p []byte) {
	x.body.size += int64(len(p))
	if !x.events {
		x.body.b = append(x.body.b, p[:min(len(p), max(0, 2*traced-len(x.body.b)))]...)
		return
	}
	if x.split.Feed(p) != nil {
		x.events = false // the rest is not shown
		return
	}
	for e := x.split.Next(); e != nil; e = x.split.Next() {
		x.print("<", fmt.Appendf(nil, "%s\n%s", since(x.begun), x.mask.text(bytes.Clone(e))))
	}
}

// end prints what is left of an answer, once.
func (x *trace) end(err error) {
	if x.over {
		return
	}
	x.over = true
	if text := x.mask.text(x.body.b); len(text) > 0 {
		x.print("<", text)
	}
	how := ""
	if err != nil && err != io.EOF {
		how = ": " + err.Error()
	}
	x.print("<", fmt.Appendf(nil, "(%d bytes, %s)%s", x.body.size, since(x.begun), how))
}

// Stats returns what prints the calls of a client of gRPC.
func (t *Tracer) Stats() stats.Handler { return grpcTracer{t} }

type grpcTracer struct{ *Tracer }

type traceKey struct{}

// TagConn is for connections, of which nothing is printed.
func (g grpcTracer) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn likewise.
func (g grpcTracer) HandleConn(context.Context, stats.ConnStats) {}

// TagRPC begins a call.
func (g grpcTracer) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	x := &trace{Tracer: g.Tracer, begun: time.Now(), method: g.definitions.method(info.FullMethodName)}
	return context.WithValue(ctx, traceKey{}, x)
}

// HandleRPC prints a step of a call.
func (g grpcTracer) HandleRPC(ctx context.Context, s stats.RPCStats) {
	x, ok := ctx.Value(traceKey{}).(*trace)
	if !ok {
		return
	}
	switch s := s.(type) {
	case *stats.OutHeader:
		g.print(">", head("gRPC "+s.FullMethod, x.mask.requestHeader(canonical(s.Header))))
	case *stats.OutPayload:
		x.message(">", s.Payload, func(m protoreflect.MethodDescriptor) protoreflect.MessageDescriptor { return m.Input() })
	case *stats.InHeader:
		g.print("<", head("gRPC "+since(x.begun), x.mask.answerHeader(canonical(s.Header))))
	case *stats.InPayload:
		x.message("<", s.Payload, func(m protoreflect.MethodDescriptor) protoreflect.MessageDescriptor { return m.Output() })
	case *stats.End:
		how := "ended"
		if s.Error != nil {
			how = s.Error.Error()
		}
		g.print("<", x.mask.text([]byte("("+since(x.begun)+") "+how)))
	}
}

// canonical returns metadata as headers.
func canonical(md map[string][]string) http.Header {
	h := http.Header{}
	for name, values := range md {
		h[textproto.CanonicalMIMEHeaderKey(name)] = values
	}
	return h
}

// message prints a message of gRPC: as JSON, and its first bytes.
func (x *trace) message(sign string, payload any, of func(protoreflect.MethodDescriptor) protoreflect.MessageDescriptor) {
	b, ok := payload.(*[]byte)
	if !ok {
		return
	}
	var text []byte
	var raw []byte
	if x.method != nil {
		frame := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(*b))), *b...)
		var secrets []string
		text, secrets = x.mask.message(frame, of(x.method))
		raw = x.mask.binary(slices.Clone(*b), secrets)
	}
	if text == nil {
		x.print(sign, fmt.Appendf(nil, "%s %d bytes of a message that no definition knows", since(x.begun), len(*b)))
		return
	}
	more := ""
	if len(raw) > tracedHex {
		more = " …"
	}
	x.print(sign, fmt.Appendf(nil, "%s %d bytes\n%s\n%s%s", since(x.begun), len(*b), text, hex.EncodeToString(raw[:min(len(raw), tracedHex)]), more))
}

// Visible is a text without what a terminal would obey. Tabs and line ends stay.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		if (r < ' ' || r >= 0x7f && r < 0xa0) && r != '\t' && r != '\n' && r != '\r' {
			return '·'
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
}
