package fault

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
)

// TestAReverseProxyPassesRequestsOn below the target's path, with faults, and says when nobody is behind it.
func TestAReverseProxyPassesRequestsOn(t *testing.T) {
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.Method, " ", r.RequestURI, " ", r.Header.Get("X-Forwarded-For"), " ", r.Host)
	}))
	in, err := New(1, Drop(Reply).Skip(1).Times(1), Truncate(3).Skip(1).Times(1))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	target, err := url.Parse(behind.URL + "/below")
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(in.Proxy(target, nil))
	defer front.Close()
	call := func() (string, error) {
		r, err := http.NewRequest(http.MethodPost, front.URL+"/a%2Fb?x=1", strings.NewReader("body"))
		if err != nil {
			return "", err
		}
		r.Header.Set("X-Forwarded-For", "10.0.0.1")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", err
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		return string(body), err
	}
	if got, err := call(); got != "POST /below/a%2Fb?x=1 10.0.0.1 "+target.Host || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := call(); !errors.Is(err, io.EOF) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := call(); got != "POS" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q, %v", got, err)
	}
	behind.Close()
	if got, err := call(); !strings.Contains(got, "the agent behind the injector of faults gave no answer") || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// TestAHandlerAnswersAsUnderAServer: its head, its trailers, and how it breaks off.
func TestAHandlerAnswersAsUnderAServer(t *testing.T) {
	ask := func(h http.HandlerFunc) (resp *http.Response, body string, err error) {
		r, err := http.NewRequest(http.MethodGet, "http://agent/x?y=1", nil)
		if err != nil {
			return nil, "", err
		}
		if resp, err = (handled{h}).RoundTrip(r); err != nil {
			return nil, "", err
		}
		b, err := io.ReadAll(resp.Body)
		return resp, string(b), err
	}
	synctest.Test(t, func(t *testing.T) {
		resp, body, err := ask(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Trailer", "One")
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusTeapot)
			w.WriteHeader(http.StatusOK)
			w.Header().Set("Late", "1")
			w.Header().Set("One", "1")
			w.Header().Set(http.TrailerPrefix+"Two", "2")
			_, _ = io.WriteString(w, r.RequestURI)
		})
		if err != nil || resp.StatusCode != http.StatusTeapot || body != "/x?y=1" || resp.Header.Get("Late") != "" ||
			resp.Trailer.Get("One") != "1" || resp.Trailer.Get("Two") != "2" {
			t.Errorf("%+v, %q, %v", resp, body, err)
		}
		resp, body, err = ask(func(http.ResponseWriter, *http.Request) {})
		if err != nil || resp.StatusCode != http.StatusOK || body != "" {
			t.Errorf("%+v, %q, %v", resp, body, err)
		}
		for _, broken := range []any{http.ErrAbortHandler, "a mistake"} {
			_, _, err = ask(func(http.ResponseWriter, *http.Request) { panic(broken) })
			if !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errAborted) != (broken == http.ErrAbortHandler) {
				t.Error(err)
			}
			_, body, err = ask(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "half"); panic(broken) })
			if !errors.Is(err, io.ErrUnexpectedEOF) || body != "half" {
				t.Errorf("%q, %v", body, err)
			}
		}
	})
}

// TestABrokenAnswerIsNeverComplete: also where a handler is called outside of a server, as other kits do.
func TestABrokenAnswerIsNeverComplete(t *testing.T) {
	in, err := New(1, Truncate(2))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	h := in.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "done") }))
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("it panicked with %v", p)
		}
	}()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	t.Error("it was complete")
}
