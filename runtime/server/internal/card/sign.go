package card

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// Signer returns a card of A2A 1.0 with signatures.
type Signer interface {
	Sign(card []byte) ([]byte, error)
}

// sign signs the cards, once. Their addresses must be known for that: a signature over what a request says of them
// would be one over whatever a caller likes.
func (c *Cards) sign() error {
	switch {
	case c.Signer == nil:
		return nil
	case c.URL == "":
		return errors.New("a card is signed for a fixed address only, and this one's would come from requests: set " +
			"A2A_PUBLIC_URL, or WithURL, to the agent's public URL")
	case c.Lists:
		return errors.New(`a card with requirements as plain lists ("cards: {requirements: list}") cannot be ` +
			`signed: leave out one of the two`)
	}
	c.signed = map[runtime.Card]runtime.Card{}
	for _, one := range []runtime.Card{c.engine.Card(), c.engine.Extended()} {
		if one == nil {
			continue
		}
		signed, err := c.signOne(one)
		if err != nil {
			return fmt.Errorf("sign the card: %w", err)
		}
		c.signed[one] = signed
	}
	return nil
}

// signOne signs the card as the newest version writes it, under the public URL.
func (c *Cards) signOne(plain runtime.Card) (runtime.Card, error) {
	v := c.engine.Versions()[0]
	body, err := v.AppendCard(nil, c.under(c.URL, plain))
	if err != nil {
		return nil, err
	}
	if body, err = c.Signer.Sign(body); err != nil {
		return nil, err
	}
	return c.Decode(body)
}

// For is a card whose interfaces are those of the agent as the client of r reaches it. Clients of 1.0 and later get
// it with its signatures; in older shapes nobody could verify them.
func (c *Cards) For(r *http.Request, card runtime.Card, v *engine.Version) runtime.Card {
	if signed := c.signed[card]; signed != nil && !v.Unnamed() {
		return signed
	}
	return c.under(c.BaseOf(r), card)
}
