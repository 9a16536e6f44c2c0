package client

import (
	"bytes"
	"net/http"

	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// httpJSON is the binding HTTP+JSON (A2A 1.0 §11).
type httpJSON struct{}

// Name is HTTP+JSON.
func (httpJSON) Name() string { return runtime.BindingHTTP }

// Connect takes any absolute URL of HTTP; the paths of operations go below it.
func (httpJSON) Connect(t Target) (Conn, error) {
	base, err := webURL(t.URL)
	if err != nil {
		return nil, err
	}
	return newWebConn(t, &restFraming{newAddresses(base)}), nil
}

// restFraming puts requests into URLs and bodies.
type restFraming struct{ addresses }

// restTypes are the content types of an answer.
const restTypes = "application/json, application/a2a+json"

func (f *restFraming) frame(r *Request) (frame, error) {
	call, err := f.address(r.Operation, r.Body)
	if err != nil {
		return nil, err
	}
	call.accept = restTypes
	if r.Operation.Role != runtime.RoleSubscribe {
		return restFrame{call}, nil
	}
	// The text of 1.0 says POST, its definition GET, and agents do as the one or the other (T2).
	post := &try{verb: http.MethodPost, url: call.url, accept: restTypes}
	get := &try{verb: http.MethodGet, url: call.url, accept: restTypes}
	return restFrame{post, get}, nil
}

// restFrame are the requests that may carry a call. Nothing stands around an answer.
type restFrame []*try

func (f restFrame) tries() []*try { return f }

func (restFrame) result(body []byte) ([]byte, error) {
	if body = bytes.TrimSpace(body); len(body) > 0 && string(body) != "null" {
		return body, nil
	}
	return nil, nil
}

// event is the item itself, or an error in the place of one.
func (restFrame) event(e sse.Event) ([]byte, error) {
	if string(e.Name) == "error" || firstMember(e.Data) == "error" || firstMember(e.Data) == "code" {
		if fault := runtime.ReadStatus(e.Data); fault != nil {
			return nil, fault
		}
	}
	return e.Data, nil
}

func (restFrame) fault(body []byte) *runtime.Error { return runtime.ReadStatus(body) }

// firstMember is the name of the first member of an object.
func firstMember(src []byte) string {
	var r wire.Reader
	r.Reset(src)
	key, _ := r.Object()
	return string(key)
}
