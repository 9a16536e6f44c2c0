package push

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// secret is what the sender has to show: one of some values, of which only digests are kept.
type secret struct {
	of     func(http.Header) []string // what a request shows
	digest [][sha256.Size]byte
	what   string
	scheme string // of the challenge
	err    error
}

// Token demands that the sender shows this token, which the configuration was made with; of several any will do, such
// as an old one and a new one.
func Token(tokens ...string) Option {
	return func(s *settings) {
		t := secret{of: tokenOf, what: "token"}
		for _, token := range tokens {
			t.digest = append(t.digest, sha256.Sum256([]byte(token)))
			if token == "" {
				t.err = errors.New("the token of a receiver is empty")
			}
		}
		if len(tokens) == 0 {
			t.err = errors.New("a receiver was given no token")
		}
		s.secrets = append(s.secrets, t)
	}
}

// Tokens demands that accept holds for the task and the token that the sender shows, "" if none. accept has to compare
// in constant time, as subtle.ConstantTimeCompare does.
func Tokens(accept func(ctx context.Context, taskID, token string) bool) Option {
	return func(s *settings) { s.accept = accept }
}

// Authorization demands what the configuration's authentication says: the header Authorization with this scheme and
// these credentials. Those of Basic are "user:password", or its base64; those of ApiKey may be "Header-Name: value",
// which demands that header.
func Authorization(scheme, credentials string) Option {
	a := secret{what: "Authorization", scheme: scheme, of: func(h http.Header) []string {
		return credentialsOf(h.Values("Authorization"), scheme)
	}}
	name, value, named := strings.Cut(credentials, ":")
	switch {
	case strings.EqualFold(scheme, "Basic") && named:
		credentials = base64.StdEncoding.EncodeToString([]byte(credentials))
	case strings.EqualFold(scheme, "ApiKey") && named:
		credentials = strings.TrimSpace(value)
		a.what, a.of = name, func(h http.Header) []string { return h.Values(name) }
	}
	a.digest = append(a.digest, sha256.Sum256([]byte(credentials)))
	if scheme == "" || credentials == "" {
		a.err = errors.New("the Authorization of a receiver needs a scheme and credentials")
	}
	return func(s *settings) { s.secrets = append(s.secrets, a) }
}

// credentialsOf returns what the values of a header Authorization show of a scheme. Other schemes show nothing that
// could be right.
func credentialsOf(values []string, scheme string) []string {
	var shown []string
	for _, v := range values {
		got, rest, _ := strings.Cut(v, " ")
		if !strings.EqualFold(got, scheme) {
			rest = ""
		}
		shown = append(shown, strings.Trim(rest, " "))
	}
	return shown
}

// Anyone accepts notifications from whoever sends them.
func Anyone() Option { return func(s *settings) { s.anyone = true } }

// Verify demands a signature that v accepts: see package runtime/push/verify.
func Verify(v Verifier) Option { return func(s *settings) { s.verifier = v } }

// Verifier checks the signature of a notification, a JWT, over the body. An [*Unavailable] says that it cannot tell
// now.
type Verifier interface {
	Verify(ctx context.Context, token string, body []byte) (Signed, error)
}

// Signed is what a signature says beside the body: ids and sequence as the headers have them, unescaped.
type Signed struct{ ID, TaskID, Config, Sequence string }

// Unavailable is the error of a [Verifier] that cannot tell now whether a signature is good.
type Unavailable struct {
	After time.Duration // when to ask again
	Err   error
}

// Error says what is missing.
func (e *Unavailable) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Unavailable) Unwrap() error { return e.Err }

// tokenOf returns the tokens that a request shows, under either name. The same one twice is one.
func tokenOf(h http.Header) []string {
	shown := h.Values(runtime.PushTokenHeader)
	for _, v := range h.Values(runtime.PushTokenHeaderToo) {
		if len(shown) != 1 || v != shown[0] {
			shown = append(shown[:len(shown):len(shown)], v)
		}
	}
	return shown
}

// holds reports whether a request shows the secret. How long that takes says nothing about the values.
func (s *secret) holds(h http.Header) bool {
	shown := s.of(h)
	if len(shown) != 1 {
		return false
	}
	got, good := sha256.Sum256([]byte(shown[0])), 0
	for i := range s.digest {
		good |= subtle.ConstantTimeCompare(got[:], s.digest[i][:])
	}
	return good == 1
}

// checkSecrets refuses a request that does not show all secrets.
func (r *Receiver) checkSecrets(h http.Header) error {
	for i := range r.secrets {
		if s := &r.secrets[i]; !s.holds(h) {
			return unauthorized(s.scheme, "the %s is missing or wrong", s.what)
		}
	}
	return nil
}

// checkSignature refuses a notification that is not signed. It returns what the signature says, nil if none is wanted.
func (r *Receiver) checkSignature(ctx context.Context, h http.Header, body []byte) (*Signed, error) {
	if r.verifier == nil {
		return nil, nil
	}
	token := h.Get(runtime.PushSignatureHeader)
	if token == "" {
		token = strings.Join(credentialsOf(h.Values("Authorization"), "Bearer"), "")
	}
	if token == "" || len(h.Values(runtime.PushSignatureHeader)) > 1 {
		return nil, unauthorized("Bearer", "the signature is missing")
	}
	signed, err := r.verifier.Verify(ctx, token, body)
	var later *Unavailable
	switch {
	case errors.As(err, &later):
		e := putOff(later.After, "the signature cannot be checked now")
		e.cause = err
		return nil, e
	case err != nil:
		return nil, unauthorized("Bearer", "the signature is wrong: %v", err)
	}
	return &signed, nil
}

// matches refuses a notification whose headers or body say something else than its signature.
func (s *Signed) matches(h http.Header, n *Notification) error {
	for _, x := range []struct{ what, signed, shown string }{
		{"id", s.ID, n.ID}, {"task", s.TaskID, n.TaskID}, {"configuration", s.Config, n.Config},
		{"sequence", s.Sequence, h.Get(runtime.PushSequenceHeader)},
	} {
		if x.signed != x.shown {
			return unauthorized("Bearer", "the signature is of another %s", x.what)
		}
	}
	return nil
}

// refusal is the error of a request that is answered otherwise than with 200. Its text is the sender's to read.
type refusal struct {
	status    int
	text      string
	challenge string        // WWW-Authenticate
	after     time.Duration // Retry-After
	cause     error         // for the log
	close     bool          // what is left of the body is not waited for
}

// Error says what is wrong.
func (e *refusal) Error() string { return e.text }

func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status: status, text: fmt.Sprintf(format, args...)}
}

func unauthorized(scheme, format string, args ...any) *refusal {
	e := refuse(http.StatusUnauthorized, format, args...)
	e.challenge = scheme
	if scheme == "" {
		e.challenge = runtime.PushTokenHeader // no scheme, but something has to be named (RFC 9110 §11.6.1)
	}
	return e
}

func putOff(after time.Duration, format string, args ...any) *refusal {
	e := refuse(http.StatusServiceUnavailable, format, args...)
	e.after = max(after, time.Second)
	return e
}
