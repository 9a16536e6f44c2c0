// Package auth authenticates requests, and checks that they satisfy what the card requires.
//
// The card is the policy: a [Guard] checks its security schemes and requirements. What is not public, such as which keys
// are valid and who holds them, is in a [Verifier] for each scheme. A request is checked by its header alone, before its
// body is read.
package auth

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Caller is the sender of a request.
type Caller = runtime.Caller

// Verifier checks the credentials of one scheme. It must be safe for concurrent use.
type Verifier interface {
	// Verify returns the caller who holds the credential. It must set ID; the guard sets Scheme. An error rejects the
	// credential: its text goes to the log, not to the peer, and must not contain the credential. [ErrNone] means that
	// there is none, an [Unavailable] that it cannot be checked right now.
	Verify(ctx context.Context, c Credential) (Caller, error)
}

// Func is a verifier that is one function.
type Func func(ctx context.Context, c Credential) (Caller, error)

// Verify calls f.
func (f Func) Verify(ctx context.Context, c Credential) (Caller, error) { return f(ctx, c) }

// Verifiers are the verifiers of an agent, by the names of the schemes in its card.
type Verifiers map[string]Verifier

// Credential is the credential of a request for a scheme.
type Credential struct {
	Scheme       *Scheme
	Value        string              // an API key, or what follows the scheme's name in the Authorization header
	User         string              // of HTTP Basic
	Password     string              // of HTTP Basic
	Certificates []*x509.Certificate // of the client, its own first, as TLS had them
	Trusted      bool                // the TLS layer found the certificates good
	Request      *http.Request       // its body is not to be read
}

// Errors of credentials, in addition to those of verifiers.
var (
	// ErrNone: there is no credential for the scheme.
	ErrNone = errors.New("no credential was given")
	// ErrWrong: the credential is unknown, expired, or for another audience.
	ErrWrong = errors.New("the credential is not good")
)

// Unavailable is the error of a credential that cannot be checked right now. It may be valid.
type Unavailable struct {
	After time.Duration // when to try again; 0: not known
	Err   error         // why
}

func (u *Unavailable) Error() string {
	return "the credential could not be checked: " + u.Err.Error()
}

// Unwrap returns the cause.
func (u *Unavailable) Unwrap() error { return u.Err }

// Preparer is a verifier that must be prepared before the agent starts. An error keeps the agent from starting.
type Preparer interface {
	Prepare(s *Setup) error
}

// Setup is what a verifier is given before the agent starts.
type Setup struct {
	Scheme Scheme
	URL    string // the agent's public one, without a slash at the end; "" if it is not fixed
	Getenv func(name string) string
	Now    func() time.Time
}

// TokenForm is the form of the tokens that a verifier accepts, for tests that make tokens. A verifier of tokens has a
// method TokenForm() TokenForm.
type TokenForm struct {
	Type, Algorithm string // of a JWT: "at+jwt", "ES256"
	Tenants         string // the claim with the tenants that the caller may act for; "": there is none
	Opaque          bool   // it says nothing itself: the issuer is asked
}
