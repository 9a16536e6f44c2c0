package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
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

// reply answers with a result.
func (q *request) reply(result any) {
	if q.silent {
		q.w.WriteHeader(http.StatusNoContent)
		return
	}
	result, err := q.shown(result)
	if err != nil {
		q.fail(err)
		return
	}
	q.give(func(b []byte) ([]byte, error) {
		b = append(slices.Grow(b, int(q.room)), responseHead...)
		b = append(b, q.id...)
		b, err := q.op.Append(append(b, responseResult...), result)
		return append(b, '}'), err
	}, nil)
}

// give answers with what encode makes, as JSON or what else begin says. What is large has its room in the budget of answers.
func (q *request) give(encode func([]byte) ([]byte, error), begin func()) {
	buf := buffers.Get().(*[]byte)
	defer putBuffer(buf)
	var b []byte
	var err error
	if q.room > 0 { // as was reserved: waiting for more while holding that could be for ever
		if b, err = encode((*buf)[:0]); int64(len(b)) > q.room {
			q.s.answers.add(int64(len(b)) - q.room)
			q.room = int64(len(b))
		}
	} else {
		b, q.room, err = q.s.within(q.r.Context(), buf, encode)
	}
	switch {
	case err != nil:
		q.fail(fmt.Errorf("result: %w", err))
	case begin != nil:
		begin()
		_ = q.putWhole(b)
	default:
		q.write(http.StatusOK, b)
	}
}

// fail answers with an error. A client of a stream that takes event streams gets it as the only event: some see nothing in a plain body.
func (q *request) fail(err error) {
	if u := (*unauthorized)(nil); errors.As(err, &u) {
		q.s.logger.Info("request refused", "error", err)
		q.w.Header().Set("WWW-Authenticate", "Bearer")
		q.refuse(http.StatusUnauthorized, runtime.ErrInvalidRequest.With("the request needs valid credentials"))
		return
	}
	e, known := toError(err)
	if !known {
		q.s.logger.Error("request failed", "method", q.method(), "error", err)
	}
	if q.silent {
		q.w.WriteHeader(http.StatusNoContent)
		return
	}
	body := q.appendError(nil, e)
	if q.op != nil && q.op.Stream && strings.Contains(q.r.Header.Get("Accept"), sse.ContentType) {
		q.streamHeader()
		_, _ = q.w.Write(sse.AppendEvent(nil, "", body))
		return
	}
	q.write(http.StatusOK, body)
}

// reject answers what is wrong before the operation begins: to a client that gave no id, too, because it may have forgotten it.
func (q *request) reject(err error) {
	q.silent = false
	q.fail(err)
}

func (q *request) method() string {
	if q.op == nil {
		return ""
	}
	return q.op.RPC
}

// exited answers when user code ended the request's goroutine (runtime.Goexit). net/http closes the connection then, and sends nothing by itself.
func (q *request) exited() {
	body := q.appendError(nil, runtime.ErrInternal.With("the skill ended unexpectedly"))
	h := q.w.Header()
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	h["Connection"] = closing
	q.write(http.StatusOK, body)
	_ = http.NewResponseController(q.w).Flush() // without one the client sees the connection end
}

// refuse answers what is not a JSON-RPC request with an HTTP status, and a JSON-RPC error as the body.
func (q *request) refuse(status int, e *runtime.Error) {
	q.write(status, q.appendError(nil, e))
}

func (q *request) appendError(dst []byte, e *runtime.Error) []byte {
	dst = append(dst, responseHead...)
	dst = append(dst, q.id...)
	dst = append(dst, responseError...)
	if q.version != nil && q.version.Rules.PlainErrors {
		return append(appendPlainError(dst, e), '}')
	}
	return append(e.AppendJSON(dst), '}')
}

// inlineLength is up to which size net/http finds the length of a body by itself.
const inlineLength = 2 << 10

func (q *request) write(status int, body []byte) {
	h := q.w.Header()
	h["Content-Type"] = jsonType
	if len(body) > inlineLength {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	if status != http.StatusOK {
		q.w.WriteHeader(status)
	}
	// A client that went away has nobody to tell.
	if len(body) <= maxPiece {
		_, _ = q.w.Write(body)
	} else {
		_ = q.putWhole(body)
	}
}

func (q *request) streamHeader() {
	h := q.w.Header()
	h["Content-Type"] = streamType
	h["Cache-Control"] = noCache
	h["X-Accel-Buffering"] = unbuffered
}
