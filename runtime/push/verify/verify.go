// Package verify checks the signatures of push notifications: a JWT over the body, made with a key that the agent
// publishes. It is a package of its own because only those who verify link its library.
package verify

import (
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/keyset"
	"github.com/a2agen/a2agen/runtime/push"
)

// Verifier checks signatures of one agent for one webhook. It is a [push.Verifier], safe for concurrent use.
type Verifier struct {
	issuer, audience string
	skew, most       time.Duration
	source           source
	keys             keyset.Set[*ecdsa.PublicKey]
}

// Times of a verifier unless options say otherwise.
const (
	defaultSkew     = time.Minute      // clocks may differ by so much
	defaultLifetime = time.Hour        // a signature that is good for longer is none
	defaultInterval = 30 * time.Second // between two requests for the agent's keys, at least
	defaultMaxAge   = 10 * time.Minute // after which the keys are fetched anew
)

// longest token, in bytes.
const longest = 8 << 10

// Option configures a [Verifier].
type Option func(*Verifier)

// Keys fetches the agent's keys from this URL, instead of from /.well-known/jwks.json below the agent's.
func Keys(url string) Option { return func(v *Verifier) { v.source.url = url } }

// AllowHTTP lets keys be fetched by http from other hosts than this one. Whoever can change what travels there can
// sign.
func AllowHTTP() Option { return func(v *Verifier) { v.source.plain = true } }

// HTTPClient fetches the keys with h. It is asked to follow no redirects.
func HTTPClient(h *http.Client) Option { return func(v *Verifier) { v.source.http = h } }

// Skew sets by how much the agent's clock may differ.
func Skew(d time.Duration) Option { return func(v *Verifier) { v.skew = d } }

// Refresh sets how long keys are used before they are fetched anew, and the least time between two requests for them. A
// key that the agent withdrew is refused after maxAge, as long as the agent answers.
func Refresh(maxAge, interval time.Duration) Option {
	return func(v *Verifier) { v.keys.MaxAge, v.keys.Interval = maxAge, interval }
}

// New returns a verifier. agent is the agent's base URL as it names itself in its signatures, and audience the URL of
// the webhook exactly as the agent was given it.
func New(agent, audience string, opts ...Option) (*Verifier, error) {
	v := &Verifier{issuer: strings.TrimSuffix(agent, "/"), audience: audience, skew: defaultSkew, most: defaultLifetime}
	v.source.url = v.issuer + runtime.PushKeysPath
	v.keys.Fetch, v.keys.Interval, v.keys.MaxAge = v.source.fetch, defaultInterval, defaultMaxAge
	for _, o := range opts {
		o(v)
	}
	if agent == "" || audience == "" {
		return nil, errors.New("a verifier needs the agent's URL and that of the webhook")
	}
	return v, v.source.prepare()
}

// Verify checks a signature: made with ES256 by a key of the agent, not long ago, for this webhook, over this body.
func (v *Verifier) Verify(ctx context.Context, token string, body []byte) (push.Signed, error) {
	if len(token) > longest {
		return push.Signed{}, errors.New("it is too long")
	}
	kid, err := readHeader(token)
	if err != nil {
		return push.Signed{}, err
	}
	jws, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return push.Signed{}, errors.New("it is no JWT with ES256")
	}
	key, err := v.key(ctx, kid)
	if err != nil {
		return push.Signed{}, err
	}
	payload, err := jws.Verify(key)
	if err != nil {
		return push.Signed{}, errors.New("it was not made with the agent's key")
	}
	c, err := readClaims(payload)
	if err != nil {
		return push.Signed{}, fmt.Errorf("its claims: %w", err)
	}
	if err := v.check(c, body); err != nil {
		return push.Signed{}, err
	}
	return push.Signed{ID: c.id, TaskID: c.task, Config: c.config, Sequence: c.sequence}, nil
}

// check compares the claims with what they are about.
func (v *Verifier) check(c *claims, body []byte) error {
	now, sum := time.Now(), sha256.Sum256(body)
	issued, expires := time.Unix(c.issued, 0), time.Unix(c.expires, 0)
	digest, err := hex.DecodeString(c.digest)
	switch {
	case c.issuer != v.issuer:
		return errors.New("it was made by another agent")
	case c.audience != v.audience:
		return errors.New("it is for another webhook")
	case issued.After(now.Add(v.skew)):
		return errors.New("it is from the future")
	case !now.Before(expires.Add(v.skew)):
		return errors.New("it has expired")
	case expires.Before(issued) || expires.Sub(issued) > v.most:
		return errors.New("it is good for too long")
	case err != nil || subtle.ConstantTimeCompare(digest, sum[:]) != 1:
		return errors.New("it is of another body")
	}
	return nil
}
