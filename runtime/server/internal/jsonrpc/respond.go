package server

import (
	"net/http"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/sse"
)

// Pieces of a JSON-RPC response.
const (
	responseHead   = `{"jsonrpc":"2.0","id":`
	responseResult = `,"result":`
	responseError  = `,"error":`
)

// beginFrame appends the head of a response: every event of a stream is one, too (A2A 1.0 §9.4.2).
func (q *request) beginFrame(b []byte) []byte {
	b = append(b, responseHead...)
	b = append(b, q.id...)
	return append(b, responseResult...)
}

func (q *request) endFrame(b []byte) []byte { return append(b, '}') }

// fail answers with an error. A client of a stream that takes event streams gets it as the only event: some see nothing
// in a plain body.
func (q *request) fail(err error) {
	e, refused := q.told(err)
	if refused != 0 {
		q.refuse(refused, e)
		return
	}
	if q.Silent {
		q.w.WriteHeader(http.StatusNoContent)
		return
	}
	body := q.appendError(nil, e)
	if q.Op != nil && q.Op.Stream && strings.Contains(q.r.Header.Get("Accept"), sse.ContentType) {
		q.streamHeader()
		_, _ = q.w.Write(sse.AppendEvent(nil, "", body))
		return
	}
	q.write(http.StatusOK, body)
}

// reject answers what is wrong before the operation begins: to a client that gave no id, too, because it may have
// forgotten it.
func (q *request) reject(e *runtime.Error) {
	q.Silent = false
	if e.Code == runtime.ErrParse.Code {
		q.id = noID
	}
	q.fail(e)
}

func (q *request) errorEvent() string { return "" }

func (q *request) status(*runtime.Error) int { return http.StatusOK }

// refuse answers what is not a JSON-RPC request with an HTTP status, and a JSON-RPC error as the body.
func (q *request) refuse(status int, e *runtime.Error) {
	q.Fault(e)
	q.write(status, q.appendError(nil, e))
}

func (q *request) appendError(dst []byte, e *runtime.Error) []byte {
	dst = append(dst, responseHead...)
	dst = append(dst, q.id...)
	dst = append(dst, responseError...)
	if q.Version != nil && q.Version.Rules.PlainErrors {
		return append(e.AppendPlain(dst), '}')
	}
	return append(e.AppendJSON(dst), '}')
}
