package errorformat_test

import (
	"encoding/json"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/errorformat"
	"github.com/a2agen/a2agen/runtime/wire"
)

func TestAnErrorSaysWhatTheSpecificationSays(t *testing.T) {
	e := runtime.ErrTaskNotFound.With("it was dropped").WithMetadata("taskId", "t")
	want := `{"code":-32001,"message":"Task not found","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org","metadata":{"detail":"it was dropped","taskId":"t"}}]}`
	if got := string(errorformat.AppendJSON(nil, e)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := e.Error(), "Task not found: it was dropped (TASK_NOT_FOUND) [-32001]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	words := map[int]string{
		-32700: "Invalid JSON payload", -32600: "Request payload validation error", -32601: "Method not found", -32602: "Invalid parameters",
		-32603: "Internal error", -32001: "Task not found", -32002: "Task cannot be canceled", -32003: "Push Notification is not supported",
		-32004: "This operation is not supported", -32005: "Incompatible content types", -32006: "Invalid agent response",
		-32007: "Authenticated Extended Card is not configured",
	}
	for _, e := range runtime.Errors() {
		if want, known := words[e.Code]; known && e.Message != want {
			t.Errorf("%d says %q, want %q", e.Code, e.Message, want)
		}
	}
}

func TestErrorsSurviveTheWire(t *testing.T) {
	for _, e := range []*runtime.Error{
		runtime.ErrTaskNotFound,
		runtime.ErrTaskNotFound.WithMetadata("taskId", `a"b<c>`),
		runtime.ErrInvalidParams.With("bad").WithViolations(runtime.Violation{Field: "message.parts[0]", Description: "is <empty>"}),
		{Code: -32050, Reason: "MY_OWN", Message: "m", Details: []runtime.Detail{{Type: "type.example.com/X", Raw: wire.Object(`{"@type":"type.example.com/X","n":1}`)}}},
	} {
		src := errorformat.AppendJSON(nil, e)
		var shape struct {
			Code int
			Data []struct {
				Type   string `json:"@type"`
				Reason string
				Domain string
			}
		}
		if err := json.Unmarshal(src, &shape); err != nil || shape.Code != e.Code || len(shape.Data) == 0 {
			t.Fatalf("%s: %v", src, err)
		}
		if info := shape.Data[0]; info.Type != runtime.TypeErrorInfo || info.Reason != e.Reason || info.Domain != runtime.ErrorDomain {
			t.Errorf("first detail of %s is no ErrorInfo", src)
		}
		got, err := runtime.ReadError(src)
		if err != nil || got.Code != e.Code || got.Reason != e.Reason || got.Message != e.Message || got.Note != e.Note || got.Error() != e.Error() || got.Metadata("taskId") != e.Metadata("taskId") || len(got.Violations()) != len(e.Violations()) {
			t.Errorf("%s reads as %+v: %v", src, got, err)
		}
	}
}

func FuzzReadError(f *testing.F) {
	f.Add([]byte(`{"code":-32001,"message":"x","data":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"a"}]}]}`))
	f.Add([]byte(`{"data":{}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		e, err := runtime.ReadError(src)
		if err != nil {
			return
		}
		if out := errorformat.AppendJSON(nil, e); !json.Valid(out) {
			t.Errorf("%q becomes %q", src, out)
		}
	})
}

func TestAnErrorComesBackOverHTTPAsItWas(t *testing.T) {
	for _, e := range runtime.Errors() {
		for _, by := range []errorformat.Statuses{errorformat.Statuses101, errorformat.Statuses100, errorformat.Statuses03} {
			sent := e.With("the note").WithViolations(runtime.Violation{Field: "a.b", Description: "c"})
			got := runtime.ReadStatus(errorformat.AppendStatus(nil, sent, errorformat.Of(sent, by)))
			if got == nil || got.Error() != sent.Error() || got.Code != e.Code {
				t.Errorf("%v comes back as %v", sent, got)
			}
			got = runtime.ReadStatus(errorformat.AppendStatus03(nil, sent, errorformat.Of(sent, by)))
			if got == nil || got.Reason != e.Reason {
				t.Errorf("of 0.3 %v comes back as %v", sent, got)
			}
		}
	}
}

func TestErrorsOverGRPCAreReadByTheirCodes(t *testing.T) {
	const (
		precondition, argument, missing = errorformat.CodeFailedPrecondition, errorformat.CodeInvalidArgument, errorformat.CodeNotFound
		unimplemented                   = errorformat.CodeUnimplemented
	)
	for _, tt := range []struct {
		message string
		code    errorformat.Code
		role    runtime.Role
		want    *runtime.Error
	}{
		{"task in non-cancelable state completed: task cannot be canceled", precondition, runtime.RoleCancel, runtime.ErrTaskNotCancelable},
		{"Task not cancelable: 7", precondition, runtime.RoleCancel, runtime.ErrTaskNotCancelable},
		{"Extended card not configured.", precondition, runtime.RoleExtendedCard, runtime.ErrExtendedAgentCardNotConfigured},
		{"extended card not configured", missing, runtime.RoleExtendedCard, runtime.ErrExtendedAgentCardNotConfigured},
		{"no task 7", missing, runtime.RoleGet, runtime.ErrTaskNotFound},
		{"failed to load: task not found", missing, runtime.RoleSend, runtime.ErrTaskNotFound},
		{"none here", unimplemented, runtime.RolePushList, runtime.ErrPushNotificationNotSupported},
		{"push config: push notification not supported", unimplemented, runtime.RoleSend, runtime.ErrPushNotificationNotSupported},
		{"Unsupported operation: message/stream", unimplemented, runtime.RoleStream, runtime.ErrUnsupportedOperation},
		{"this operation is not supported", unimplemented, runtime.RoleSubscribe, runtime.ErrUnsupportedOperation},
		{"text/csv: incompatible content types", argument, runtime.RoleSend, runtime.ErrContentTypeNotSupported},
		{"missing TaskID: invalid params", argument, runtime.RoleGet, runtime.ErrInvalidParams},
		{"execution: invalid agent response", errorformat.CodeInternal, runtime.RoleSend, runtime.ErrInvalidAgentResponse},
		{"TaskNotCancelableError: it is over", unimplemented, runtime.RoleCancel, runtime.ErrTaskNotCancelable},
		{"the disk is full", errorformat.CodeInternal, runtime.RoleSend, nil},
		{"not now", precondition, runtime.RoleSend, nil},
		{"unknown service a2a.v1.A2AService", unimplemented, runtime.RoleSend, nil},
		{"unknown method GetTask for service a2a.v1.A2AService", unimplemented, runtime.RoleGet, nil},
		{"The server does not implement the method /a2a.v1.A2AService/GetTask", unimplemented, runtime.RoleGet, nil},
		{"gone", missing, runtime.RoleOther, nil},
	} {
		e := errorformat.RecognizeCode(&runtime.Error{Message: tt.message}, tt.code, tt.role)
		if (e == nil) != (tt.want == nil) || e != nil && (e.Code != tt.want.Code || e.Reason != tt.want.Reason) {
			t.Errorf("%q with %s reads as %v", tt.message, tt.code, e)
		}
	}
}
