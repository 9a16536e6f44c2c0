package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// wellKnown are the places of a card below an agent's base URL; the second one is that of protocols before 0.3 (A2A 1.0 §8.2).
var wellKnown = []string{"/.well-known/agent-card.json", "/.well-known/agent.json"}

// FetchCard fetches and decodes an agent's card. url is the agent's base URL, below which the card is at
// /.well-known/agent-card.json, or the URL of the card itself when its path ends in ".json". Faults of the card that do not prevent calls
// are tolerated (see [Client.Warnings]). With [VerifyCard] it is the card that a signature covers.
func FetchCard(ctx context.Context, p *runtime.Protocol, url string, opts ...Option) (runtime.Card, error) {
	c := configure(p, opts)
	defer c.Close()
	return c.agent.fetch(ctx, &c.network, url, c.cards)
}

// ParseCard decodes a card, with the same tolerance.
func ParseCard(p *runtime.Protocol, src []byte) (runtime.Card, error) {
	a := agentCard{protocol: p}
	card, err := a.decode(src)
	if err != nil {
		return nil, a.notACard(src, err)
	}
	return card, nil
}

// agentCard fetches, verifies and reads the agent's card, and holds it.
type agentCard struct {
	protocol *runtime.Protocol // that it is read by
	card     runtime.Card
	info     runtime.CardInfo
	keys     bool // the card promises that a message with an idempotency key is worked on once
	warnings []string
	verifier CardVerifier          // nil: cards are not verified
	verified *runtime.VerifiedCard // its result
}

// fetch gets the card of base. known has the ETag of the last fetch, and gets that of this one.
func (a *agentCard) fetch(ctx context.Context, n *network, base string, known *cards) (runtime.Card, error) {
	u, err := webURL(base)
	if err != nil {
		return nil, err
	}
	places := []string{base}
	if !strings.HasSuffix(u.Path, ".json") {
		places = nil
		for _, p := range wellKnown {
			at := *u
			at.Path, at.RawPath = strings.TrimRight(u.Path, "/")+p, ""
			places = append(places, at.String())
		}
	}
	var first error
	for _, u := range places {
		card, status, err := a.fetchAt(ctx, n, u, known)
		if err == nil {
			return card, nil
		}
		if first == nil {
			if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
				err = wrapped.Err // without the URL once more
			}
			first = fmt.Errorf("fetch agent card %s: %w", u, err)
		}
		if status != http.StatusNotFound {
			break
		}
	}
	return nil, first
}

// fetchAt returns the HTTP status with an error, 0 when there was none.
func (a *agentCard) fetchAt(ctx context.Context, n *network, url string, known *cards) (runtime.Card, int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, 0, err
	}
	req.Header = n.header.Clone()
	req.Header.Set("Accept", "application/json")
	req.Header.Set("A2A-Version", a.protocol.Versions[0].Name)
	if known.etag != "" && known.from == url {
		req.Header.Set("If-None-Match", known.etag)
	}
	r, err := fetch(n.guarded(true), n.idle, req, true)
	if err != nil {
		return nil, 0, err
	}
	defer r.close()
	if status := r.resp.StatusCode; status/100 != 2 {
		return nil, status, r.failed(runtime.ReadStatus)
	}
	body, err := r.read(maxCard)
	if err != nil {
		return nil, 0, err
	}
	covered, verified, err := a.covered(ctx, url, body)
	if err != nil {
		return nil, 0, err
	}
	card, err := a.decode(covered)
	if err != nil {
		return nil, 0, a.notACard(covered, err)
	}
	a.verifiedBy(verified)
	if known.from, known.etag = url, r.resp.Header.Get("ETag"); len(known.etag) > maxValidator {
		known.etag = ""
	}
	return card, 0, nil
}

// notACard tells a card of an old protocol, which has url instead of supportedInterfaces (A2A 0.3 §5.5), from no card.
func (a *agentCard) notACard(body []byte, err error) error {
	var old struct {
		URL             string            `json:"url"`
		ProtocolVersion string            `json:"protocolVersion"`
		Interfaces      []json.RawMessage `json:"supportedInterfaces"`
	}
	if json.Unmarshal(body, &old) != nil || old.URL == "" || len(old.Interfaces) > 0 {
		return fmt.Errorf("not a valid card: %w", err)
	}
	version := cmp.Or(Printable(old.ProtocolVersion), "unnamed")
	return fmt.Errorf("the card was made for an older protocol version (%s) than %s", version, spoken(a.protocol))
}

// CardVerifier verifies the signatures of agent cards: a *signedcard.Verifier of package signedcard, for one.
type CardVerifier interface {
	// Verify returns the card that a trusted signature covers.
	Verify(ctx context.Context, card []byte) (*runtime.VerifiedCard, error)
}

// VerifyCard verifies the agent's card before anything is called, and the extended card before it is returned
// (A2A 1.0 §8.4). The client uses and returns only the parts that the signature covers. For a card that cannot be verified there is a
// [*CardError] instead of a client or an extended card.
func VerifyCard(v CardVerifier) Option { return func(c *Client) { c.agent.verifier = v } }

// Verified returns the result of the verification of the client's card; nil without [VerifyCard].
func (c *Client) Verified() *runtime.VerifiedCard {
	agent := &c.cards.newest(c).agent
	if agent.verified == nil {
		return nil
	}
	v := *agent.verified
	v.Card = bytes.Clone(v.Card)
	return &v
}

// CardError is a card that [VerifyCard] did not verify. Err is one of package signedcard: ErrUnsigned,
// ErrNotVerified, ErrInvalid or, without the keys, ErrNoKeys.
type CardError struct {
	Card string // its URL, or "the extended card"
	Err  error
}

// Error renders the card and the cause.
func (e *CardError) Error() string { return fmt.Sprintf("%s cannot be trusted: %v", e.Card, e.Err) }

// Unwrap returns the verifier's error.
func (e *CardError) Unwrap() error { return e.Err }

// covered returns the card that a trusted signature of src covers, or src without [VerifyCard].
func (a *agentCard) covered(ctx context.Context, from string, src []byte) ([]byte, *runtime.VerifiedCard, error) {
	if a.verifier == nil {
		return src, nil, nil
	}
	verified, err := a.verifier.Verify(ctx, src)
	if err != nil {
		return nil, nil, &CardError{Card: from, Err: err}
	}
	return verified.Card, verified, nil
}

// verifyGiven verifies a card that the caller has: as this version writes it, signatures included.
func (a *agentCard) verifyGiven(card runtime.Card) (runtime.Card, error) {
	if a.verifier == nil {
		return card, nil
	}
	src, err := a.protocol.Versions[0].AppendCard(nil, card)
	if err != nil {
		return nil, fmt.Errorf("write the card: %w", err)
	}
	covered, verified, err := a.covered(context.Background(), "the card", src)
	if err != nil {
		return nil, err
	}
	a.verifiedBy(verified)
	return a.decode(covered)
}

// verifiedBy sets the result of the verification; nil without one.
func (a *agentCard) verifiedBy(v *runtime.VerifiedCard) {
	a.verified = v
	if v != nil && v.Form == "clean" {
		a.warnings = append(a.warnings, "the signature of the card does not cover what is empty in it, such as a "+
			"requirement without scopes: a strict verifier refuses it")
	}
}

// readResult reads the result of an operation of a version. An extended card is the one that a signature covers.
func (a *agentCard) readResult(
	ctx context.Context, v *runtime.Version, op *runtime.Operation, body []byte,
) (any, error) {
	result, err := op.Read(body)
	if err != nil || a.verifier == nil || op.Role != runtime.RoleExtendedCard {
		return result, err
	}
	card := a.protocol.Card(runtime.Generated(result))
	if card == nil {
		return nil, fmt.Errorf("a %T instead of a card", runtime.Generated(result))
	}
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) { // protobuf, which never begins so
		if body, err = v.AppendCard(nil, card); err != nil {
			return nil, err
		}
	}
	covered, _, err := a.covered(ctx, "the extended card", body)
	if err != nil {
		return nil, err
	}
	return a.protocol.DecodeCard(covered)
}
