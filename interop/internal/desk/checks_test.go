package desk

import (
	"testing"

	"github.com/a2agen/a2agen/runtime"
)

// A client knows an error by its code, or by the name that it gives it. What the agent has written into the text is not
// what the client knows.
func TestAnErrorIsKnownByItsCodeOrItsName(t *testing.T) {
	for text, want := range map[string]bool{
		"TASK_NOT_CANCELABLE: it is over":                                                      true,
		"TaskNotCancelableError: it is over":                                                   true,
		"TaskNotCancelableJSONRPCError: it is over":                                            true,
		"GrpcTaskNotCancelableError: it is over":                                               true,
		"io.a2a.spec.TaskNotCancelableError: it is over":                                       true,
		"gRPC FailedPrecondition: it is over (TASK_NOT_CANCELABLE) [-32002]":                   true,
		"A2AClientJSONRPCError: JSON-RPC Error code=-32002":                                    true,
		"UNSUPPORTED_OPERATION: TaskNotCancelableError: it is over":                            false,
		"Error: GRPC error for cancelTask! 12 TaskNotCancelableError: it is over":              false,
		"UNSUPPORTED_OPERATION: rpc error: code = Unimplemented desc = TaskNotCancelableError": false,
		"Error: code -320021":                                                                  false,
		"TaskNotFoundError: 7":                                                                 false,
		"":                                                                                     false,
	} {
		if got := isError(failure(text), runtime.ErrTaskNotCancelable) == nil; got != want {
			t.Errorf("%q is known: %v", text, got)
		}
	}
}
