package conform

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// grpcBase is the scheme and authority under which the address of an interface is called: "host:port", "dns:///host:port" or a
// URL. An address that does not say it is called with TLS if secure is set.
func grpcBase(address string, secure bool) (string, error) {
	rest := strings.TrimPrefix(address, "dns:///")
	switch u, err := url.Parse(rest); {
	case err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "grpcs"):
		rest, secure = u.Host, true
	case err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "grpc"):
		rest, secure = u.Host, false
	}
	if rest == "" || strings.ContainsAny(rest, "/?#@ ") {
		return "", fmt.Errorf("%q is not the address of a gRPC server, host:port", clean(address, 200))
	}
	if secure {
		return "https://" + rest, nil
	}
	return "http://" + rest, nil
}

// grpcFrame is a message as it is sent: one byte for "not compressed", its length, and itself.
func grpcFrame(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// readFrame reads the next message of an answer: io.EOF says that there is none.
func readFrame(body io.Reader) ([]byte, error) {
	var head [5]byte
	switch _, err := io.ReadFull(body, head[:]); {
	case err == io.EOF:
		return nil, io.EOF
	case err != nil:
		return nil, fmt.Errorf("read a message: %w", err)
	}
	size := binary.BigEndian.Uint32(head[1:])
	switch {
	case head[0] != 0:
		return nil, errors.New("a message is compressed, which was not asked for")
	case size > maxBody:
		return nil, errTooLong
	}
	var message bytes.Buffer // grows with what comes, not with what is announced
	if _, err := io.CopyN(&message, body, int64(size)); err != nil {
		return nil, fmt.Errorf("read a message of %d bytes: %w", size, err)
	}
	return message.Bytes(), nil
}

// grpcCodes are the names of the codes by their numbers.
var grpcCodes = []string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"}

// readGRPCStatus reads how a call ended; nil is well. What is wrong with how that is written is in faults.
func readGRPCStatus(h http.Header) (f *failure, faults []string) {
	code, err := strconv.Atoi(h.Get("Grpc-Status"))
	switch {
	case err != nil || code < 0 || code >= len(grpcCodes):
		return &failure{status: "UNKNOWN", typed: true}, []string{fmt.Sprintf("the call ended with the grpc-status %q", clean(h.Get("Grpc-Status"), 60))}
	case code == 0:
		return nil, nil
	}
	f = &failure{status: grpcCodes[code], message: h.Get("Grpc-Message"), typed: true}
	if text, err := url.PathUnescape(f.message); err == nil {
		f.message = text
	}
	if f.message == "" {
		faults = append(faults, fmt.Sprintf("the error %s has no message", f.status))
	}
	bin := strings.TrimRight(h.Get("Grpc-Status-Details-Bin"), "=")
	if bin == "" {
		return f, faults
	}
	raw, err := base64.RawStdEncoding.DecodeString(bin)
	if err != nil {
		return f, append(faults, "grpc-status-details-bin is not base64")
	}
	status, err := rpcErrors.decode("Status", raw)
	if err != nil {
		return f, append(faults, "grpc-status-details-bin is no google.rpc.Status: "+err.Error())
	}
	if n, ok := number(status["code"]); !ok || n != int64(code) {
		faults = append(faults, fmt.Sprintf("the google.rpc.Status in grpc-status-details-bin has the code %d, grpc-status is %d", n, code))
	}
	details := []any{}
	for _, wrapped := range objects(status["details"]) { // each a google.protobuf.Any: of an unknown type stays the name
		kind, detail := text(wrapped, "typeUrl"), object{}
		raw, err := base64.StdEncoding.DecodeString(text(wrapped, "value"))
		if name := kind[strings.LastIndexByte(kind, '.')+1:]; err == nil && rpcErrors.named(name) != nil {
			if read, err := rpcErrors.decode(name, raw); err == nil {
				detail = read
			}
		}
		detail["@type"] = kind
		details = append(details, detail)
	}
	f.readDetails(details)
	return f, faults
}

// rpcErrors is what errors of gRPC are made of.
var rpcErrors = &definition{types: []typeOf{
	{name: "Status", fields: []field{{json: "code", typ: "int32", number: 1, required: true}, {json: "message", typ: "string", number: 2}, {json: "details", typ: "[]Any", number: 3}}},
	{name: "Any", fields: []field{{json: "typeUrl", typ: "string", number: 1, required: true}, {json: "value", typ: "bytes", number: 2, required: true}}},
	{name: "ErrorInfo", fields: []field{{json: "reason", typ: "string", number: 1}, {json: "domain", typ: "string", number: 2}, {json: "metadata", typ: "{}string", number: 3}}},
	{name: "BadRequest", fields: []field{{json: "fieldViolations", typ: "[]FieldViolation", number: 1}}},
	{name: "FieldViolation", fields: []field{{json: "field", typ: "string", number: 1}, {json: "description", typ: "string", number: 2}}},
}}

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
		if x.took(v, until) {
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
