package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server/internal/httpbinding"
	"github.com/a2agen/a2agen/runtime/wire"
)

// envelope is a JSON-RPC 2.0 request, as slices of the body.
type envelope struct {
	id     []byte // byte for byte as it came (T54); nil: a notification
	method []byte // unquoted
	params []byte // one JSON value, not checked yet; nil: none
	bare   bool   // there is no jsonrpc member, which nothing but 0.1 allows
}

// readEnvelope reads the members of a request in one pass. What is inside params is only measured: its decoder checks
// it, so that nothing is looked at twice. On an error the id is there if it could be read.
func readEnvelope(body []byte) (envelope, *runtime.Error) {
	var r wire.Reader
	r.Reset(body)
	var e envelope
	var version, method []byte
	ids, twice := 0, false
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		var to *[]byte
		switch string(key) {
		case "jsonrpc":
			to = &version
		case "id":
			to = &e.id
			ids++
		case "method":
			to = &method
		case "params":
			twice = twice || e.params != nil
			e.params = r.Deferred()
			continue
		default:
			r.Unknown(key)
			continue
		}
		twice = twice || *to != nil
		*to = r.Raw()
	}
	if ids > 1 || !validID(e.id) {
		e.id = nil
	}
	switch err := r.Done(); {
	case err != nil:
		return e, unreadable(body, err)
	case twice:
		return e, runtime.ErrInvalidRequest.With("a member is given more than once")
	case ids > 0 && e.id == nil:
		return e, runtime.ErrInvalidRequest.With("id must be a string, a number or null, of at most %d bytes", maxID)
	}
	return e.checked(version, method)
}

// checked applies the rules of JSON-RPC to the members.
func (e envelope) checked(version, method []byte) (envelope, *runtime.Error) {
	if len(method) > 2 && method[0] == '"' && bytes.IndexByte(method, '\\') < 0 {
		e.method = method[1 : len(method)-1]
	} else if name := ""; method != nil && json.Unmarshal(method, &name) == nil {
		e.method = []byte(name)
	}
	switch {
	case version != nil && string(version) != `"2.0"`:
		return e, runtime.ErrInvalidRequest.With(`jsonrpc must be "2.0"`)
	case len(e.method) == 0:
		return e, runtime.ErrInvalidRequest.With("method must be a string")
	case string(e.params) == "null":
		e.params = nil // some clients write null for "no parameters" (T66)
	case len(e.params) > 0 && e.params[0] != '{':
		if !httpbinding.IsJSON(e.params) {
			return e, runtime.ErrParse
		}
		return e, runtime.ErrInvalidParams.With("params must be an object")
	}
	e.bare = version == nil
	return e, nil
}

// validID reports whether raw, which is JSON, is a string, number or null that is not too long.
func validID(raw []byte) bool {
	if len(raw) == 0 || len(raw) > maxID {
		return false
	}
	switch c := raw[0]; c {
	case '"', '-', 'n':
		return true
	default:
		return c >= '0' && c <= '9'
	}
}

// maxID is the longest id that is echoed, in bytes: every event of a stream repeats it.
const maxID = 1024

// unreadable returns the error for a body that is no request: a parse error if it is no JSON.
func unreadable(body []byte, err error) *runtime.Error {
	if !httpbinding.IsJSON(body) {
		return runtime.ErrParse
	}
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		return runtime.ErrInvalidRequest.With("batches are not supported, send one request at a time")
	}
	if found := (*wire.Error)(nil); errors.As(err, &found) {
		return runtime.ErrInvalidRequest.With("%s", found.Reason)
	}
	return runtime.ErrInvalidRequest
}
