package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/a2agen/a2agen/bench/internal/proc"
	"github.com/a2agen/a2agen/bench/internal/work"
)

// Dialect is a version of A2A over a binding.
type Dialect struct {
	Name         string // "1.0"
	binding      binding
	shared       bool // all drivers share one line
	header       http.Header
	bears        string                                  // the credential in header; "": none
	send, stream string                                  // methods, as the binding names them
	get          func(id string) (method, params string) // nil: there is nothing to fetch
	message      string                                  // parameters of send and stream: number, text
	completed    string                                  // the mark of a completed state in compact JSON
	// result reads the result of a send.
	result func(src []byte) (result, error)
}

// binding is how requests and answers travel.
type binding interface {
	// addr is where a process is reached.
	addr(p *proc.Process) string
	// dial opens what one driver asks over.
	dial(addr string) (line, error)
	// request makes a request of a method with parameters as JSON.
	request(d *Dialect, addr, method, params string) *request
	// answers reports whether an answer or an event shows that it is for the request of the number.
	answers(body, number []byte) bool
	// complete reports whether an answer or an event says that its task is completed.
	complete(d *Dialect, body []byte) bool
	// open returns the result in an answer to a method, as JSON.
	open(method string, body []byte) ([]byte, error)
}

// line is what one driver asks over, one request after another.
type line interface {
	// call sends a request and returns the whole answer, which is valid until the next call.
	call(r *request) ([]byte, error)
	// stream sends a request and hands each event to each, until the stream ends or each returns an error. It returns
	// in how many writes the stream came, where that can be seen.
	stream(r *request, each func(data []byte) error) (writes int, err error)
	Close() error
}

// result is an answer in neutral form.
type result struct {
	state     string   // "" for a message
	id        string   // task id
	texts     []string // of the message, or of the artifacts
	artifacts int
}

// byID is the request for a task in JSON.
func byID(method string) func(string) (string, string) {
	return func(id string) (string, string) { return method, fmt.Sprintf(`{"id":%q}`, id) }
}

// V1 is A2A 1.0 over JSON-RPC.
var V1 = &Dialect{
	Name:    "1.0",
	binding: rpc{},
	header:  http.Header{"A2a-Version": {"1.0"}, "Accept": {"application/json, text/event-stream"}},
	send:    "SendMessage", stream: "SendStreamingMessage", get: byID("GetTask"),
	message:   `{"message":{"messageId":"m-%s","role":"ROLE_USER","parts":[{"text":%q}]}}`,
	completed: `"state":"TASK_STATE_COMPLETED"`,
	result:    resultV1,
}

// over is a dialect over another binding.
func (d Dialect) over(b binding, send, stream string, get func(string) (string, string)) *Dialect {
	d.binding, d.send, d.stream, d.get = b, send, stream, get
	return &d
}

// Canned is A2A 1.0 as far as a canned answer goes: there is nothing to fetch.
var Canned = V1.over(rpc{}, V1.send, V1.stream, nil)

// V02 is A2A 0.2 over JSON-RPC.
var V02 = &Dialect{
	Name:    "0.2",
	binding: rpc{},
	header:  http.Header{"Accept": {"application/json, text/event-stream"}},
	send:    "message/send", stream: "message/stream", get: byID("tasks/get"),
	message: `{"message":{"kind":"message","messageId":"m-%s","role":"user","parts":[{"kind":"text","text":%q}]},` +
		`"configuration":{"acceptedOutputModes":["text/plain"],"blocking":true}}`,
	completed: `"state":"completed"`,
	result:    resultV02,
}

type content struct {
	Parts []struct{ Text string }
}

type task struct {
	ID        string
	Status    struct{ State string }
	Artifacts []content
}

func (t *task) result() result {
	r := result{id: t.ID, state: t.Status.State, artifacts: len(t.Artifacts)}
	for _, a := range t.Artifacts {
		r.texts = append(r.texts, a.texts()...)
	}
	return r
}

func (c content) texts() []string {
	var list []string
	for _, p := range c.Parts {
		list = append(list, p.Text)
	}
	return list
}

func resultV1(src []byte) (result, error) {
	var v struct {
		Message *content
		Task    *task
		task    // the result of GetTask
	}
	if err := json.Unmarshal(src, &v); err != nil {
		return result{}, err
	}
	switch {
	case v.Message != nil:
		return result{texts: v.Message.texts()}, nil
	case v.Task != nil:
		return v.Task.result(), nil
	}
	return v.task.result(), nil
}

func resultV02(src []byte) (result, error) {
	var v struct {
		Kind string
		content
		task
	}
	if err := json.Unmarshal(src, &v); err != nil {
		return result{}, err
	}
	if v.Kind == "message" {
		return result{texts: v.texts()}, nil
	}
	return v.result(), nil
}

// numberMark stands for a request's number, 9 digits that are written over it.
const numberMark = "000000000"

// request is a whole request whose number can be changed in place.
type request struct {
	method string
	raw    []byte
	at     []int // offsets of the number
	num    []byte
	bears  []byte // where its credential stands; nil: it has none
}

// newRequest makes the request for a command. Each driver needs its own.
func (d *Dialect) newRequest(addr string, k work.Kind, n int) *request {
	method := d.stream
	if k == work.Message || k == work.Task {
		method = d.send
	}
	return d.binding.request(d, addr, method, fmt.Sprintf(d.message, numberMark, work.Text(k, n)))
}

// numbered finds where a request has its number.
func numbered(method string, raw []byte) *request {
	r := &request{method: method, raw: raw, num: []byte(numberMark)}
	for from := 0; ; {
		i := bytes.Index(r.raw[from:], []byte(numberMark))
		if i < 0 {
			return r
		}
		r.at = append(r.at, from+i)
		from += i + len(numberMark)
	}
}

// number writes a number below 10⁹ into the request.
func (r *request) number(n int) {
	for i := len(r.num) - 1; i >= 0; i-- {
		r.num[i] = byte('0' + n%10)
		n /= 10
	}
	for _, at := range r.at {
		copy(r.raw[at:], r.num)
	}
}
