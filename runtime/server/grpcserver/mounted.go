package grpcserver

import (
	"net/http"
	"time"
)

// ServeHTTP answers a call that net/http brings.
func (t *transport) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.grpc.ServeHTTP(&pacedWriter{w, http.NewResponseController(w), t.host.Limits().Stall}, r)
}

// pacedWriter ends a call whose client takes nothing for the stall limit. net/http has no limit of its own for that, and
// its deadlines end calls that have nothing to write, too.
type pacedWriter struct {
	http.ResponseWriter
	rc    *http.ResponseController
	stall time.Duration
}

// Write writes what has a deadline.
func (w *pacedWriter) Write(b []byte) (int, error) {
	defer w.paced()()
	return w.ResponseWriter.Write(b)
}

// Flush sends what was written.
func (w *pacedWriter) Flush() {
	defer w.paced()()
	_ = w.rc.Flush() // the next write says so
}

// paced sets the deadline; the function that it returns takes it back.
func (w *pacedWriter) paced() func() {
	_ = w.rc.SetWriteDeadline(time.Now().Add(w.stall))
	return func() { _ = w.rc.SetWriteDeadline(time.Time{}) }
}
