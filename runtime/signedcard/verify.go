package signedcard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/keyset"
)

// Config says which keys are trusted. Keys, URLs or both are given.
type Config struct {
	Keys []byte // JSON Web Key Set, or one JSON Web Key
	// URLs are where key sets may be fetched, https unless on this machine. The jku of a signature counts if it is
	// one of them; a signature without is tried with the keys of each. Nothing is ever fetched from another address.
	URLs []string
	// Strict takes signatures over the presence form alone, which covers the whole card. The SDKs of today make others.
	Strict bool
	// HTTP fetches the keys; nil: a client of its own. It is asked to follow no redirects.
	HTTP *http.Client
}

// Times of the keys at URLs: a withdrawn key is refused after maxAge, as long as its publisher answers.
const (
	maxAge   = 10 * time.Minute
	interval = 30 * time.Second // between two requests, at least
)

// Verifier verifies cards. It is safe for concurrent use, and keeps keys that it fetched.
type Verifier struct {
	own    map[string]*publicKey
	urls   []string
	sets   map[string]*keyset.Set[*publicKey] // by URL
	strict bool

	unusable error // why the configuration cannot be used; nil: it can
}

// NewVerifier makes a verifier. It fetches nothing yet. An error is [ErrNoKeys].
func NewVerifier(c Config) (*Verifier, error) {
	v := Trust(c)
	if v.unusable != nil {
		return nil, v.unusable
	}
	return v, nil
}

// Trust is [NewVerifier] for a variable of a package: with a configuration that cannot be used it verifies nothing,
// and says why each time.
func Trust(c Config) *Verifier {
	v, err := newVerifier(c)
	if err != nil {
		return &Verifier{unusable: err}
	}
	return v
}

func newVerifier(c Config) (*Verifier, error) {
	v := &Verifier{urls: slices.Clone(c.URLs), sets: map[string]*keyset.Set[*publicKey]{}, strict: c.Strict}
	if len(c.Keys) == 0 && len(c.URLs) == 0 {
		return nil, noKeys(errors.New("verifying a card needs keys, or URLs of key sets"))
	}
	if len(c.Keys) > 0 {
		var err error
		if v.own, err = readKeys(c.Keys); err != nil {
			return nil, noKeys(err)
		}
	}
	client := keyset.NoRedirects(c.HTTP)
	for _, url := range c.URLs {
		if err := keyset.CheckURL(url, false); err != nil {
			return nil, noKeys(err)
		}
		fetch := func(ctx context.Context) (map[string]*publicKey, error) {
			body, err := keyset.Get(ctx, client, url, "application/jwk-set+json, application/json")
			if err != nil {
				return nil, err
			}
			return readKeys(body)
		}
		v.sets[url] = &keyset.Set[*publicKey]{Fetch: fetch, Interval: interval, MaxAge: maxAge}
	}
	return v, nil
}

// Verify tries the signatures of a card and returns the card that one of them covers. Errors are [ErrUnsigned],
// [ErrNotVerified], [ErrInvalid] and [ErrNoKeys].
func (v *Verifier) Verify(ctx context.Context, card []byte) (*runtime.VerifiedCard, error) {
	if v.unusable != nil {
		return nil, v.unusable
	}
	root, err := parseCard(card)
	if err != nil {
		return nil, err
	}
	if _, err := payload(root, Presence); err != nil {
		return nil, err // no card, in whatever form
	}
	given, err := signaturesOf(root)
	if errors.Is(err, ErrUnsigned) {
		return nil, unsigned()
	}
	if err != nil {
		return nil, err
	}
	tried := given[:min(len(given), maxSignatures)]
	signatures, reasons := v.open(ctx, tried)
	verified, err := v.match(root, signatures)
	if verified != nil || err != nil {
		return verified, err
	}
	for _, reason := range reasons {
		_, unavailable := errors.AsType[*keyset.Unavailable](reason)
		if unavailable && !errors.Is(reason, keyset.ErrUnknown) {
			return nil, noKeys(reason)
		}
	}
	return nil, notVerified(v.strict, reasons, len(given)-len(tried))
}

// candidate is a signature whose key is trusted.
type candidate struct {
	*signature
	key *publicKey
}

// open reads signatures and finds their keys. reasons has why each is not good; for a candidate, that it does not
// match.
func (v *Verifier) open(ctx context.Context, given list) (candidates []candidate, reasons []error) {
	for _, raw := range given {
		s, err := readSignature(raw)
		if err != nil {
			reasons = append(reasons, err)
			continue
		}
		key, err := v.key(ctx, s)
		if err == nil && key.alg != s.alg {
			err = fmt.Errorf("it is by %s, and its key %.40q is for %s", s.alg, s.kid, key.alg)
		}
		if err == nil {
			candidates = append(candidates, candidate{s, key})
			err = fmt.Errorf("the key %.40q did not make it over this card", s.kid)
		}
		reasons = append(reasons, err)
	}
	return candidates, reasons
}

// key finds the key of a signature: among those that were given, else at its jku if that is trusted, else at every URL.
func (v *Verifier) key(ctx context.Context, s *signature) (*publicKey, error) {
	if key := v.own[s.kid]; key != nil {
		return key, nil
	}
	urls := v.urls
	if s.jku != "" {
		if v.sets[s.jku] == nil {
			return nil, fmt.Errorf("its key is at %.200q, which is not a URL that is trusted here; nothing was "+
				"fetched", s.jku)
		}
		urls = []string{s.jku}
	}
	var failed error
	for _, url := range urls {
		key, err := v.sets[url].Key(ctx, s.kid)
		if err == nil {
			return key, nil
		}
		if !errors.Is(err, keyset.ErrUnknown) {
			failed = fmt.Errorf("the keys at %s: %w", url, err)
		}
	}
	if failed != nil {
		return nil, failed
	}
	return nil, fmt.Errorf("the key %.40q is not among those that are trusted", s.kid)
}

// match finds the first form that a signature covers; nil if there is none.
func (v *Verifier) match(root object, candidates []candidate) (*runtime.VerifiedCard, error) {
	var last []byte
	for _, form := range forms {
		if v.strict && form != Presence {
			break
		}
		signed, err := payload(root, form)
		if err != nil {
			return nil, err
		}
		if slices.Equal(signed, last) {
			continue
		}
		for _, c := range candidates {
			if c.covers(signed) {
				return c.verified(form, signed)
			}
		}
		last = signed
	}
	return nil, nil
}

// covers reports whether the signature is one of these bytes.
func (c candidate) covers(signed []byte) bool {
	jws, err := jose.ParseDetached(c.protected+".."+c.signature.signature, signed, algorithms)
	return err == nil && jws.DetachedVerify(signed, c.key.public) == nil
}

// verified is the card that the signed bytes say, with what is required and was dropped from them.
func (c candidate) verified(form Form, signed []byte) (*runtime.VerifiedCard, error) {
	card, err := Payload(signed, Presence)
	if err != nil {
		return nil, err
	}
	return &runtime.VerifiedCard{
		Card: card, Form: string(form), KeyID: c.kid, Thumbprint: c.key.thumbprint, Algorithm: c.alg,
	}, nil
}
