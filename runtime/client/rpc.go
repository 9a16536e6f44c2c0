package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/sse"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Call runs an operation that has one result. request is the generated request; the result is what the operation's Read returns.
// Errors: *runtime.Error from the agent, *HTTPError, or those of transport and context.
func (c *Client) Call(ctx context.Context, m Method, request any, opts ...CallOption) (any, error) {
	op, err := c.operation(m)
	if err != nil {
		return nil, err
	}
	result, err := c.call(ctx, op, request, c.newCall(opts))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.RPC, err)
	}
	return result, nil
}

func (c *Client) call(ctx context.Context, op *runtime.Operation, request any, cl *call) (any, error) {
	resp, id, err := c.post(ctx, op, request, cl, "application/json")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := readBody(resp, c.maxResponse)
	if err != nil {
		return nil, err
	}
	result, err := resultOf(body, id)
	if err != nil {
		return nil, explain(resp, body, err)
	}
	if result == nil { // an operation without a result may be answered by neither member, or null (T61)
		result = []byte("{}")
	}
	v, err := op.Read(result)
	if err != nil {
		return nil, invalid("result", err)
	}
	return v, nil
}

// post sends the request and returns the response if its status is 2xx, else an error. The caller closes the body.
func (c *Client) post(ctx context.Context, op *runtime.Operation, request any, cl *call, accept string) (*http.Response, int64, error) {
	id := c.nextID.Add(1)
	body, err := appendRequest(nil, op, id, request)
	if err != nil {
		return nil, 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.iface.URL, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	req.Header = cl.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	req.Header.Set("A2A-Version", c.version.Name) // R150
	if uris := distinct(cl.extensions); len(uris) > 0 {
		req.Header.Set("A2A-Extensions", strings.Join(uris, ", "))
		if c.version.Rules.PlainErrors { // what 0.2 and 0.3 call it (protocol 5)
			req.Header.Set("X-A2A-Extensions", strings.Join(uris, ", "))
		}
	}
	if op.Stream {
		req.Header.Set("Accept-Encoding", "identity") // compression would hold events back (T58)
		req.Header.Set("Cache-Control", "no-cache")
		if cl.lastEventID != "" {
			req.Header.Set("Last-Event-ID", cl.lastEventID)
		}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, 0, err
	}
	if resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what there is explains the status
		return nil, 0, httpError(resp, body)
	}
	return resp, id, nil
}

// appendRequest appends the JSON-RPC request.
func appendRequest(dst []byte, op *runtime.Operation, id int64, request any) ([]byte, error) {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = strconv.AppendInt(dst, id, 10)
	dst = append(dst, `,"method":"`...)
	dst = append(dst, op.RPC...) // an identifier of the protocol definition
	dst = append(dst, `","params":`...)
	dst, err := op.AppendRequest(dst, request)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return append(dst, '}'), nil
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
		return nil, runtime.ErrInvalidAgentResponse.With("the response has id %s instead of %d", printable(resp.id), id)
	}
	return resp.result, nil
}

// invalid is the error of an answer that breaks the protocol.
func invalid(what string, err error) error {
	return fmt.Errorf("%w: %s: %w", runtime.ErrInvalidAgentResponse, what, err)
}

// explain adds the start of a body that is no JSON at all, such as the login page of a proxy.
func explain(resp *http.Response, body []byte, err error) error {
	if ct := resp.Header.Get("Content-Type"); ct != "" && !isJSON(ct) {
		return fmt.Errorf("%w (the answer is %s: %s)", err, printable([]byte(ct)), printable(body))
	}
	return err
}

// isJSON reports whether a content type is JSON: application/json or any +json, with parameters or not.
func isJSON(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && (t == "application/json" || strings.HasSuffix(t, "+json"))
}

// isEvents reports whether a content type is an event stream.
func isEvents(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && t == sse.ContentType
}

// readBody reads a whole body of at most limit bytes.
func readBody(resp *http.Response, limit int) ([]byte, error) {
	if resp.ContentLength > int64(limit) {
		return nil, fmt.Errorf("the answer is over %d bytes", limit)
	}
	var b bytes.Buffer
	if resp.ContentLength > 0 {
		b.Grow(int(min(resp.ContentLength, 1<<20)) + bytes.MinRead) // what is announced need not come
	}
	if _, err := b.ReadFrom(io.LimitReader(resp.Body, int64(limit)+1)); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if b.Len() > limit {
		return nil, fmt.Errorf("the answer is over %d bytes", limit)
	}
	return b.Bytes(), nil
}

// distinct drops empty and repeated values, keeping the order.
func distinct(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
