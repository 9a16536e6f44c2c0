package runtime_test

import (
	"errors"
	"testing"

	"github.com/a2agen/a2agen/runtime"
)

// TestErrorsOverHTTPAreReadHoweverTheyAreTold: patch levels and SDKs each have their own way (T9).
func TestErrorsOverHTTPAreReadHoweverTheyAreTold(t *testing.T) {
	const info = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_CANCELABLE","domain":"a2a-protocol.org","metadata":{"taskId":"t"}}`
	for _, tt := range []struct {
		name, body string
		want       *runtime.Error
		message    string
	}{
		{"1.0.1", `{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"no","details":[` + info + `]}}`, runtime.ErrTaskNotCancelable, "no"},
		{"1.0.0", `{"error":{"code":409,"status":"FAILED_PRECONDITION","message":"no","details":[` + info + `]}}`, runtime.ErrTaskNotCancelable, "no"},
		{"the status itself", `{"code":9,"message":"no","details":[` + info + `]}`, runtime.ErrTaskNotCancelable, "no"},
		{"violations alone", `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"no","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"a","description":"b"}]}]}}`, runtime.ErrInvalidParams, "no"},
		{"a reason of the agent's own", `{"error":{"code":503,"status":"UNAVAILABLE","message":"busy","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RESOURCE_EXHAUSTED"}]}}`, runtime.ErrInternal, "busy"},
		{"a caller who is not known", `{"error":{"code":401,"message":"who?","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UNAUTHENTICATED"}]}}`, runtime.ErrUnauthenticated, "who?"},
		{"a caller who may not", `{"error":{"code":403,"message":"no","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UNAUTHORIZED"}]}}`, runtime.ErrPermissionDenied, "no"},
		{"JSON-RPC's object", `{"code":-32001,"message":"no","data":{"x":1}}`, runtime.ErrTaskNotFound, "no"},
		{"JSON-RPC's object in an error", `{"error":{"code":-32004,"message":"no"}}`, runtime.ErrUnsupportedOperation, "no"},
		{"a whole response of JSON-RPC", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`, runtime.ErrParse, "no"},
		{"a class", `{"error":"io.a2a.spec.PushNotificationNotSupportedError","message":"no"}`, runtime.ErrPushNotificationNotSupported, "no"},
		{"a class without words", `{"error":"JSONParseError"}`, runtime.ErrParse, "Invalid JSON payload"},
		{"words", `{"message":"Task not found"}`, runtime.ErrTaskNotFound, "Task not found"},
		{"words, and more of them", `{"message":"task cannot be canceled - it is over"}`, runtime.ErrTaskNotCancelable, "task cannot be canceled - it is over"},
		{"words of an error", `{"error":{"message":"This operation is not supported"}}`, runtime.ErrUnsupportedOperation, "This operation is not supported"},
		{"a name before the words", `{"message":"AuthenticatedExtendedCardNotConfiguredError: none"}`, runtime.ErrExtendedAgentCardNotConfigured, "none"},
		{"problem details", `{"type":"https://a2a-protocol.org/errors/version-not-supported","title":"x","status":400,"detail":"no"}`, runtime.ErrVersionNotSupported, "no"},
		{"plain text", "Task not found\n", runtime.ErrTaskNotFound, "Task not found\n"},
		{"members of other kinds", `{"error":{"code":"x","message":7,"status":[],"details":{},"data":"y"},"message":"Internal error"}`, runtime.ErrInternal, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := runtime.ReadStatus([]byte(tt.body))
			if tt.message == "" {
				if e != nil {
					t.Errorf("read %v", e)
				}
				return
			}
			if e == nil || !errors.Is(e, tt.want) || e.Message != tt.message || e.Reason == "" {
				t.Errorf("read %+v", e)
			}
		})
	}
	for _, body := range []string{"", "null", "[]", "7", `{}`, `{"error":null}`, `{"error":{"code":404,"status":"NOT_FOUND","message":"gone"}}`, "<html>", "404 page not found", `{"message":{"parts":[]}}`} {
		if e := runtime.ReadStatus([]byte(body)); e != nil {
			t.Errorf("%q reads as %v", body, e)
		}
	}
}

// Agents of 0.3 tell errors over gRPC by codes: in Go with the error's words at the end, in JavaScript with words of
// their own.
// FuzzReadStatus: whatever an agent answers, reading it does not panic, and what is read is known.
func FuzzReadStatus(f *testing.F) {
	for _, s := range []string{`{"error":{"code":404,"details":[{}]}}`, `{"error":"x.TaskNotFoundError"}`, `{"type":"/"}`, `Task not found`, `{"error":{"error":{}}}`, "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if e := runtime.ReadStatus(body); e != nil && (e.Code == 0 || e.Error() == "") {
			t.Errorf("%q reads as %+v", body, e)
		}
	})
}
