package client

import (
	"bytes"
	"context"
	"fmt"

	"github.com/a2agen/a2agen/runtime"
)

// CardVerifier verifies the signatures of agent cards: a *signedcard.Verifier of package signedcard, for one.
type CardVerifier interface {
	// Verify returns the card that a trusted signature covers.
	Verify(ctx context.Context, card []byte) (*runtime.VerifiedCard, error)
}

// VerifyCard has the agent's card verified before anything is called, and the extended card before it is returned
// (A2A 1.0 §8.4). The client uses and returns only what the signature covers. A card that is not verified is a
// [*CardError], and then there is no client, or no extended card.
func VerifyCard(v CardVerifier) Option { return func(c *Client) { c.agent.verifier = v } }

// Verified says by which key the client's card was verified, and how; nil without [VerifyCard].
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
// ErrNotVerified, ErrInvalid or, when the keys could not be had, ErrNoKeys.
type CardError struct {
	Card string // where it is from: its URL, or "the extended card"
	Err  error
}

// Error says why, and what to do.
func (e *CardError) Error() string { return fmt.Sprintf("%s cannot be trusted: %v", e.Card, e.Err) }

// Unwrap returns the verifier's error.
func (e *CardError) Unwrap() error { return e.Err }

// covered returns the card that a trusted signature of src covers, or src where nothing is to be verified.
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

// verifiedBy notes how the client's card was verified; nil: it was not asked for.
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
