package equivalence

import (
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2agen/a2agen/runtime/gen/proto"
	"github.com/a2agen/a2agen/runtime/wire"
)

// sender is a way to send parts to an agent in JSON, and what says there that they are refused.
type sender struct {
	name    string
	send    func(parts, metadata string) string
	status  int
	refused string
	form    string // of parts: that of 1.0, of the schemas before, or of the proto of 0.3
}

var senders = []sender{
	{"1.0 over JSON-RPC", rpcSender("1.0", "SendMessage", `"role":"ROLE_USER"`), 200, `"code":-32602`, "1.0"},
	{"1.0 over HTTP+JSON", func(parts, metadata string) string {
		return post("/rest/message:send", sending(`"role":"ROLE_USER"`, "parts", parts, metadata))
	}, 400, `"reason":"INVALID_PARAMS"`, "1.0"},
	{"0.3 over JSON-RPC", rpcSender("0.3", "message/send", `"kind":"message","role":"user"`), 200, `"code":-32602`, "kind"},
	{"0.3 over HTTP+JSON", func(parts, metadata string) string {
		return post("/rest/v1/message:send", sending(`"role":"ROLE_USER"`, "content", parts, metadata), "A2A-Version:")
	}, 422, `"code":-32602`, "proto"},
	{"0.2 over JSON-RPC", rpcSender("0.2", "message/send", `"kind":"message","role":"user"`), 200, `"code":-32602`, "kind"},
	{"0.1 over JSON-RPC", func(parts, metadata string) string {
		return overRPC(callOf("tasks/send", fmt.Sprintf(`{"id":"t%d","message":{"role":"user","parts":[%s],"metadata":%s}}`, tasks01.Add(1), parts, metadata)),
			"A2A-Version: 0.1")
	}, 200, `"code":-32602`, "kind"},
}

// tasks01 counts tasks of 0.1, whose ids their clients choose.
var tasks01 atomic.Int64

func rpcSender(version, method, role string) func(parts, metadata string) string {
	return func(parts, metadata string) string {
		return overRPC(callOf(method, sending(role, "parts", parts, metadata)), "A2A-Version: "+version)
	}
}

func sending(role, list, parts, metadata string) string {
	return fmt.Sprintf(`{"message":{"messageId":"m",%s,%q:[%s],"metadata":%s}}`, role, list, parts, metadata)
}

// deep are data of so many objects and lists in one another.
func deep(objects, lists int) string {
	return strings.Repeat(`{"a":`, objects) + strings.Repeat("[", lists) + "1" + strings.Repeat("]", lists) + strings.Repeat("}", objects)
}

// unsayable are parts in the forms of senders, or metadata, that some binding cannot say.
var unsayable = []struct {
	name, metadata string
	parts          map[string]string // by form
}{
	{name: "a part of an unknown kind", parts: map[string]string{
		"1.0": `{"foo":"bar"}`, "kind": `{"kind":"custom","custom":1}`, "proto": `{"foo":"bar"}`}},
	{name: "a part without content", parts: map[string]string{"1.0": `{}`, "kind": `{"kind":"text"}`, "proto": `{}`}},
	{name: "the number of an unknown part", parts: map[string]string{
		"1.0": `{"99":"` + base64.StdEncoding.EncodeToString([]byte{0x98, 0x06, 1}) + `"}`, "kind": `{"kind":"99"}`, "proto": `{"99":"mAYB"}`}},
	{name: "a number that no double holds", parts: dataParts(`{"a":[1,1e400]}`)},
	{name: "a long number that no double holds", parts: dataParts(`{"a":-` + strings.Repeat("9", 400) + `}`)},
	{name: "data that are deeper than protobuf reads", parts: dataParts(deep(31, 0))},
	{name: "lists that are deeper than protobuf reads", parts: dataParts(deep(1, 45))},
	{name: "half a character", parts: dataParts(`{"a":"\ud800"}`)},
	{name: "what is no UTF-8", parts: dataParts("{\"a\":\"\xff\"}")},
	{name: "a member twice", parts: dataParts(`{"a":1,"a":2}`)},
	{name: "a number in the metadata of a part", parts: map[string]string{
		"1.0": `{"text":"x","metadata":{"a":1e400}}`, "kind": `{"kind":"text","type":"text","text":"x","metadata":{"a":1e400}}`,
		"proto": `{"text":"x","metadata":{"a":1e400}}`}},
	{name: "a number in the metadata", metadata: `{"a":{"b":-1E999}}`},
	{name: "deep metadata", metadata: deep(31, 0)},
}

func dataParts(data string) map[string]string {
	return map[string]string{"1.0": `{"data":` + data + `}`, "kind": `{"kind":"data","data":` + data + `}`, "proto": `{"data":{"data":` + data + `}}`}
}

// sayable are data that every binding can say, just so.
var sayable = []string{
	`{"a":[1.7976931348623157e308,-5e-324,0.1e-400,` + strings.Repeat("9", 308) + `]}`, deep(30, 0), deep(1, 44), `{"a":"\u0000\ud83d\ude00"}`,
}

// TestContentThatSomeBindingCannotSayIsRefusedByAll sends parts and metadata that JSON can say and protobuf cannot, or
// the other way round (R35): no task is made of them, which would fail every reader of it.
func TestContentThatSomeBindingCannotSayIsRefusedByAll(t *testing.T) {
	a := startAgent(t, "")
	plain := map[string]string{"1.0": `{"text":"answer me"}`, "kind": `{"kind":"text","text":"answer me"}`, "proto": `{"text":"answer me"}`}
	for _, by := range senders {
		for _, tt := range unsayable {
			parts, metadata := plain[by.form], "{}"
			if tt.metadata != "" {
				metadata = tt.metadata
			} else {
				parts = tt.parts[by.form]
			}
			status, body := a.exchange(t, by.send(parts, metadata))
			parse := tt.name == "what is no UTF-8" && (strings.Contains(body, "-32700") || strings.Contains(body, "PARSE_ERROR"))
			if !parse && (status != by.status || !strings.Contains(body, by.refused)) {
				t.Errorf("%s, %s: %d %.300s, want %d and %s", by.name, tt.name, status, body, by.status, by.refused)
			}
		}
	}
	for _, tt := range protoCalls() {
		if got := a.callRaw(t, tt); got != tt.status {
			t.Errorf("gRPC: %s: status %s, want %s", tt.name, got, tt.status)
		}
	}
	if status, body := a.exchange(t, request("GET", "/rest/tasks", "")); status != http.StatusOK || !strings.Contains(body, `"totalSize":0`) {
		t.Errorf("something was carried out: %d %s", status, body)
	}
}

// TestContentThatEveryBindingCanSayIsTaken sends what is just within the limits.
func TestContentThatEveryBindingCanSayIsTaken(t *testing.T) {
	a := startAgent(t, "")
	for _, by := range senders {
		for i, data := range sayable {
			if status, body := a.exchange(t, by.send(dataParts(data)[by.form], "{}")); status != http.StatusOK || strings.Contains(body, `"error"`) {
				t.Errorf("%s: data %d: %d %.300s", by.name, i, status, body)
			}
		}
	}
	if got := a.callRaw(t, badCall{path: serviceOf10 + "ListTasks", contentType: "application/grpc", body: frameOf(nil)}); got != "0" {
		t.Errorf("the list over gRPC: status %s", got)
	}
}

// protoOf is a document of protobuf.
func protoOf(write func(w *proto.Writer)) []byte {
	var w proto.Writer
	w.Reset(nil)
	write(&w)
	b, err := w.Done()
	if err != nil {
		panic(err)
	}
	return b
}

// Tags of the fields of a message over gRPC, the same in 1.0 and 0.3 but for the request's.
const (
	tagID, tagRole, tagPart = 1<<3 | 2, 4 << 3, 5<<3 | 2
	tagIn10, tagIn03        = 2<<3 | 2, 1<<3 | 2
)

// partCall sends a message with one part over gRPC, and is refused.
func partCall(name string, in uint32, role int32, part func(w *proto.Writer)) badCall {
	b := protoOf(func(w *proto.Writer) {
		m := w.Begin(in)
		w.String(tagID, "m")
		w.Int32(tagRole, role)
		p := w.Begin(tagPart)
		part(w)
		w.End(p)
		w.End(m)
	})
	c := badCall{name: name, path: serviceOf10 + "SendMessage", contentType: "application/grpc", body: frameOf(b), status: "3"}
	if in == tagIn03 {
		c.name, c.path, c.header = name+", 0.3", "/a2a.v1.A2AService/SendMessage", []string{"a2a-version", "0.3"}
	}
	return c
}

// protoCalls send content over gRPC that JSON cannot say.
func protoCalls() (calls []badCall) {
	number := func(x float64) func(*proto.Writer) {
		return func(w *proto.Writer) {
			data := w.Begin(4<<3 | 2)
			w.Float64(2<<3|1, x)
			w.End(data)
		}
	}
	unknown := func(w *proto.Writer) { w.Int32(99<<3, 1) }
	nothing := func(*proto.Writer) {}
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	for name, seconds := range map[string]int64{"a time beyond the year 9999": 253402300800, "a time before the year 1": -62135596801} {
		b := protoOf(func(w *proto.Writer) {
			m := w.Begin(7<<3 | 2) // status_timestamp_after
			w.Int64(1<<3, seconds)
			w.End(m)
		})
		calls = append(calls, badCall{name: name, path: serviceOf10 + "ListTasks", contentType: "application/grpc", body: frameOf(b), status: "3"})
	}
	return append(calls,
		partCall("an unknown part", tagIn10, 1, unknown), partCall("an unknown part", tagIn03, 1, unknown),
		partCall("a part without content", tagIn10, 1, nothing), partCall("a part without content", tagIn03, 1, nothing),
		partCall("an unknown role", tagIn10, 99, func(w *proto.Writer) { w.String(1<<3|2, "x") }),
		partCall("no number", tagIn10, 1, number(math.NaN())), partCall("an infinite number", tagIn10, 1, number(math.Inf(-1))),
		partCall("deep data", tagIn10, 1, func(w *proto.Writer) { must(w.Value(4<<3|2, wire.Value(deep(31, 0)))) }),
		partCall("deep data", tagIn03, 1, func(w *proto.Writer) {
			data := w.Begin(3<<3 | 2)
			must(w.Struct(1<<3|2, wire.Object(deep(31, 0))))
			w.End(data)
		}),
		partCall("no UTF-8", tagIn10, 1, func(w *proto.Writer) { w.Bytes(1<<3|2, []byte("\xff")) }))
}
