package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/oauth2"

	rpc "github.com/a2agen/a2agen/runtime/client"
)

// Kinds of errors, for errors.Is.
var (
	ErrConfig      = errors.New("the configuration is incomplete or contradicts itself")
	ErrLogin       = errors.New("somebody must log in")
	ErrRefused     = errors.New("the issuer refused")
	ErrUntrusted   = errors.New("the issuer must not be trusted with secrets") // redirects, mix-ups, no S256, malformed answers
	ErrUnavailable = errors.New("the issuer cannot be reached")                // a later attempt may succeed
	ErrCache       = errors.New("the cache of tokens cannot be used")
)

// Error reports that there is no token. Its text holds no secret.
type Error struct {
	Server string // the issuer or token URL that was configured
	Kind   error  // one of the kinds above
	Code   string // the issuer's (RFC 6749 §5.2): invalid_client, …; "" without
	Err    error  // what went wrong
	Remedy string // what to do about it; "" where Err says so
}

// Error renders the server, the cause and the remedy.
func (e *Error) Error() string {
	s := "no token"
	if e.Server != "" {
		s += " of " + e.Server
	}
	s += ": " + e.Err.Error()
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error { return []error{e.Kind, e.Err} }

// TryLater reports whether the same request may succeed later.
func (e *Error) TryLater() bool { return e.Kind == ErrUnavailable }

// remedies say what to do about an error code of the issuer (RFC 6749 §4.1.2.1 and §5.2, RFC 8628 §3.5, RFC 8707 §2).
var remedies = map[string]string{
	"invalid_client":         "check the client id and its secret, and how the client is registered to authenticate itself",
	"unauthorized_client":    "register the client for this flow at the issuer",
	"unsupported_grant_type": "the issuer does not have this flow: choose another",
	"invalid_scope":          "ask for scopes that the client may have",
	"invalid_target":         "name a resource that the issuer knows, or none (resource \"-\")",
	"invalid_grant":          "log in again",
	"access_denied":          "log in again, and agree, or ask for fewer scopes",
	"expired_token":          "log in again, and enter the code in time",
	"interaction_required":   "log in again",
	"login_required":         "log in again",
}

// refused is the error of an answer with an error code. The issuer's description is shown without the secrets.
func (s *source) refused(code, description string, secrets ...string) error {
	code = clean(code, secrets)
	text := cmp.Or(code, "an error without a code")
	if d := clean(description, secrets); d != "" {
		text += ": " + d
	}
	kind := ErrRefused
	switch code {
	case "temporarily_unavailable", "slow_down":
		kind = ErrUnavailable
	}
	return &Error{Server: s.server(), Kind: kind, Code: code, Err: errors.New(text), Remedy: remedies[code]}
}

// untrusted is the error of an issuer that breaks a rule.
func (s *source) untrusted(format string, args ...any) error {
	return &Error{Server: s.server(), Kind: ErrUntrusted, Err: fmt.Errorf(format, args...)}
}

// failed turns the error of a request into an [*Error].
func (s *source) failed(err error, secrets ...string) error {
	var answer *oauth2.RetrieveError
	var known *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.As(err, &answer):
		switch status := answer.Response.StatusCode; {
		case answer.ErrorCode != "" && status < 500:
			return s.refused(answer.ErrorCode, answer.ErrorDescription, secrets...)
		case status/100 == 3:
			return s.untrusted("it redirects, which is not followed with credentials: use the address that it redirects to if that is right")
		case status >= 500 || status == 429 || status == 408:
			return &Error{
				Server: s.server(), Kind: ErrUnavailable, Err: fmt.Errorf("it answers with HTTP %d", status), Remedy: "try again later",
			}
		default:
			return &Error{
				Server: s.server(), Kind: ErrRefused, Err: fmt.Errorf("it answers with HTTP %d and no error code", status),
				Remedy: "check its address",
			}
		}
	case errors.Is(err, errTooLarge), errors.Is(err, errRedirect):
		return s.untrusted("%s", clean(err.Error(), secrets))
	case errors.Is(err, context.Canceled):
		return err
	case strings.HasPrefix(err.Error(), "oauth2: "): // about an answer that came
		return s.untrusted("its answer cannot be read: %s", clean(err.Error(), secrets))
	}
	return &Error{
		Server: s.server(), Kind: ErrUnavailable, Err: errors.New(clean(err.Error(), secrets)), Remedy: "try again later",
	}
}

// clean makes text of an issuer fit to show: one line, printable, without secrets.
func clean(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) > 3 { // a shorter one hides nothing and would make the text unreadable
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return rpc.Printable(text)
}
