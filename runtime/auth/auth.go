// Package auth decides who sent a request and whether what the card demands is met.
//
// The card is the policy: its security schemes and requirements are what a [Guard] checks. What is not for the public
// is in a [Verifier] for each scheme: which keys are good, whose they are. A request is checked by its header alone, so
// that nothing is read of who has no business here.
package auth

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Caller is who sent a request.
type Caller = runtime.Caller

// Verifier checks the credentials of one scheme. It is used by many requests at once.
type Verifier interface {
	// Verify says whose the credential is; ID is what counts, and the guard fills Scheme in. An error refuses it: its
	// text goes to the log, not to the peer, and must not hold the credential. [ErrNone] says that there was none, an
	// [Unavailable] that nobody can tell for now.
	Verify(ctx context.Context, c Credential) (Caller, error)
}

// Func is a verifier of one's own.
type Func func(ctx context.Context, c Credential) (Caller, error)

// Verify calls f.
func (f Func) Verify(ctx context.Context, c Credential) (Caller, error) { return f(ctx, c) }

// Verifiers are the verifiers of an agent, by the names of the schemes in its card.
type Verifiers map[string]Verifier

// Credential is what a request brings for a scheme.
type Credential struct {
	Scheme       *Scheme
	Value        string              // an API key, or what follows the scheme's name in the Authorization header
	User         string              // of HTTP Basic
	Password     string              // of HTTP Basic
	Certificates []*x509.Certificate // of the client, its own first, as TLS had them
	Trusted      bool                // the TLS layer found the certificates good
	Request      *http.Request       // its body is not to be read
}

// Ways in which a credential is no good, beside what verifiers find.
var (
	// ErrNone: there is no credential for the scheme.
	ErrNone = errors.New("no credential was given")
	// ErrWrong: the credential is not known, expired, or meant for somebody else.
	ErrWrong = errors.New("the credential is not good")
	// errMalformed: the credential is not written as its scheme demands, or there are two.
	errMalformed = errors.New("the credential is malformed")
)

// malformed is an errMalformed that says how.
func malformed(how string) error { return fmt.Errorf("%w: %s", errMalformed, how) }

// Unavailable says that a credential could not be checked: it may be good.
type Unavailable struct {
	After time.Duration // when to try again; 0: not known
	Err   error         // why
}

func (u *Unavailable) Error() string {
	return "the credential could not be checked: " + u.Err.Error()
}

// Unwrap returns why.
func (u *Unavailable) Unwrap() error { return u.Err }

// Preparer is a verifier that has something to do before the agent starts. An error keeps the agent from starting.
type Preparer interface {
	Prepare(s *Setup) error
}

// Setup is what a verifier is told before the agent starts.
type Setup struct {
	Scheme Scheme
	URL    string // the agent's public one, without a slash at the end; "" if it is not fixed
	Getenv func(name string) string
	Now    func() time.Time
}

// TokenForm is how tokens are made that a verifier takes, beside what every token says: for tests that make some. A
// verifier of tokens that an issuer makes has a method TokenForm() TokenForm.
type TokenForm struct {
	Type, Algorithm string // of a JWT: "at+jwt", "ES256"
	Tenants         string // the claim with the tenants that the caller may act for; "": there is none
	Opaque          bool   // it says nothing itself: the issuer is asked
}
