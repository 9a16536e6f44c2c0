package conform

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// errUnsayable is that of a request which protobuf has no bytes for, such as a text in the place of a number.
var errUnsayable = errors.New("protobuf cannot say what this check sends")

// callGRPC is the wire of gRPC: messages of protobuf over HTTP/2, of which checks see the JSON.
func callGRPC(p *probe, x *exchange, of *operation, params object, o options) {
	request, err := p.dialect.def.encode(of.request, encode(params))
	if err != nil {
		x.err = fmt.Errorf("%w: %w", errUnsayable, err)
		return
	}
	base, err := grpcBase(p.URL, strings.HasPrefix(p.base, "https:"))
	if err != nil {
		x.err = err
		return
	}
	if p.config.Dial != nil { // its connections are without TLS, so that HTTP/2 cannot be negotiated
		base = strings.Replace(base, "https:", "http:", 1)
	}
	h := p.headers(o)
	h.Set("Content-Type", "application/grpc")
	h.Set("Te", "trailers")
	x.sent = p.shown("gRPC", of.grpc, h, encode(params))
	client := p.http2(strings.HasPrefix(base, "https:"))
	p.do(x, client, http.MethodPost, base+of.grpc, h, grpcFrame(request), o, func(resp *http.Response) error {
		if kind := mediaType(resp.Header); kind != "application/grpc" && kind != "application/grpc+proto" {
			return fmt.Errorf("the answer is not gRPC: it has the status %d of HTTP and the media type %q", resp.StatusCode, clean(kind, 60))
		}
		return x.readGRPC(resp, of, o.until)
	})
}

// http2 is the client for gRPC. Without TLS it speaks HTTP/2 from the first byte.
func (r *runner) http2(secure bool) *http.Client {
	if c := r.grpc[secure]; c != nil {
		return c
	}
	c := *r.client
	if t, ok := c.Transport.(*http.Transport); ok {
		t = t.Clone()
		t.Protocols = new(http.Protocols)
		t.Protocols.SetHTTP2(secure)
		t.Protocols.SetUnencryptedHTTP2(!secure)
		c.Transport = t
	}
	if r.grpc == nil {
		r.grpc = map[bool]*http.Client{}
	}
	r.grpc[secure] = &c
	return &c
}

// readGRPC reads the messages of an answer, until it ends or is enough, and how it ends.
func (x *exchange) readGRPC(resp *http.Response, of *operation, until func(*exchange) bool) error {
	x.streams = of.stream
	size := 0
	for {
		message, err := readFrame(resp.Body)
		if err == io.EOF {
			x.closed = true
			break
		}
		if err != nil {
			return err
		}
		if size += len(message); size > maxBody || len(x.events) > maxEvents {
			return errTooLong
		}
		v, err := x.dialect.def.decode(of.response, message)
		x.check("answer.grpc", err == nil, "a message cannot be read: %v", err)
		if err != nil {
			return fmt.Errorf("read a message: %w", err)
		}
		x.body = append(append(x.body, encode(v)...), '\n')
		if !of.stream {
			x.check("answer.grpc", x.result == nil, "the call has more than one message")
			x.result = v
			continue
		}
		s := streamed{raw: v}
		s.event, _ = x.dialect.event(x.op, v)
		x.events = append(x.events, s)
		if until != nil && until(x) {
			return nil
		}
	}
	ending := resp.Trailer
	if resp.Header.Get("Grpc-Status") != "" {
		ending = resp.Header // an answer of trailers alone
	}
	f, faults := readGRPCStatus(ending)
	x.check("answer.grpc", len(faults) == 0, "%s", strings.Join(faults, "; "))
	for _, name := range []string{"Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin"} {
		if value := ending.Get(name); value != "" {
			x.body = append(x.body, strings.ToLower(name)+": "+value+"\n"...)
		}
	}
	switch {
	case f == nil && !of.stream:
		x.check("answer.grpc", x.result != nil, "the call ended well without a message")
	case f != nil && len(x.events) > 0:
		x.events = append(x.events, streamed{failure: f})
	default:
		x.failure = f
	}
	return nil
}
