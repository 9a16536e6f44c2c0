package client

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// jsonRPC is the binding JSON-RPC over HTTP (A2A 1.0 §9).
type jsonRPC struct{}

// Name is JSONRPC.
func (jsonRPC) Name() string { return runtime.BindingJSONRPC }

// Connect takes any absolute URL of HTTP.
func (jsonRPC) Connect(t Target) (Conn, error) {
	if _, err := webURL(t.URL); err != nil {
		return nil, err
	}
	return &webConn{t, (&rpcFraming{url: t.URL}).frame}, nil
}

// rpcFraming numbers the requests to a URL.
type rpcFraming struct {
	url  string
	last atomic.Int64
}

func (f *rpcFraming) frame(r *Request) (frame, error) {
	id := f.last.Add(1)
	body := append(make([]byte, 0, len(r.Body)+96), `{"jsonrpc":"2.0","id":`...)
	body = strconv.AppendInt(body, id, 10)
	body = append(body, `,"method":"`...)
	body = append(body, r.Operation.RPC...) // an identifier of the protocol definition
	body = append(body, `","params":`...)
	body = append(append(body, r.Body...), '}')
	return &rpcFrame{id: id, try: try{verb: http.MethodPost, url: f.url, accept: "application/json", body: body}}, nil
}

// rpcFrame is a request with the id that its answers have.
type rpcFrame struct {
	id  int64
	try try
}

func (f *rpcFrame) tries() []*try { return []*try{&f.try} }

func (f *rpcFrame) result(body []byte) ([]byte, error) { return resultOf(body, f.id) }

// event reads the JSON-RPC response that every event is.
func (f *rpcFrame) event(e sse.Event) ([]byte, error) { return resultOf(e.Data, f.id) }

func (f *rpcFrame) fault(body []byte) *runtime.Error {
	r, err := readResponse(body)
	if err != nil || r.fault == nil {
		return nil
	}
	e, err := runtime.ReadError(r.fault)
	if err != nil {
		return nil
	}
	return e
}

// response is a JSON-RPC response, its members as they came; nil is absent.
type response struct{ id, result, fault []byte }

// readResponse splits a response. The members refer to src.
func readResponse(src []byte) (response, error) {
	var r wire.Reader
	var seen wire.Seen
	var resp response
	r.Reset(src)
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		switch string(key) {
		case "id":
			resp.id = rawMember(&r, src, &seen, 0)
		case "result":
			resp.result = rawMember(&r, src, &seen, 1)
		case "error":
			resp.fault = rawMember(&r, src, &seen, 2)
		default:
			r.Unknown(key)
		}
	}
	return resp, r.Done()
}

// rawMember returns the next value as it stands in src, nil for null.
func rawMember(r *wire.Reader, src []byte, seen *wire.Seen, bit uint) []byte {
	if !r.Field(seen, bit) {
		return nil
	}
	from := r.Offset()
	r.Skip()
	if r.Err() != nil {
		return nil
	}
	return src[from:r.Offset()]
}

// resultOf returns the result of the response with the given id, nil when it has none, or its error.
func resultOf(src []byte, id int64) ([]byte, error) {
	resp, err := readResponse(src)
	if err != nil {
		return nil, invalid("response", err)
	}
	if resp.fault != nil {
		e, err := runtime.ReadError(resp.fault)
		if err != nil {
			return nil, invalid("response", err)
		}
		return nil, e
	}
	if got := strings.Trim(string(bytes.TrimSpace(resp.id)), `"`); got != "" && got != strconv.FormatInt(id, 10) {
		return nil, errInvalid.With("the response has id %s instead of %d", Printable(string(resp.id)), id)
	}
	return resp.result, nil
}
