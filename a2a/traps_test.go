package a2a_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime/wire"
)

// encode writes x and fails the test if it cannot be.
func encode(t *testing.T, x message) string {
	t.Helper()
	b, err := x.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// outcome is "" if x reads src, else the error.
func outcome(x message, src string) string {
	if err := x.UnmarshalJSON([]byte(src)); err != nil {
		return err.Error()
	}
	return ""
}

// T53: what is set is written, also when its value is the zero value.
func TestT53SetMembersAreWrittenWhateverTheirValue(t *testing.T) {
	no, zero, empty := false, int32(0), ""
	tests := []struct {
		name string
		x    message
		want string
	}{
		{"empty text", &a2a.Part{Content: a2a.PartText("")}, `{"text":""}`},
		{"empty file", &a2a.Part{Content: a2a.PartRaw(nil)}, `{"raw":""}`},
		{"empty url", &a2a.Part{Content: a2a.PartURL("")}, `{"url":""}`},
		{"null data", &a2a.Part{Content: a2a.PartData("null")}, `{"data":null}`},
		{"zero data", &a2a.Part{Content: a2a.PartData("0")}, `{"data":0}`},
		{"explicit booleans", &a2a.AgentCapabilities{Streaming: &no, PushNotifications: &no}, `{"streaming":false,"pushNotifications":false}`},
		{"explicit number", &a2a.GetTaskRequest{ID: "t", HistoryLength: &zero}, `{"id":"t","historyLength":0}`},
		{"explicit string", &a2a.AgentCard{SupportedInterfaces: []*a2a.AgentInterface{{}}, Capabilities: &a2a.AgentCapabilities{}, IconURL: &empty},
			`{"name":"","description":"","supportedInterfaces":[{"url":"","protocolBinding":"","protocolVersion":""}],"version":"","capabilities":{},` +
				`"defaultInputModes":[],"defaultOutputModes":[],"skills":[],"iconUrl":""}`},
		{"required members of an empty page", &a2a.ListTasksResponse{}, `{"tasks":[],"nextPageToken":"","pageSize":0,"totalSize":0}`},
		{"implicit zero values are left out", &a2a.TaskArtifactUpdateEvent{Artifact: &a2a.Artifact{Parts: []*a2a.Part{{Content: a2a.PartText("x")}}}},
			`{"taskId":"","contextId":"","artifact":{"artifactId":"","parts":[{"text":"x"}]}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := encode(t, tt.x)
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if again := fresh(tt.x); outcome(again, got) != "" || encode(t, again) != got {
				t.Errorf("%s came back as %s", got, encode(t, again))
			}
		})
	}
}

// T54: numbers in data and metadata keep their digits.
func TestT54NumbersInFreeJSONKeepTheirDigits(t *testing.T) {
	src := `{"data":{"id":9007199254740993,"price":1.50,"big":1e400},"metadata":{"n":12345678901234567890}}`
	var p a2a.Part
	if e := outcome(&p, src); e != "" {
		t.Fatal(e)
	}
	if got := encode(t, &p); got != src {
		t.Errorf("got %s, want %s", got, src)
	}
}

func TestT55JSONIsReadStrictlyAndNotEscapedForHTML(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"names are case-sensitive", `{"Text":"x"}`, `{"Text":"x"}`}, // a member unheard of, not text
		{"repeated member", `{"text":"a","text":"b"}`, "/text: member given more than once"},
		{"repeated member in free JSON", `{"data":{"a":[{"b":1,"b":2}]}}`, "/data/a/0/b: member given more than once"},
		{"repeated member in an ignored member", `{"text":"","x":{"b":1,"\u0062":2}}`, "/x/b: member given more than once"},
		{"camel case and snake case", `{"text":"","mediaType":"a","media_type":"b"}`, "/media_type: member given more than once"},
		{"invalid UTF-8", "{\"text\":\"\xff\"}", "/text: invalid UTF-8 in a string"},
		{"lone surrogate", `{"text":"\ud800"}`, "/text: invalid escape in a string"},
		{"HTML", `{"text":"<a href=\"x\">&</a>"}`, `{"text":"<a href=\"x\">&</a>"}`},
		{"data after the value", `{"text":""} {}`, "unexpected data after the value"},
		{"byte order mark", "\ufeff{}", "expected an object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p a2a.Part
			got := outcome(&p, tt.src)
			if got == "" {
				got = encode(t, &p)
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestT56WhatIsWrittenCanonicalises(t *testing.T) {
	// RFC 8785 sorts by UTF-16 units, so that U+1F600 comes before U+E000, and writes numbers as ECMAScript does.
	var p a2a.Part
	if e := outcome(&p, "{\"text\":\"<\",\"metadata\":{\"\ue000\":1e21,\"\U0001f600\":-0,\"a\":1.50}}"); e != "" {
		t.Fatal(e)
	}
	v := jsontext.Value(encode(t, &p))
	if err := v.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	if want := "{\"metadata\":{\"a\":1.5,\"\U0001f600\":0,\"\ue000\":1e+21},\"text\":\"<\"}"; string(v) != want {
		t.Errorf("got %s, want %s", v, want)
	}
}

// T59: both alphabets of base64, padded or not.
func TestT59Base64IsReadInAllVariantsAndWrittenInOne(t *testing.T) {
	for _, src := range []string{`"+/+/gA=="`, `"-_-_gA=="`, `"+/+/gA"`, `"-_-_gA"`, `"\u002b\/+/gA=="`} {
		var p a2a.Part
		if e := outcome(&p, `{"raw":`+src+`}`); e != "" {
			t.Errorf("%s: %s", src, e)
		} else if got := encode(t, &p); got != `{"raw":"+/+/gA=="}` {
			t.Errorf("%s written as %s", src, got)
		}
	}
	for _, src := range []string{`"+/+/ gA=="`, `"+/+/\ngA=="`, `"+/+/g==="`, `"..."`} {
		if e := outcome(&a2a.Part{}, `{"raw":`+src+`}`); e != "/raw: invalid base64" {
			t.Errorf("%s: %q", src, e)
		}
	}
}

// R95, R97, T60: times are exact, and in UTC with 0, 3, 6 or 9 digits of a second.
func TestT60TimestampsAreReadWithAnyOffsetAndWrittenInUTC(t *testing.T) {
	tests := []struct{ src, want string }{
		{"2025-10-28T10:30:00.000Z", "2025-10-28T10:30:00Z"},
		{"2025-10-28T10:30:00.1Z", "2025-10-28T10:30:00.100Z"},
		{"2025-10-28T12:30:00.123+02:00", "2025-10-28T10:30:00.123Z"},
		{"2025-10-28T10:30:00.123456789Z", "2025-10-28T10:30:00.123456789Z"},
	}
	for _, tt := range tests {
		var s a2a.TaskStatus
		if e := outcome(&s, `{"state":"TASK_STATE_WORKING","timestamp":"`+tt.src+`"}`); e != "" {
			t.Errorf("%s: %s", tt.src, e)
		} else if got, want := encode(t, &s), `{"state":"TASK_STATE_WORKING","timestamp":"`+tt.want+`"}`; got != want {
			t.Errorf("%s: got %s", tt.src, got)
		}
	}
	if e := outcome(&a2a.TaskStatus{}, `{"state":1,"timestamp":"2025-10-28T10:30:00"}`); e != "/timestamp: invalid RFC 3339 timestamp" {
		t.Errorf("without a zone: %q", e)
	}
}

// R94, R101: unknown members are ignored, enums are written by name.
func TestReadingIsTolerantAsProtoJSONIs(t *testing.T) {
	tests := []struct {
		name string
		x    message
		src  string
		want string // as written again, or the error
	}{
		{"null is absent", &a2a.Task{}, `{"id":"t","contextId":null,"status":{"state":1,"message":null},"artifacts":null,"metadata":null}`,
			`{"id":"t","status":{"state":"TASK_STATE_SUBMITTED"}}`},
		{"null is no required value", &a2a.Task{}, `{"id":null,"status":{"state":1}}`, "/id: required, but missing"},
		{"null beside a case", &a2a.Part{}, `{"text":null,"url":"u"}`, `{"url":"u"}`},
		{"null data is a case", &a2a.Part{}, `{"text":null,"data":null}`, `{"data":null}`},
		{"null in a list", &a2a.Message{}, `{"messageId":"m","role":1,"parts":[null]}`, "/parts/0: expected an object"},
		{"null in a map", &a2a.AgentCard{}, `{"securitySchemes":{"s":null}}`, "/securitySchemes/s: null in a map"},
		{"snake case", &a2a.GetTaskRequest{}, `{"id":"t","history_length":1e1}`, `{"id":"t","historyLength":10}`},
		{"number in a string", &a2a.GetTaskRequest{}, `{"id":"t","historyLength":"3"}`, `{"id":"t","historyLength":3}`},
		{"fraction", &a2a.GetTaskRequest{}, `{"id":"t","historyLength":1.5}`, "/historyLength: expected an integer in range"},
		{"enum by number", &a2a.TaskStatus{}, `{"state":5}`, `{"state":"TASK_STATE_CANCELED"}`},
		{"enum by its older spelling", &a2a.TaskStatus{}, `{"state":"TASK_STATE_CANCELLED"}`, `{"state":"TASK_STATE_CANCELED"}`},
		{"enum name unheard of", &a2a.TaskStatus{}, `{"state":"TASK_STATE_PAUSED"}`, `{"state":"TASK_STATE_PAUSED"}`},
		{"enum number unheard of", &a2a.TaskStatus{}, `{"state":99}`, `{"state":99}`},
		{"required enum, unspecified", &a2a.TaskStatus{}, `{"state":"TASK_STATE_UNSPECIFIED"}`, "/state: required, but unspecified"},
		{"optional enum, unspecified", &a2a.ListTasksRequest{}, `{"status":0}`, `{}`},
		{"unknown members", &a2a.TaskStatus{}, `{"state":1,"x":{"y":[1]},"final":true}`, `{"state":"TASK_STATE_SUBMITTED"}`},
		{"case unheard of", &a2a.Part{}, `{"hologram":{"z": 1},"filename":"f"}`, `{"hologram":{"z":1},"filename":"f"}`},
		{"case unheard of beside a known one", &a2a.Part{}, `{"hologram":{},"text":"x"}`, `{"text":"x"}`},
		{"two cases unheard of", &a2a.Part{}, `{"a":1,"b":2}`, "exactly one of text, raw, url, data is required"},
		{"two cases", &a2a.Part{}, `{"text":"x","data":{}}`, "/data: only one of the alternatives may be given"},
		{"no case", &a2a.Message{}, `{"messageId":"m","role":1,"parts":[{"filename":"f"}]}`, "/parts/0: exactly one of text, raw, url, data is required"},
		{"empty required list", &a2a.Message{}, `{"messageId":"m","role":1,"parts":[]}`, "/parts: at least 1 needed"},
		{"required member missing, deep inside", &a2a.StreamResponse{}, `{"task":{"id":"t","status":{"state":1,"message":{"role":1,"parts":[{"text":""}]}}}}`,
			"/task/status/message/messageId: required, but missing"},
		{"not an object", &a2a.Task{}, `[]`, "expected an object"},
		{"too deep", &a2a.Part{}, `{"data":` + strings.Repeat("[", wire.MaxDepth) + strings.Repeat("]", wire.MaxDepth) + `}`,
			"/data" + strings.Repeat("/0", wire.MaxDepth-1) + ": nested too deeply"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := outcome(tt.x, tt.src)
			if got == "" {
				got = encode(t, tt.x)
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestWritingIsStrict(t *testing.T) {
	parts := []*a2a.Part{{Content: a2a.PartText("x")}}
	tests := []struct {
		name string
		x    message
		want string
	}{
		{"no case", &a2a.Message{Role: a2a.RoleUser, Parts: []*a2a.Part{parts[0], {}}}, "/parts/1: exactly one of text, raw, url, data is required"},
		{"no parts", &a2a.Message{Role: a2a.RoleUser}, "/parts: at least 1 needed"},
		{"no role", &a2a.Message{Parts: parts}, "/role: required, but not set"},
		{"nil in a list", &a2a.Message{Role: a2a.RoleUser, Parts: []*a2a.Part{nil}}, "/parts/0: required, but not set"},
		{"required message not set", &a2a.Task{}, "/status: required, but not set"},
		{"nil case", &a2a.StreamResponse{Payload: (*a2a.Task)(nil)}, "/task: required, but not set"},
		{"no payload", &a2a.SendMessageResponse{}, "exactly one of task, message is required"},
		{"free JSON that is not JSON", &a2a.Part{Content: a2a.PartData("{oops}")}, "/data: expected a member name"},
		{"metadata that is no object", &a2a.Part{Content: a2a.PartText(""), Metadata: wire.Object("[1]")}, "/metadata: not an object"},
		{"year of five digits", &a2a.TaskStatus{State: a2a.TaskStateWorking, Timestamp: time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)}, "/timestamp: year outside 1 to 9999"},
		{"inside a map", &a2a.AgentCard{SupportedInterfaces: []*a2a.AgentInterface{{}}, Capabilities: &a2a.AgentCapabilities{}, SecuritySchemes: map[string]*a2a.SecurityScheme{"a/b": {}}},
			"/securitySchemes/a~1b: exactly one of apiKeySecurityScheme, httpAuthSecurityScheme, oauth2SecurityScheme, openIdConnectSecurityScheme, mtlsSecurityScheme is required"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := tt.x.AppendJSON(nil)
			if err == nil {
				t.Fatalf("written as %s", b)
			}
			if err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestWhatIsWrittenIsOneLine(t *testing.T) {
	p := &a2a.Part{Content: a2a.PartData("{\n \"a\": \"x\\ny\"\r\n}"), Filename: "a\nb"}
	if got := encode(t, p); strings.ContainsAny(got, "\r\n") || got != `{"data":{"a":"x\ny"},"filename":"a\nb"}` {
		t.Errorf("got %q", got)
	}
}

func TestEncodingJSONUsesTheNewestWire(t *testing.T) {
	type envelope struct {
		Part  *a2a.Part
		Value a2a.Part
		None  *a2a.Part
	}
	src := `{"Part":{"text":"\u003c"},"Value":{"data":null},"None":null}`
	var x envelope
	if err := json.Unmarshal([]byte(src), &x); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(x); err != nil || string(got) != src {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestUnmarshalReplacesWhatWasThere(t *testing.T) {
	p := a2a.Part{Content: a2a.PartURL("old"), Filename: "old", Metadata: wire.Object(`{"old":1}`)}
	if e := outcome(&p, `{"text":"new"}`); e != "" {
		t.Fatal(e)
	}
	if got := encode(t, &p); got != `{"text":"new"}` {
		t.Errorf("got %s", got)
	}
	if e := outcome(&p, "null"); e != "expected an object" {
		t.Errorf("null: %q", e)
	}
}

func TestSecurityRequirementsAreReadInBothForms(t *testing.T) {
	const want = `{"schemes":{"k":{"list":["read"]},"l":{},"m":{}}}`
	for _, src := range []string{
		want,
		`{"schemes":{"k":["read"],"l":[],"m":null}}`, // the official Go servers'
	} {
		x := new(a2a.SecurityRequirement)
		if err := x.UnmarshalJSON([]byte(src)); err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if got := encode(t, x); got != want {
			t.Errorf("%s is written as %s", src, got)
		}
	}
	for src, want := range map[string]string{
		`{"schemes":{"k":["read",1]}}`: "/schemes/k/1: expected a string",
		`{"schemes":{"k":"read"}}`:     "/schemes/k: expected an object",
	} {
		if got := outcome(new(a2a.SecurityRequirement), src); got != want {
			t.Errorf("%s: %s, want %s", src, got, want)
		}
	}
}
