package conform

import "slices"

// errorKind is an error of A2A and how each binding has it (A2A 1.0 §5.4). Where a list has two, the second is that of 1.0.0, or of
// official releases.
type errorKind struct {
	name   string
	reason string // of ErrorInfo
	code   int64
	http   []int
	status []string // of google.rpc, also over gRPC
	// old are the statuses that official releases have for it over HTTP+JSON of 0.3, where no document says them.
	old []int
}

var (
	errTaskNotFound  = errorKind{"TaskNotFoundError", "TASK_NOT_FOUND", -32001, []int{404}, []string{"NOT_FOUND"}, []int{404}}
	errNotCancelable = errorKind{"TaskNotCancelableError", "TASK_NOT_CANCELABLE", -32002, []int{400, 409}, []string{"FAILED_PRECONDITION", "UNIMPLEMENTED"}, []int{409, 400}}
	errPush          = errorKind{"PushNotificationNotSupportedError", "PUSH_NOTIFICATION_NOT_SUPPORTED", -32003, []int{400}, []string{"FAILED_PRECONDITION", "UNIMPLEMENTED"}, []int{501, 400}}
	errUnsupported   = errorKind{"UnsupportedOperationError", "UNSUPPORTED_OPERATION", -32004, []int{400}, []string{"FAILED_PRECONDITION", "UNIMPLEMENTED"}, []int{501, 400}}
	errContentType   = errorKind{"ContentTypeNotSupportedError", "CONTENT_TYPE_NOT_SUPPORTED", -32005, []int{400, 415}, []string{"INVALID_ARGUMENT", "UNIMPLEMENTED"}, []int{415, 400}}
	errAgentResponse = errorKind{"InvalidAgentResponseError", "INVALID_AGENT_RESPONSE", -32006, []int{500, 502}, []string{"INTERNAL"}, []int{502, 500}}
	errNoCard        = errorKind{"ExtendedAgentCardNotConfiguredError", "EXTENDED_AGENT_CARD_NOT_CONFIGURED", -32007, []int{400}, []string{"FAILED_PRECONDITION"}, []int{404, 400}}
	errExtension     = errorKind{"ExtensionSupportRequiredError", "EXTENSION_SUPPORT_REQUIRED", -32008, []int{400}, []string{"FAILED_PRECONDITION"}, nil}
	errVersion       = errorKind{"VersionNotSupportedError", "VERSION_NOT_SUPPORTED", -32009, []int{400}, []string{"FAILED_PRECONDITION", "UNIMPLEMENTED"}, nil}
	errParams        = errorKind{"InvalidParamsError", "", -32602, []int{400}, []string{"INVALID_ARGUMENT"}, []int{400, 422}}
	errRequest       = errorKind{"InvalidRequestError", "", -32600, []int{400}, []string{"INVALID_ARGUMENT"}, []int{400, 422}}
	errMethod        = errorKind{"MethodNotFoundError", "", -32601, []int{404, 405, 501}, []string{"UNIMPLEMENTED", "NOT_FOUND"}, []int{404, 405, 501}}
	errParse         = errorKind{"JSONParseError", "", -32700, []int{400}, []string{"INVALID_ARGUMENT"}, []int{400, 422}}
)

// a2aErrors are those that A2A defines; they have a reason.
var a2aErrors = []errorKind{errTaskNotFound, errNotCancelable, errPush, errUnsupported, errContentType, errAgentResponse, errNoCard, errExtension, errVersion}

// is reports whether a failure is of a kind, by what tells it most surely: its reason, its code, its status (T9).
func (f *failure) is(k errorKind, version string) bool {
	switch {
	case f == nil:
		return false
	case slices.ContainsFunc(a2aErrors, func(e errorKind) bool { return e.reason == f.reason }):
		return f.reason == k.reason
	case f.code != 0:
		return f.code == k.code
	case f.http != 0 && version != "1.0":
		return slices.Contains(k.old, f.http)
	case f.http != 0:
		return slices.Contains(k.http, f.http) && (f.status == "" || slices.Contains(k.status, f.status))
	}
	return slices.Contains(k.status, f.status)
}

// refused reports whether a failure is one of the caller's credentials.
func (f *failure) refused() bool {
	return f != nil && (f.http == 401 || f.http == 403 || f.status == "UNAUTHENTICATED" || f.status == "PERMISSION_DENIED" ||
		f.code == -31401 || f.code == -31403)
}
