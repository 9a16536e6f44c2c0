package oauth

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/keyset"
)

// Limits of a request to an issuer.
const (
	requestTime = 30 * time.Second
	mostBytes   = 64 << 10 // of an answer, and of its headers
)

var (
	errTooLarge = fmt.Errorf("its answer has more than %d bytes", mostBytes)
	errRedirect = errors.New("it redirects, which is not followed")
)

// guarded returns an HTTP client that follows no redirects and takes answers of a limited size.
func guarded(h *http.Client) *http.Client {
	client := keyset.NoRedirects(h)
	if client.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxResponseHeaderBytes = mostBytes
		client.Transport = t
	}
	client.Transport = limited{client.Transport}
	client.Jar = nil
	return client
}

// limited limits the size of answers.
type limited struct{ http.RoundTripper }

func (l limited) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &limitedBody{ReadCloser: resp.Body, left: mostBytes}
	return resp, nil
}

// limitedBody is a body that fails when it is too large, and that closes itself at its end.
type limitedBody struct {
	io.ReadCloser
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		err = errTooLarge
	}
	if err != nil {
		b.Close()
	}
	return n, err
}
