package runtime_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

func TestErrorsMatchTheirSentinelsByCode(t *testing.T) {
	for _, e := range runtime.Errors() {
		wrapped := fmt.Errorf("calling: %w", e.With("other words").WithMetadata("taskId", "t"))
		for _, other := range runtime.Errors() {
			if got, want := errors.Is(wrapped, other), other == e; got != want {
				t.Errorf("%s is %s: %v", e.Reason, other.Reason, got)
			}
		}
	}
	if foreign := errors.New("x"); runtime.ErrInternal.Is(foreign) {
		t.Error("matches a foreign error")
	}
}

// R42: the codes and reasons of A2A 1.0 (§5.4) and of JSON-RPC.
func TestErrorTableHasNoDuplicates(t *testing.T) {
	codes, reasons := map[int]bool{}, map[string]bool{}
	for _, e := range runtime.Errors() {
		if codes[e.Code] || reasons[e.Reason] || e.Message == "" {
			t.Errorf("%d %s is there twice or says nothing", e.Code, e.Reason)
		}
		codes[e.Code], reasons[e.Reason] = true, true
	}
	if len(codes) != 15 {
		t.Errorf("%d errors", len(codes))
	}
}

func TestWithLeavesTheSentinelAlone(t *testing.T) {
	e := runtime.ErrInvalidParams.WithMetadata("a", "1").WithMetadata("b", "2").WithViolations(runtime.Violation{Field: "x", Description: "y"})
	if e.Metadata("a") != "1" || e.Metadata("b") != "2" || e.Metadata("c") != "" || len(e.Violations()) != 1 {
		t.Errorf("details are %v", e.Details)
	}
	if len(runtime.ErrInvalidParams.Details) != 0 || runtime.ErrInvalidParams.Message != "Invalid parameters" || runtime.ErrInvalidParams.Note != "" {
		t.Error("the sentinel changed")
	}
}

// Peers match on the words of the specification: ours go beside them.
// R43, R154, T11: written errors carry typed details, an ErrorInfo always among them, and read back as they were.
func TestAnErrorSaysEachViolationOnce(t *testing.T) {
	vs := []runtime.Violation{{Field: "city", Description: "is missing"}, {Field: "days", Description: "must be at least 1"}}
	for message, want := range map[string]string{
		"bad input":                  "Invalid parameters: bad input; city: is missing; days: must be at least 1 (INVALID_PARAMS) [-32602]",
		"bad input: city is missing": "Invalid parameters: bad input: city is missing; days: must be at least 1 (INVALID_PARAMS) [-32602]",
	} {
		if got := runtime.ErrInvalidParams.With("%s", message).WithViolations(vs...).Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// T9, T61: peers put anything into data.
func TestReadErrorTakesAnyData(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      *runtime.Error
	}{
		{"no data", `{"code":-32001,"message":"x"}`, runtime.ErrTaskNotFound},
		{"null data", `{"code":-32001,"message":"x","data":null}`, runtime.ErrTaskNotFound},
		{"text", `{"code":-32002,"message":"x","data":"why"}`, runtime.ErrTaskNotCancelable},
		{"an object", `{"code":-32003,"message":"x","data":{"a":1}}`, runtime.ErrPushNotificationNotSupported},
		{"a single ErrorInfo", `{"code":-1,"message":"x","data":{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND"}}`, runtime.ErrTaskNotFound},
		{"the reason decides over the code", `{"code":-32603,"message":"x","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"VERSION_NOT_SUPPORTED","metadata":{"n":5}}]}`, runtime.ErrVersionNotSupported},
		{"junk in the list", `{"code":-32600,"message":"x","data":[1,null,{"x":1},"y"]}`, runtime.ErrInvalidRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := runtime.ReadError([]byte(c.src))
			if err != nil || !errors.Is(e, c.want) {
				t.Errorf("got %v, %v", e, err)
			}
		})
	}
	for _, src := range []string{``, `5`, `"x"`, `[]`, `{"code":"x"}`} {
		if e, err := runtime.ReadError([]byte(src)); err == nil {
			t.Errorf("%q reads as %v", src, e)
		}
	}
}

func TestPartConstructors(t *testing.T) {
	if p := runtime.Data(map[string]string{"a": "<b>"}); p.Kind != runtime.PartData || string(p.Data) != `{"a":"<b>"}` || p.MediaType != runtime.MediaJSON {
		t.Errorf("data part is %+v", p)
	}
	for _, raw := range []any{wire.Value(`{"n":1.0}`), wire.Object(`{"n":1.0}`), json.RawMessage(`{"n":1.0}`)} {
		if p := runtime.Data(raw); string(p.Data) != `{"n":1.0}` {
			t.Errorf("raw JSON of type %T became %s", raw, p.Data)
		}
	}
	if p := runtime.Data(func() {}); p.Kind != runtime.PartUnknown || p.Text == "" {
		t.Errorf("what does not encode gives %+v", p)
	}
	if p := runtime.Text("x"); p.Kind != runtime.PartText || p.Text != "x" {
		t.Errorf("text part is %+v", p)
	}
	if p := runtime.File("f", "image/png", []byte{1}); p.Kind != runtime.PartRaw || p.Filename != "f" || p.MediaType != "image/png" {
		t.Errorf("file part is %+v", p)
	}
	if p := runtime.Link("f", "image/png", "https://x"); p.Kind != runtime.PartURL || p.URL != "https://x" {
		t.Errorf("link part is %+v", p)
	}
}
