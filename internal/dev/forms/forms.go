// Package forms reads what was recorded, in any version and over any binding, and writes it in the form of 1.0, so that
// the page has to know one form alone.
package forms

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/dev/traffic"
	"github.com/a2agen/a2agen/internal/frames"
	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
)

// Exchange is what was said in an exchange.
type Exchange struct {
	Version  string  `json:"version"` // that it was read as
	Request  Form    `json:"request"`
	Response Form    `json:"response"`
	Events   []Event `json:"events"`
}

// Form is something in the form of 1.0; Form is nil where it could not be read, or where there was nothing.
type Form struct {
	Form    json.RawMessage `json:"form,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`   // as the agent sent it
	Problem string          `json:"problem,omitempty"` // why it could not be read
}

// Event is one of a stream.
type Event struct {
	N  int    `json:"n"`
	ID string `json:"id,omitempty"` // by which the stream goes on after it
	Form
}

// reader knows the dialect of an exchange.
type reader struct {
	x       *traffic.Exchange
	version *runtime.Version
	table   *runtime.Table
	op      *runtime.Operation // as the exchange has it
	newest  *runtime.Operation // as 1.0 has it
	first   *runtime.Version   // 1.0
}

// Of reads an exchange; of its events those after a number, at most so many.
func Of(x *traffic.Exchange, after, most int) Exchange {
	r := newReader(x)
	if r == nil {
		return Exchange{Request: unknown, Response: unknown, Events: []Event{}}
	}
	f := Exchange{Version: r.version.Name, Request: r.request(), Events: []Event{}}
	if len(x.Events) == 0 && x.State != traffic.Running {
		f.Response = r.response()
	}
	for _, e := range x.Events {
		if e.N > after && len(f.Events) < most {
			f.Events = append(f.Events, Event{e.N, e.ID, r.event(e)})
		}
	}
	return f
}

var unknown = Form{Problem: "it is not known what this calls"}

// newReader finds out how an exchange has to be read; nil if that is not known.
func newReader(x *traffic.Exchange) *reader {
	role := runtime.RoleOf(x.Operation)
	if role == runtime.RoleOther {
		return nil
	}
	p := a2awires.Protocol()
	r := &reader{x: x, first: p.Versions[0]}
	for _, v := range p.Versions {
		table := v.Over(x.Binding)
		if table == nil || !r.speaks(v, table, role) {
			continue
		}
		r.version, r.table, r.op = v, table, operation(table, role)
		break
	}
	if r.newest = operation(&r.first.Table, role); r.op == nil || r.newest == nil {
		return nil
	}
	return r
}

func operation(t *runtime.Table, role runtime.Role) *runtime.Operation {
	if i := slices.IndexFunc(t.Operations, func(op *runtime.Operation) bool { return op.Role == role }); i >= 0 {
		return t.Operations[i]
	}
	return nil
}

// speaks reports whether an exchange is one of a version: by the version that it names, else by the name or the path that
// it calls.
func (r *reader) speaks(v *runtime.Version, t *runtime.Table, role runtime.Role) bool {
	op := operation(t, role)
	if op == nil {
		return false
	}
	if r.x.Binding == runtime.BindingGRPC {
		return r.x.Path == op.GRPC
	}
	if r.x.Version != "" {
		return strings.HasPrefix(r.x.Version+".", v.Name+".")
	}
	if r.x.Binding == runtime.BindingJSONRPC {
		return r.x.Called == op.RPC
	}
	path, _, _ := strings.Cut(r.x.Path, "?")
	old := strings.HasPrefix(path, "/v1/") || strings.Contains(path, "/v1/")
	return old == slices.ContainsFunc(op.HTTP, func(h runtime.Route) bool { return strings.HasPrefix(h.Path, "/v1/") })
}

func problem(err error) Form { return Form{Problem: err.Error()} }

var errCut = errors.New("not all of it was kept")

// request reads the request.
func (r *reader) request() Form {
	src, err := r.document(r.x.Request)
	switch {
	case err != nil:
		return problem(err)
	case r.x.Binding == runtime.BindingJSONRPC:
		var around struct {
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(src, &around); err != nil {
			return problem(err)
		}
		src = around.Params
	case r.x.Binding == runtime.BindingHTTP && !r.op.Role.Sends():
		return r.named()
	}
	neutral, err := r.op.Decode(src)
	if err != nil {
		return problem(err)
	}
	return written(r.newest.AppendRequest(nil, Source(neutral)))
}

// named is a request of HTTP+JSON that has what it is about in its address.
func (r *reader) named() Form {
	request := a2awires.Protocol().NewTaskRequest(r.op.Role, runtime.TaskRequest{ID: r.x.Task})
	if request == nil {
		return Form{Problem: "what it asks for is in its address"}
	}
	return written(r.newest.AppendRequest(nil, request))
}

func written(b []byte, err error) Form {
	if err != nil {
		return problem(err)
	}
	return Form{Form: b}
}

// document is what a body has: of gRPC its one message.
func (r *reader) document(b traffic.Body) ([]byte, error) {
	if b.Cut {
		return nil, errCut
	}
	if r.x.Binding != runtime.BindingGRPC {
		return b.Bytes, nil
	}
	return message(b.Bytes)
}

// message is a message of gRPC without its header.
func message(frame []byte) ([]byte, error) {
	split := frames.Splitter{GRPC: true}
	if err := split.Feed(frame); err != nil {
		return nil, err
	}
	const header = 5
	whole := split.Next()
	if len(whole) < header || whole[0] != 0 {
		return nil, errors.New("it is no message of gRPC, or a compressed one")
	}
	return whole[header:], nil
}

// response reads an answer that is no stream.
func (r *reader) response() Form {
	src, err := r.document(r.x.Response)
	switch {
	case r.x.Binding == runtime.BindingGRPC && r.x.Outcome == "error":
		return Form{Error: quoted(r.x.Trailer.Get("Grpc-Message") + r.x.Header.Get("Grpc-Message"))}
	case err != nil:
		return problem(err)
	case r.x.Status >= 300:
		return Form{Error: value(src)}
	case r.x.Binding == runtime.BindingJSONRPC:
		var fault json.RawMessage
		if src, fault, err = result(src); err != nil {
			return problem(err)
		}
		if fault != nil {
			return Form{Error: fault}
		}
	}
	v, err := r.op.Read(src)
	if err != nil {
		return problem(err)
	}
	return written(r.newest.Append(nil, v))
}

// result takes away what JSON-RPC puts around a result.
func result(src []byte) (result, fault json.RawMessage, err error) {
	var around struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	err = json.Unmarshal(src, &around)
	return around.Result, around.Error, err
}

// value is what an agent sent as JSON: itself, or a text.
func value(src []byte) json.RawMessage {
	if json.Valid(src) {
		return src
	}
	return quoted(string(src))
}

func quoted(text string) json.RawMessage {
	b, _ := json.Marshal(strings.ToValidUTF8(text, "�")) // a text
	return b
}

// event reads an event of a stream.
func (r *reader) event(e traffic.Event) Form {
	if e.Cut {
		return problem(errCut)
	}
	src, err := r.item(e)
	switch {
	case err != nil:
		return problem(err)
	case src == nil: // a comment
		return Form{}
	case r.x.Binding == runtime.BindingJSONRPC:
		var fault json.RawMessage
		if src, fault, err = result(src); err != nil {
			return problem(err)
		}
		if fault != nil {
			return Form{Error: fault}
		}
	}
	said, err := r.table.ReadEvent(src)
	if err != nil {
		if e.Kind == "error" {
			return Form{Error: value(src)}
		}
		return problem(err)
	}
	return written(r.first.AppendEvent(nil, said))
}

// item is what an event carries; nil for nothing.
func (r *reader) item(e traffic.Event) ([]byte, error) {
	if r.x.Binding == runtime.BindingGRPC {
		return message(e.Bytes)
	}
	said, err := sse.NewReader(bytes.NewReader(e.Bytes), frames.MaxEvent).Next()
	if err != nil {
		return nil, nil // a comment
	}
	return said.Data, nil
}

// Source is the generated request behind a neutral one, as [runtime.Operation] reads it.
func Source(neutral any) any {
	switch r := neutral.(type) {
	case *runtime.SendRequest:
		return r.Source
	case *runtime.TaskRequest:
		return r.Source
	case *runtime.ListRequest:
		return r.Source
	case *runtime.PushRequest:
		return r.Source
	}
	return neutral
}
