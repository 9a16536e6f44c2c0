// Package quiet asks agents for something on behalf of the page, without a connection, and without a record.
package quiet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/a2agen/a2agen/internal/dev/recording"
)

// maxAnswer is how large an answer may be, in bytes.
const maxAnswer = 4 << 20

var errLarge = errors.New("the answer is over 4 MiB")

// Answer is what an agent answered.
type Answer struct {
	Status int
	header http.Header
	body   bytes.Buffer
	large  bool
}

// Header is that of the answer.
func (a *Answer) Header() http.Header { return a.header }

// Body returns the body.
func (a *Answer) Body() []byte { return a.body.Bytes() }

// WriteHeader keeps the status.
func (a *Answer) WriteHeader(status int) {
	if a.Status < http.StatusOK {
		a.Status = status
	}
}

// Write keeps the body.
func (a *Answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.large = a.large || a.body.Len()+len(b) > maxAnswer; a.large {
		return 0, errLarge
	}
	return a.body.Write(b)
}

// Flush is for proxies.
func (a *Answer) Flush() {}

// Get asks the agent that h leads to, whose callers find it at base ("http://127.0.0.1:8080").
func Get(ctx context.Context, h http.Handler, base, path string, header http.Header) (a *Answer, err error) {
	u, err := url.Parse(base + path)
	if err != nil {
		return nil, err
	}
	r := (&http.Request{
		Method: http.MethodGet, URL: &url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}, Host: u.Host, Header: http.Header{},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody, RequestURI: u.RequestURI(), RemoteAddr: "127.0.0.1:0",
	}).WithContext(ctx)
	for name, values := range header {
		r.Header[name] = values
	}
	a = &Answer{header: http.Header{}}
	defer func() {
		switch panicked := recover(); {
		case a.large:
			err = errLarge
		case panicked == http.ErrAbortHandler:
			err = fmt.Errorf("the answer to GET %s broke off", path)
		case panicked != nil:
			panic(panicked)
		}
	}()
	h.ServeHTTP(a, r)
	return a, nil
}

// Card returns the card that an agent publishes to everybody.
func Card(ctx context.Context, h http.Handler, base string) ([]byte, error) {
	a, err := Get(ctx, h, base, recording.CardPath, nil)
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask for the card: %w", err)
	case a.Status != http.StatusOK:
		return nil, fmt.Errorf("the agent answers %d when it is asked for its card", a.Status)
	}
	return a.Body(), nil
}
