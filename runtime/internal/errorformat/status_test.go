package errorformat_test

import (
	"fmt"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/errorformat"
)

// T9, T67: the tables of 1.0.1 and 1.0.0 (§5.4), and for 0.3 what its official servers answer over HTTP
// and its official clients know over gRPC.
func TestStatuses(t *testing.T) {
	by := []errorformat.Statuses{errorformat.Statuses101, errorformat.Statuses100, errorformat.Statuses03}
	for e, want := range map[*runtime.Error][3]string{
		runtime.ErrParse:                          {"400 INVALID_ARGUMENT", "400 INVALID_ARGUMENT", "400 INTERNAL"},
		runtime.ErrInvalidRequest:                 {"400 INVALID_ARGUMENT", "400 INVALID_ARGUMENT", "400 INVALID_ARGUMENT"},
		runtime.ErrMethodNotFound:                 {"404 UNIMPLEMENTED", "404 UNIMPLEMENTED", "404 UNIMPLEMENTED"},
		runtime.ErrInvalidParams:                  {"400 INVALID_ARGUMENT", "400 INVALID_ARGUMENT", "422 INVALID_ARGUMENT"},
		runtime.ErrInternal:                       {"500 INTERNAL", "500 INTERNAL", "500 INTERNAL"},
		runtime.ErrTaskNotFound:                   {"404 NOT_FOUND", "404 NOT_FOUND", "404 NOT_FOUND"},
		runtime.ErrTaskNotCancelable:              {"400 FAILED_PRECONDITION", "409 FAILED_PRECONDITION", "409 FAILED_PRECONDITION"},
		runtime.ErrPushNotificationNotSupported:   {"400 FAILED_PRECONDITION", "400 UNIMPLEMENTED", "501 UNIMPLEMENTED"},
		runtime.ErrUnsupportedOperation:           {"400 FAILED_PRECONDITION", "400 UNIMPLEMENTED", "501 UNIMPLEMENTED"},
		runtime.ErrContentTypeNotSupported:        {"400 INVALID_ARGUMENT", "415 INVALID_ARGUMENT", "415 INVALID_ARGUMENT"},
		runtime.ErrInvalidAgentResponse:           {"500 INTERNAL", "502 INTERNAL", "502 INTERNAL"},
		runtime.ErrExtendedAgentCardNotConfigured: {"400 FAILED_PRECONDITION", "400 FAILED_PRECONDITION", "404 FAILED_PRECONDITION"},
		runtime.ErrExtensionSupportRequired:       {"400 FAILED_PRECONDITION", "400 FAILED_PRECONDITION", "400 FAILED_PRECONDITION"},
		runtime.ErrVersionNotSupported:            {"400 FAILED_PRECONDITION", "400 UNIMPLEMENTED", "400 UNIMPLEMENTED"},
		{Reason: "RESOURCE_EXHAUSTED"}:            {"503 UNAVAILABLE", "503 UNAVAILABLE", "503 UNAVAILABLE"},
		{Reason: "MY_OWN"}:                        {"500 INTERNAL", "500 INTERNAL", "500 INTERNAL"},
	} {
		for i, table := range by {
			s := errorformat.Of(e, table)
			if got := fmt.Sprint(s.HTTP, " ", s.Code); got != want[i] {
				t.Errorf("%s by table %d is %s, want %s", e.Reason, table, got, want[i])
			}
		}
	}
	for _, e := range runtime.Errors() { // a new error has to be classed
		if s := errorformat.Of(e, errorformat.Statuses101); s.HTTP == 500 && e != runtime.ErrInternal && e != runtime.ErrInvalidAgentResponse {
			t.Errorf("%s is in no table", e.Reason)
		}
	}
}

// 0.3 §8.2: peers over gRPC know errors by these names.
func TestErrorsHaveTheNamesOf03(t *testing.T) {
	for e, want := range map[*runtime.Error]string{
		runtime.ErrParse:                          "JSONParseError",
		runtime.ErrInvalidRequest:                 "InvalidRequestError",
		runtime.ErrInternal:                       "InternalError",
		runtime.ErrInvalidParams:                  "InvalidParamsError",
		runtime.ErrTaskNotFound:                   "TaskNotFoundError",
		runtime.ErrTaskNotCancelable:              "TaskNotCancelableError",
		runtime.ErrPushNotificationNotSupported:   "PushNotificationNotSupportedError",
		runtime.ErrExtendedAgentCardNotConfigured: "AuthenticatedExtendedCardNotConfiguredError",
	} {
		if got := e.TypeName(); got != want {
			t.Errorf("%s is called %s, want %s", e.Reason, got, want)
		}
	}
}
