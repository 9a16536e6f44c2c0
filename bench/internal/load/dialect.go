package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/a2agen/a2agen/bench/internal/work"
)

// Dialect is a version of A2A as JSON-RPC requests and answers.
type Dialect struct {
	Name   string // "1.0"
	header http.Header
	// methods
	send, stream, get string
	message           string // parameters of send and stream: number, text
	completed         string // the mark of a completed state in compact JSON
	// result reads the result of a send.
	result func(src []byte) (result, error)
}

// result is an answer in neutral form.
type result struct {
	state     string   // "" for a message
	id        string   // task id
	texts     []string // of the message, or of the artifacts
	artifacts int
}

// V1 is A2A 1.0.
var V1 = &Dialect{
	Name:   "1.0",
	header: http.Header{"A2a-Version": {"1.0"}, "Accept": {"application/json, text/event-stream"}},
	send:   "SendMessage", stream: "SendStreamingMessage", get: "GetTask",
	message:   `{"message":{"messageId":"m-%s","role":"ROLE_USER","parts":[{"text":%q}]}}`,
	completed: `"state":"TASK_STATE_COMPLETED"`,
	result:    resultV1,
}

// Canned is A2A 1.0 as far as a canned answer goes: there is nothing to fetch.
var Canned = func() *Dialect { d := *V1; d.get = ""; return &d }()

// V02 is A2A 0.2.
var V02 = &Dialect{
	Name:   "0.2",
	header: http.Header{"Accept": {"application/json, text/event-stream"}},
	send:   "message/send", stream: "message/stream", get: "tasks/get",
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

// request is a whole HTTP request whose number can be changed in place.
type request struct {
	raw []byte
	at  []int // offsets of the number
	num []byte
}

// newRequest makes the request for a command. Each connection needs its own.
func (d *Dialect) newRequest(addr string, k work.Kind, n int) *request {
	method := d.stream
	if k == work.Message || k == work.Task {
		method = d.send
	}
	params := fmt.Sprintf(d.message, numberMark, work.Text(k, n))
	return d.newCall(addr, method, params)
}

func (d *Dialect) newCall(addr, method, params string) *request {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","method":"%s","params":%s}`, numberMark, method, params)
	r := &request{raw: append(head(addr, d.header, len(body)), body...), num: []byte(numberMark)}
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
