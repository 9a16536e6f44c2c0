package forms

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/dev/traffic"
	"github.com/a2agen/a2agen/runtime"
)

// dialect is a version over a binding.
type dialect struct {
	version *runtime.Version
	binding string
	table   *runtime.Table
}

func dialects() (list []dialect) {
	for _, v := range a2awires.Protocol().Versions {
		for _, b := range runtime.Bindings {
			if t := v.Over(b.Name); t != nil {
				list = append(list, dialect{v, b.Name, t})
			}
		}
	}
	return list
}

// exchange is one in a dialect, as the record has it.
func (d dialect) exchange(t *testing.T, role runtime.Role) *traffic.Exchange {
	t.Helper()
	op := operation(d.table, role)
	if op == nil {
		t.Skip("there is no such operation")
	}
	x := &traffic.Exchange{}
	x.Operation, x.Binding, x.State, x.Status, x.Called = role.Info().RPC, d.binding, traffic.Done, http.StatusOK, op.RPC
	switch d.binding {
	case runtime.BindingGRPC:
		x.Path = op.GRPC
	case runtime.BindingHTTP:
		x.Path = op.HTTP[0].Path
	}
	return x
}

// around puts what the binding has around a document.
func (d dialect) around(doc []byte, member string) []byte {
	switch d.binding {
	case runtime.BindingGRPC:
		return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(doc))), doc...)
	case runtime.BindingJSONRPC:
		return []byte(`{"jsonrpc":"2.0","id":1,"` + member + `":` + string(doc) + `}`)
	}
	return doc
}

func must(t *testing.T, b []byte, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// each runs a test in each dialect, with the version named in a header, and not.
func each(t *testing.T, test func(t *testing.T, d dialect, name func(*traffic.Exchange))) {
	for _, d := range dialects() {
		t.Run(d.binding+" "+d.version.Name, func(t *testing.T) {
			test(t, d, func(x *traffic.Exchange) { x.Version = d.version.Name })
		})
		if d.version.Name != "0.2" { // whose requests look like those of 0.3
			t.Run(d.binding+" "+d.version.Name+", not named", func(t *testing.T) { test(t, d, func(*traffic.Exchange) {}) })
		}
	}
}

// TestRequestsAreShownAs1_0HasThem, in whatever version and over whatever binding they came.
func TestRequestsAreShownAs1_0HasThem(t *testing.T) {
	p := a2awires.Protocol()
	request := p.NewSend(runtime.SendRequest{Message: p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{User: true, ID: "m1", TaskID: "t1"}, Parts: []runtime.Part{runtime.Text("hi")}})})
	each(t, func(t *testing.T, d dialect, name func(*traffic.Exchange)) {
		x := d.exchange(t, runtime.RoleSend)
		name(x)
		doc, err := operation(d.table, runtime.RoleSend).AppendRequest(nil, request)
		x.Request.Bytes = d.around(must(t, doc, err), "params")
		f := Of(x, 0, 10)
		if got := string(f.Request.Form); !strings.Contains(got, `"role":"ROLE_USER","parts":[{"text":"hi"}]`) || f.Version != d.version.Name {
			t.Errorf("%s %s %s", f.Version, got, f.Request.Problem)
		}
	})
}

// TestEventsAreShownAs1_0HasThem, from a number on, and comments are nothing.
func TestEventsAreShownAs1_0HasThem(t *testing.T) {
	p := a2awires.Protocol()
	status := p.NewStatus("t1", "c1", runtime.StateCompleted, p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m2", TaskID: "t1"}, Parts: []runtime.Part{runtime.Text("done")}}), at)
	each(t, func(t *testing.T, d dialect, name func(*traffic.Exchange)) {
		x := d.exchange(t, runtime.RoleStream)
		name(x)
		doc, err := d.table.AppendEvent(nil, status)
		raw := d.around(must(t, doc, err), "result")
		comment := traffic.Event{N: 2, Bytes: []byte(": hello\n\n")}
		if d.binding != runtime.BindingGRPC {
			raw = []byte("id: 7\ndata: " + string(raw) + "\n\n")
		} else {
			comment.Bytes = raw
		}
		x.Events = []traffic.Event{{N: 1, Bytes: raw}, comment, {N: 3, ID: "7", Bytes: raw}, {N: 4, Cut: true}, {N: 5}}
		f := Of(x, 1, 3)
		if len(f.Events) != 3 || f.Events[1].N != 3 || f.Events[1].ID != "7" || f.Events[2].Problem == "" {
			t.Fatalf("%+v", f.Events)
		}
		if got := string(f.Events[1].Form.Form); !strings.Contains(got, `{"statusUpdate":{"taskId":"t1"`) || !strings.Contains(got, `"TASK_STATE_COMPLETED"`) || !strings.Contains(got, `"done"`) {
			t.Errorf("%s %s", got, f.Events[1].Problem)
		}
		if d.binding != runtime.BindingGRPC && (f.Events[0].Form.Form != nil || f.Events[0].Problem != "") {
			t.Errorf("%+v", f.Events[0])
		}
	})
}

// TestAnswersAreShownAs1_0HasThem, and errors as they came.
func TestAnswersAreShownAs1_0HasThem(t *testing.T) {
	p := a2awires.Protocol()
	task := p.NewTask("t1", "c1", at)
	each(t, func(t *testing.T, d dialect, name func(*traffic.Exchange)) {
		x := d.exchange(t, runtime.RoleGet)
		name(x)
		doc, err := operation(d.table, runtime.RoleGet).Append(nil, task)
		x.Response.Bytes = d.around(must(t, doc, err), "result")
		if f := Of(x, 0, 10); !strings.Contains(string(f.Response.Form), `"TASK_STATE_SUBMITTED"`) {
			t.Errorf("%s %s", f.Response.Form, f.Response.Problem)
		}
		switch d.binding {
		case runtime.BindingJSONRPC:
			x.Response.Bytes = []byte(`{"id":1,"error":{"code":-32001}}`)
		case runtime.BindingGRPC:
			x.Outcome, x.Trailer = "error", http.Header{"Grpc-Message": {"-32001"}}
		default:
			x.Status, x.Response.Bytes = 404, []byte(`{"error":{"code":-32001}}`)
		}
		if f := Of(x, 0, 10); !strings.Contains(string(f.Response.Error), "-32001") || f.Response.Form != nil {
			t.Errorf("%+v", f.Response)
		}
	})
}

// TestWhatCannotBeReadSaysWhy, whatever it is.
func TestWhatCannotBeReadSaysWhy(t *testing.T) {
	junk, _ := base64.StdEncoding.DecodeString("/////w==")
	for _, d := range dialects() {
		for _, b := range [][]byte{nil, junk, []byte("{"), []byte("null"), []byte("[]"), []byte(`{"params":{"message":7}}`)} {
			x := d.exchange(t, runtime.RoleSend)
			x.Version = d.version.Name
			x.Request.Bytes, x.Response.Bytes = b, b
			x.Events = []traffic.Event{{N: 1, Bytes: append(slices.Clip(b), "\n\n"...)}}
			f := Of(x, 0, 10)
			if f.Request.Form != nil && f.Request.Problem != "" || f.Request.Form == nil && f.Request.Problem == "" {
				t.Errorf("%s %s %q: %+v", d.binding, d.version.Name, b, f.Request)
			}
			if _, err := json.Marshal(f); err != nil {
				t.Errorf("%s %s %q: %v", d.binding, d.version.Name, b, err)
			}
		}
	}
	if f := Of(&traffic.Exchange{}, 0, 10); f.Request.Problem == "" {
		t.Errorf("%+v", f)
	}
}
