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
	body, counted, err := r.readBody(w, req)
	defer func() { r.bodies.Release(counted) }()
	if err != nil {
		return err
	}
	signed, err := r.checkSignature(req.Context(), req.Header, body)
	if err != nil {
		return err
	}
	weight := objectWeight * int64(bytes.Count(body, []byte("{")))
	if !r.bodies.Try(weight) {
		return putOff(time.Second, "too many notifications are at work")
	}
	defer r.bodies.Release(weight)
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
	return r.deliver(req.Context(), newArrival(n, e, body))
}

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

// readBody reads the body into a buffer that follows what has arrived, and returns how much of it is taken from the
// budget. It is the caller's to release, also after an error.
func (r *Receiver) readBody(w http.ResponseWriter, req *http.Request) (body []byte, counted int64, err error) {
	extend := r.deadline(w, req)
	body = make([]byte, 0, 4<<10)
	for {
		extend(len(body))
		n, err := req.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > r.limits.Body:
			return nil, counted, r.tooLarge()
		case err == io.EOF:
			return body, counted, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, counted, broken(http.StatusRequestTimeout, "the notification came too slowly", nil)
		case err != nil:
			return nil, counted, broken(http.StatusBadRequest, "the notification could not be read", err)
		case len(body) < cap(body):
			continue
		}
		size := 2 * cap(body)
		if more := int64(size - max(cap(body), freeBody)); more > 0 {
			if !r.bodies.Try(more) {
				e := putOff(time.Second, "too many notifications are at work")
				e.close = true
				return nil, counted, e
			}
			counted += more
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
