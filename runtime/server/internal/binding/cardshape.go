package binding

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Shape is how a card is written: as the versions have it, newest first. What several have is one card for readers of
// each.
type cardShape []*engine.Version

// shapesByPath finds the shapes of the card by where it is for clients that do not say what they speak. They are those
// of the versions that look there; clients of other versions get the card at either path, because some know only the
// other one.
func (c *Cards) shapesByPath() map[string]*cardShape {
	shapes := map[string]*cardShape{}
	all := c.engine.Versions()
	for _, v := range all {
		at := cmp.Or(v.Rules.CardPath, CardPath)
		if shapes[at] == nil {
			shapes[at] = new(cardShape)
		}
		*shapes[at] = append(*shapes[at], v)
	}
	if shapes[CardPath] == nil {
		shapes[CardPath] = shapes[OldCardPath]
	}
	if shapes[OldCardPath] == nil && all[len(all)-1].Unnamed {
		shapes[OldCardPath] = shapes[CardPath]
	}
	return shapes
}

// try writes the card in all its shapes, so that a card that cannot be written is known at the start.
func (c *Cards) try(base string) error {
	for _, shape := range c.shapes {
		if _, err := c.written(shape, base); err != nil {
			return err
		}
	}
	for _, shape := range c.paths {
		if _, err := c.written(shape, base); err != nil {
			return err
		}
	}
	return nil
}

// write writes a card. Of several versions the result has the members of all; what differs under one name is as the
// newest has it. card is the card for a version.
func (shape *cardShape) write(card func(*engine.Version) runtime.Card) ([]byte, error) {
	var whole []byte
	for _, v := range *shape {
		one, err := v.AppendCard(nil, card(v))
		if err != nil {
			return nil, err
		}
		if whole == nil {
			whole = one
			continue
		}
		if whole, err = union(whole, one); err != nil {
			return nil, err
		}
	}
	return whole, nil
}

// union adds to newer what only older has: members of objects at any depth, and of objects at the same place of lists
// of one length.
func union(newer, older wire.Value) (wire.Value, error) {
	switch {
	case bytes.Equal(newer, older):
		return newer, nil
	case newer.Kind() == wire.KindObject && older.Kind() == wire.KindObject:
		return members(wire.Object(newer), wire.Object(older))
	case newer.Kind() == wire.KindArray && older.Kind() == wire.KindArray:
		var a, b []wire.Value
		if err := errors.Join(json.Unmarshal(newer, &a), json.Unmarshal(older, &b)); err != nil {
			return nil, err
		}
		if len(a) != len(b) {
			return newer, nil
		}
		for i := range a {
			var err error
			if a[i], err = union(a[i], b[i]); err != nil {
				return nil, err
			}
		}
		out, err := json.Marshal(a)
		return out, err
	}
	return newer, nil
}

func members(newer, older wire.Object) (wire.Value, error) {
	rest, out := map[string]wire.Value{}, wire.Value{}
	for name, v := range older.All() {
		rest[name] = v
	}
	for name, v := range newer.All() {
		if old, ok := rest[name]; ok {
			var err error
			if v, err = union(v, old); err != nil {
				return nil, err
			}
			delete(rest, name)
		}
		out = append(wire.AppendKey(out, name), v...)
	}
	for name, v := range older.All() {
		if _, ok := rest[name]; ok {
			out = append(wire.AppendKey(out, name), v...)
		}
	}
	return wire.EndObject(out, 0), nil
}

// withProtoSchemes adds to a card, written as the schema of a version before 1.0 has it, what its security schemes are
// in the JSON of the version's proto: clients of JavaScript read that over HTTP+JSON and refuse a scheme without it.
// The requirements have no form that both read.
func withProtoSchemes(v *runtime.Version, card runtime.Card, body wire.Object) (wire.Object, error) {
	schemes, ok := body.Get(schemesMember)
	if !ok {
		return body, nil
	}
	for _, w := range v.Wires {
		if w.Encoding != runtime.EncodingProtoJSON {
			continue
		}
		proto, err := w.Append(nil, card)
		if err != nil {
			return nil, err
		}
		also, ok := wire.Object(proto).Get(schemesMember)
		if !ok {
			return body, nil
		}
		both, err := union(schemes, also)
		if err != nil {
			return nil, err
		}
		err = body.Set(schemesMember, both)
		return body, err
	}
	return body, nil
}

const schemesMember = "securitySchemes"

// Security requirements in the form that a2a-go 2.4.0 writes and reads: {"schemes":{"oauth":["read"]}}. A2A 1.0 §4.5
// has {"schemes":{"oauth":{"list":["read"]}}}, and a card with that is one that it cannot read at all.

// Shown is a card, as a version writes it, as this agent shows it.
func (c *Cards) Shown(card []byte) []byte {
	if !c.Lists {
		return card
	}
	return RequirementLists(card)
}

// RequirementLists is a card, or a skill of one, with the scopes of its security requirements as plain lists.
func RequirementLists(card wire.Object) wire.Object {
	return eachMember(card, func(name string, v wire.Value) wire.Value {
		switch name {
		case "skills":
			return eachItem(v, RequirementLists)
		case "securityRequirements":
			return eachItem(v, scopeLists)
		}
		return v
	})
}

func scopeLists(requirement wire.Object) wire.Object {
	return eachMember(requirement, func(name string, v wire.Value) wire.Value {
		if name != "schemes" {
			return v
		}
		return wire.Value(eachMember(wire.Object(v), func(_ string, scopes wire.Value) wire.Value {
			if list, ok := wire.Object(scopes).Get("list"); ok {
				return list
			}
			return wire.Value("[]")
		}))
	})
}

// eachMember is an object with its values changed.
func eachMember(o wire.Object, change func(name string, v wire.Value) wire.Value) wire.Object {
	out := wire.Object{}
	for name, v := range o.All() {
		out = append(wire.AppendKey(out, name), change(name, v)...)
	}
	return wire.EndObject(out, 0)
}

// eachItem is an array of objects with these changed.
func eachItem(array wire.Value, change func(wire.Object) wire.Object) wire.Value {
	var r wire.Reader
	r.Reset(array)
	out := wire.Value{}
	for more := r.Array(); more; more = r.Elem() {
		out = append(append(out, ','), change(r.Raw())...)
	}
	return wire.EndArray(out, 0)
}

// Signer returns a card of A2A 1.0 with signatures.
type CardSigner interface {
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
	if signed := c.signed[card]; signed != nil && !v.Unnamed {
		return signed
	}
	return c.under(c.BaseOf(r), card)
}
