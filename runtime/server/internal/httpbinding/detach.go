package httpbinding

import (
	"context"
	"errors"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/server/internal/listen"
)

// detachAfter is how old a stream is when it leaves net/http, as soon as it waits for its next event: see
// [listen.Port.Detach]. A short stream does without.
const detachAfter = 5 * time.Millisecond

// detaching is what a stream needs to leave net/http.
type detaching struct {
	port   *listen.Port
	cancel context.CancelFunc // ends the request's Context
	unhook func() bool        // from the context of net/http, which ends when the handler returns
	done   bool               // the connection is detached
}

// mayDetach prepares a request for leaving net/http, where that is possible: its Context must outlive the handler.
func (q *Request) mayDetach() {
	port := listen.PortOf(q.R)
	if port == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(q.Context))
	q.detaching = &detaching{port: port, cancel: cancel, unhook: context.AfterFunc(q.R.Context(), cancel)}
	q.Outlive(ctx)
}

// errWaits is the error of following a stream that waits for its next event and may leave net/http.
var errWaits = errors.New("httpbinding: the stream waits")

// errGone is the error of following a stream whose client does not read any more.
var errGone = errors.New("httpbinding: the client is gone")

// detach has a stream go on without net/http, whose handler must return then. It reports whether it does.
func (q *Request) detach(w *eventWriter, st *engine.Stream) bool {
	conn, err := q.detaching.port.Detach(q.W, q.R, q.detaching.cancel)
	if err != nil {
		return false
	}
	q.detaching.unhook()
	q.detaching.done = true
	q.W, q.R, w.rc, w.conn = nil, nil, nil, conn
	go q.followDetached(w, st)
	return true
}

// followDetached writes the rest of a stream, and finishes the request.
func (q *Request) followDetached(w *eventWriter, st *engine.Stream) {
	complete := false
	defer func() {
		_ = recover() // http.ErrAbortHandler, by which user code cuts the connection: Contain passes nothing else on
		st.Close()
		q.finish()
		if complete {
			w.conn.Finish()
		} else {
			_ = w.conn.Close()
		}
	}()
	_ = q.Contain(func() {
		err := w.follow(st)
		complete = err == nil
		q.reportStream(err)
	}, func() { q.Exited() })
}

// reportStream logs why a stream was given up, unless its client is gone.
func (q *Request) reportStream(err error) {
	if err != nil && !errors.Is(err, errGone) && q.Context.Err() == nil {
		q.Logger().Info("stream given up", "error", err)
	}
}
