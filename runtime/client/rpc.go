package client

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/sse"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Call runs an operation that has one result. request and result are the generated ones.
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
	return runtime.Generated(result), nil
}

func (c *Client) call(ctx context.Context, op *runtime.Operation, request any, cl *call) (any, error) {
	r, err := c.post(ctx, op, request, cl, "application/json")
	if err != nil {
		return nil, err
	}
	defer r.close()
	body, err := r.read(c.maxResponse)
	if err != nil {
		return nil, err
	}
	result, err := resultOf(body, r.id)
	if err != nil {
		return nil, explain(r.resp, body, err)
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

// post sends the request and returns the answer if its status is 2xx, else an error. The caller closes it.
func (c *Client) post(ctx context.Context, op *runtime.Operation, request any, cl *call, accept string) (*reply, error) {
	id := c.nextID.Add(1)
	body, err := appendRequest(nil, op, id, request)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.iface.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = cl.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	req.Header.Set("A2A-Version", c.version.Name) // R150
	if uris := distinct(cl.extensions); len(uris) > 0 {
		req.Header.Set("A2A-Extensions", strings.Join(uris, ", "))
		if c.version.Rules.PlainErrors { // what 0.2 and 0.3 call it
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
	r, err := c.do(req, atOnce(op))
	if err != nil {
		return nil, err
	}
	if r.resp.StatusCode/100 != 2 {
		defer r.close()
		return nil, httpError(r.resp, r.start(64<<10))
	}
	r.id = id
	return r, nil
}

// atOnce reports whether the answer to an operation begins without delay: a stream's does, but what a send answers may take hours of
// work, and nothing is known of operations without a role.
func atOnce(op *runtime.Operation) bool {
	return op.Stream || op.Role != runtime.RoleSend && op.Role != runtime.RoleOther
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
