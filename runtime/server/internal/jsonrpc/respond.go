package jsonrpc

import (
	"net/http"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/errorformat"
	"github.com/a2agen/a2agen/runtime/sse"
)

// Pieces of a JSON-RPC response.
const (
	responseHead   = `{"jsonrpc":"2.0","id":`
	responseResult = `,"result":`
	responseError  = `,"error":`
)

// BeginFrame appends the head of a response: every event of a stream is one, too (A2A 1.0 §9.4.2).
func (q *request) BeginFrame(b []byte) []byte {
	b = append(b, responseHead...)
	b = append(b, q.id...)
	return append(b, responseResult...)
}

func (q *request) EndFrame(b []byte) []byte { return append(b, '}') }

// Fail answers with an error. A client of a stream that takes event streams gets it as the only event: some see nothing
// in a plain body.
func (q *request) Fail(err error) {
	e, refused := q.ToldHTTP(err)
	if refused != 0 {
		q.Refuse(refused, e)
		return
	}
	if q.Silent {
		q.W.WriteHeader(http.StatusNoContent)
		return
	}
	body := q.AppendError(nil, e)
	if q.Op != nil && q.Op.Stream && strings.Contains(q.R.Header.Get("Accept"), sse.ContentType) {
		q.StreamHeader()
		_, _ = q.W.Write(sse.AppendEvent(nil, "", body))
		return
	}
	q.Write(http.StatusOK, body)
}

// Reject answers what is wrong before the operation begins: to a client that gave no id, too, because it may have
// forgotten it.
func (q *request) Reject(e *runtime.Error) {
	q.Silent = false
	if e.Code == runtime.ErrParse.Code {
		q.id = noID
	}
	q.Fail(e)
}

func (q *request) ErrorEvent() string { return "" }

func (q *request) HTTPStatus(*runtime.Error) int { return http.StatusOK }

// Refuse answers what is not a JSON-RPC request with an HTTP status, and a JSON-RPC error as the body.
func (q *request) Refuse(status int, e *runtime.Error) {
	q.Fault(e)
	q.Write(status, q.AppendError(nil, e))
}

func (q *request) AppendError(dst []byte, e *runtime.Error) []byte {
	dst = append(dst, responseHead...)
	dst = append(dst, q.id...)
	dst = append(dst, responseError...)
	if q.Version != nil && q.Version.Rules.PlainErrors {
		return append(errorformat.AppendPlain(dst, e), '}')
	}
	return append(errorformat.AppendJSON(dst, e), '}')
}
