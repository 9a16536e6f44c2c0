package client

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// RejectedError is a call whose credentials the agent did not accept, after a token was replaced by a new one if its source had one.
type RejectedError struct {
	Schemes   []string // whose credentials were sent, by their names in the card
	Challenge string   // of the agent; "" without. No URL in it was opened
	Err       error    // *HTTPError, *runtime.Error, or an error of the binding
	Renewal   error    // why the source of a token has no new one; nil if it had one, or if nothing can be renewed
}

// Error names the schemes and the agent's error.
func (e *RejectedError) Error() string {
	s := fmt.Sprintf("the agent does not accept the credentials for %s: %v", Printable(strings.Join(e.Schemes, ", ")), e.Err)
	if e.Renewal != nil {
		s += fmt.Sprintf(" (no other token: %v)", e.Renewal)
	}
	return s
}

// Unwrap returns the agent's error.
func (e *RejectedError) Unwrap() error { return e.Err }

// presented is a credential that the last request of a call had.
type presented struct {
	scheme, secret string
	rejected       bool // by the agent, so that the next request of the call must have another one
}

// authorize adds the credentials that the card demands to the request.
func authorize(ctx context.Context, a *attempt, rest []step) error {
	g, cl := &a.client.credentials, a.call
	if g.schemes == nil {
		return a.pass(ctx, rest)
	}
	before := cl.presented
	cl.presented = nil
	needs, err := g.choose(a.link, cl)
	if err != nil {
		return err
	}
	for i := range needs {
		n := &needs[i]
		if n.inHeader(cl.header) || n.scheme.place == placeConnection {
			continue
		}
		rejected := ""
		if j := slices.IndexFunc(before, func(p presented) bool { return p.scheme == n.name && p.rejected }); j >= 0 {
			rejected = before[j].secret
		}
		secret, err := n.secretOf(ctx, a.link, rejected)
		if err != nil {
			return err
		}
		n.scheme.kind.put(&n.scheme.SchemeInfo, a.sent, secret)
		cl.presented = append(cl.presented, presented{scheme: n.name, secret: secret})
	}
	return a.pass(ctx, rest)
}

// rejected reports whether a request that failed with err must be sent once more, with other secrets.
func (cl *call) rejected(err error) bool {
	if len(cl.presented) == 0 || !errors.Is(err, runtime.ErrUnauthenticated) {
		return false
	}
	for i := range cl.presented {
		cl.presented[i].rejected = true
	}
	return true
}

// renew makes the attempt once more with other secrets if the agent rejects those of the first.
func renew(ctx context.Context, a *attempt, rest []step) error {
	cl := a.call
	err := a.pass(ctx, rest)
	if a.client.credentials.schemes == nil || !cl.rejected(err) {
		return cl.withoutSecrets(err, nil)
	}
	first, sent := err, cl.presented
	if err = a.pass(ctx, rest); err == nil || ctx.Err() != nil || len(cl.presented) == len(sent) {
		return cl.withoutSecrets(err, nil)
	}
	cl.presented = sent // there is no other secret: nothing was sent the second time
	var none *CredentialError
	if errors.As(err, &none) && none.Err != nil {
		err = none.Err
	}
	if err == errRejectedToken {
		err = nil
	}
	return cl.withoutSecrets(first, err)
}

// withoutSecrets makes the error of a request, without the secrets that the agent may repeat in it.
func (cl *call) withoutSecrets(err, renewal error) error {
	if err == nil || len(cl.presented) == 0 {
		return err
	}
	var status *HTTPError
	if errors.As(err, &status) {
		status.Body, status.Challenge = cl.hide(status.Body), cl.hide(status.Challenge)
	}
	if errors.Is(err, runtime.ErrUnauthenticated) {
		rejected := &RejectedError{Err: err, Renewal: renewal}
		for _, p := range cl.presented {
			rejected.Schemes = append(rejected.Schemes, p.scheme)
		}
		var says interface{ AuthenticateChallenge() string }
		if errors.As(err, &says) {
			rejected.Challenge = cl.hide(says.AuthenticateChallenge())
		}
		err = rejected
	}
	if text := err.Error(); cl.hide(text) != text {
		return &quietError{text: cl.hide(text), err: err}
	}
	return err
}

// hide replaces the secrets of the last request in a text.
func (cl *call) hide(text string) string {
	for _, p := range cl.presented {
		_, password, _ := strings.Cut(p.secret, ":")
		for _, form := range []string{
			p.secret, url.QueryEscape(p.secret), base64.StdEncoding.EncodeToString([]byte(p.secret)), password,
		} {
			if len(form) >= shortestSecret {
				text = strings.ReplaceAll(text, form, "…")
			}
		}
	}
	return text
}

// shortestSecret is the length of the shortest secret that is replaced in texts, in bytes: a shorter one is in them by chance.
const shortestSecret = 6

// quietError is an error without the secrets in its text.
type quietError struct {
	text string
	err  error
}

func (e *quietError) Error() string { return e.text }

func (e *quietError) Unwrap() error { return e.err }

// withQuery is a transport that adds an API key to the query of each request, below the client that puts the URL into errors.
type withQuery struct {
	base  http.RoundTripper
	query string
}

func (t withQuery) RoundTrip(r *http.Request) (*http.Response, error) {
	keyed := r.WithContext(r.Context()) // a shallow copy: a transport must not change the request
	at := *r.URL
	if at.RawQuery != "" {
		at.RawQuery += "&"
	}
	at.RawQuery += t.query
	keyed.URL = &at
	return t.base.RoundTrip(keyed)
}

// keyed returns an HTTP client that adds to the query of its requests.
func keyed(h *http.Client, query string) *http.Client {
	if query == "" {
		return h
	}
	with := *h
	base := h.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	with.Transport = withQuery{base, query}
	return &with
}
