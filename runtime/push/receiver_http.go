package push

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/budget"
)

// ServeHTTP receives one notification.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	err := r.serve(w, req)
	if err == nil {
		w.WriteHeader(http.StatusOK)
		return
	}
	var e *refusal
	if !errors.As(err, &e) {
		e = refuse(http.StatusInternalServerError, "the notification could not be processed")
		e.cause = err
	}
	r.log(req.Context(), e)
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	if e.challenge != "" {
		h.Set("WWW-Authenticate", e.challenge)
	}
	if e.after > 0 {
		h.Set("Retry-After", strconv.Itoa(int((e.after+time.Second-1)/time.Second)))
	}
	if e.status == http.StatusMethodNotAllowed {
		h.Set("Allow", http.MethodPost)
	}
	if e.close {
		h.Set("Connection", "close")
	}
	w.WriteHeader(e.status)
	_, _ = io.WriteString(w, e.text+"\n") // a sender that is gone does not read it
}

func (r *Receiver) log(ctx context.Context, e *refusal) {
	level, attrs := slog.LevelInfo, []any{"status", e.status, "reason", e.text}
	if e.status >= 500 {
		level = slog.LevelWarn
	}
	if e.cause != nil {
		attrs = append(attrs, "error", e.cause)
	}
	r.logger.Log(ctx, level, "a push notification was not taken", attrs...)
}

// serve does everything that can be done before the body is read before it is read.
func (r *Receiver) serve(w http.ResponseWriter, req *http.Request) error {
	if err := r.checkRequest(req); err != nil {
		return err
	}
	if err := r.checkSecrets(req.Header); err != nil {
		return err
	}
	room := room{of: &r.bodies}
	defer room.release()
	body, err := r.readBody(w, req, &room)
	if err != nil {
		return err
	}
	signed, err := r.checkSignature(req.Context(), req.Header, body)
	if err != nil {
		return err
	}
	ofBody := room.taken / copies
	if !room.take(objectWeight * int64(bytes.Count(body, []byte("{")))) {
		return putOff(time.Second, "too many notifications are at work")
	}
	n, e, err := r.read(req.Header, body)
	if err != nil {
		return err
	}
	if signed != nil {
		if err := signed.matches(req.Header, n); err != nil {
			return err
		}
	}
	if r.accept != nil {
		if shown := tokenOf(req.Header); len(shown) > 1 || !r.accept(req.Context(), n.TaskID, strings.Join(shown, "")) {
			return unauthorized("", "the token is missing or wrong")
		}
	}
	if e == nil { // of a kind that came with a later version
		return nil
	}
	a := newArrival(n, e, body) // which has all that is needed of the body
	room.giveBack(ofBody)
	return r.deliver(req.Context(), a)
}

// copies is how often a notification is in memory while it is decoded: its body, and its event. Room for both is taken as
// the body comes, so that it is refused before it has come and not after that.
const copies = 2

// room is what a notification has taken from the budget of all.
type room struct {
	of    *budget.Budget
	taken int64
}

// collected is how much memory a byte takes that is let go of later: the collector lets garbage grow to as much as what
// is alive before it takes it away.
const collected = 2

// take takes room for so many bytes of memory, beyond those that need not be counted.
func (m *room) take(bytes int64) bool {
	if bytes = collected * bytes; bytes <= 0 || !m.of.Try(bytes) {
		return bytes <= 0
	}
	m.taken += bytes
	return true
}

// giveBack gives room back that was taken.
func (m *room) giveBack(taken int64) {
	m.of.Release(taken)
	m.taken -= taken
}

func (m *room) release() { m.giveBack(m.taken) }

// checkRequest refuses what is no notification at all.
func (r *Receiver) checkRequest(req *http.Request) error {
	contentType, encoding := req.Header.Get("Content-Type"), req.Header.Get("Content-Encoding")
	switch {
	case r.path != "" && req.URL.Path != r.path:
		return refuse(http.StatusNotFound, "push notifications go to another path")
	case req.Method != http.MethodPost:
		return refuse(http.StatusMethodNotAllowed, "push notifications are sent by POST")
	case contentType != "" && !isJSON(contentType):
		return refuse(http.StatusUnsupportedMediaType, "a push notification is application/json")
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		return refuse(http.StatusUnsupportedMediaType, "compressed push notifications are not read")
	case req.ContentLength > r.limits.Body:
		return r.tooLarge()
	}
	return nil
}

func (r *Receiver) tooLarge() *refusal {
	text := fmt.Sprintf("the notification is larger than %d bytes", r.limits.Body)
	return broken(http.StatusRequestEntityTooLarge, text, nil)
}

// broken refuses a body that is not read to its end.
func broken(status int, text string, cause error) *refusal {
	return &refusal{status: status, text: text, cause: cause, close: true}
}

// isJSON reports whether a content type is JSON: application/json or any +json, with parameters or not.
func isJSON(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && (t == "application/json" || strings.HasSuffix(t, "+json"))
}

const (
	// freeBody is up to which size a body is not counted, in bytes: a connection costs as much anyway.
	freeBody = 16 << 10
	// bodyRate is how fast a body has to come once [Limits.Read] is over, in bytes a second.
	bodyRate = 16 << 10
	// bodyPaces is after how many bytes the deadline is set anew.
	bodyPaces = 64 << 10
	// objectWeight is about what an object takes in memory beside its content, in bytes.
	objectWeight = 256
)

// readBody reads the body into a buffer that follows what has arrived, and takes room for it.
func (r *Receiver) readBody(w http.ResponseWriter, req *http.Request, room *room) (body []byte, err error) {
	extend := r.deadline(w, req)
	body = make([]byte, 0, 4<<10)
	for {
		extend(len(body))
		n, err := req.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > r.limits.Body:
			return nil, r.tooLarge()
		case err == io.EOF:
			return body, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, broken(http.StatusRequestTimeout, "the notification came too slowly", nil)
		case err != nil:
			return nil, broken(http.StatusBadRequest, "the notification could not be read", err)
		case len(body) < cap(body):
			continue
		}
		size := 2 * cap(body)
		if declared := int(req.ContentLength); declared > len(body) { // and one byte more, to see the end
			size = min(size, declared+1)
		}
		if !room.take(copies * int64(size-max(cap(body), freeBody))) {
			e := putOff(time.Second, "too many notifications are at work")
			e.close = true
			return nil, e
		}
		body = append(make([]byte, 0, size), body...)
	}
}

// deadline returns what puts off until when the body has to be there, as it comes: a slow one passes and a drip does
// not. A server that has a deadline of its own keeps that.
func (r *Receiver) deadline(w http.ResponseWriter, req *http.Request) (extend func(received int)) {
	if h, ok := req.Context().Value(http.ServerContextKey).(*http.Server); !ok || h.ReadTimeout > 0 {
		return func(int) {}
	}
	rc, began, next := http.NewResponseController(w), time.Now(), 0
	return func(received int) {
		if received < next {
			return
		}
		next = received + bodyPaces
		allowed := r.limits.Read + time.Duration(received)*time.Second/bodyRate
		_ = rc.SetReadDeadline(began.Add(allowed)) // net/http takes it back at the end of the body
	}
}
