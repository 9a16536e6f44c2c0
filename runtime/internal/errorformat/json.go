// Package errorformat writes errors as the bindings have them: objects of JSON-RPC, bodies of HTTP+JSON, statuses and
// codes of gRPC.
package errorformat

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// rpcError is the error member of a JSON-RPC response (A2A 1.0 §9.5).
type rpcError struct {
	Code    int              `json:"code"`
	Message string           `json:"message"`
	Data    []runtime.Detail `json:"data,omitempty"`
}

// AppendJSON appends an error as the error member of a JSON-RPC response. The data always holds an ErrorInfo (T11).
func AppendJSON(dst []byte, e *runtime.Error) []byte {
	return appendJSON(dst, rpcError{Code: e.Code, Message: e.Message, Data: e.AllDetails()})
}

// AppendPlain appends an error as versions before 1.0 have it: without details, which SDKs of 0.3 each expect in
// another form, and with a code that those versions have (0.3 §8).
func AppendPlain(dst []byte, e *runtime.Error) []byte { return appendJSON(dst, plain(e)) }

func plain(e *runtime.Error) rpcError {
	code := e.Code
	switch code {
	case runtime.ErrExtensionSupportRequired.Code, runtime.ErrVersionNotSupported.Code, runtime.ErrTaskGenerationMismatch.Code:
		code = runtime.ErrInternal.Code
	}
	return rpcError{Code: code, Message: PlainText(e)}
}

// PlainText is the text of an error without details. Its note has no place but the message: it follows the
// specification's words, unless they say it all.
func PlainText(e *runtime.Error) string {
	switch e.Code {
	case runtime.ErrTaskNotFound.Code, runtime.ErrTaskNotCancelable.Code, runtime.ErrPushNotificationNotSupported.Code,
		runtime.ErrExtendedAgentCardNotConfigured.Code:
		return e.Message
	}
	return strings.ToValidUTF8(e.Text(), "\uFFFD")
}

// appendJSON appends v as JSON without HTML escapes. It is only called with values that always encode.
func appendJSON(dst []byte, v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return append(dst, "null"...)
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
