package card

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Shape is how a card is written: as the versions have it, newest first. What several have is one card for readers of
// each.
type Shape []*engine.Version

// shapesByPath finds the shapes of the card by where it is for clients that do not say what they speak. They are those
// of the versions that look there; clients of other versions get the card at either path, because some know only the
// other one.
func (c *Cards) shapesByPath() map[string]*Shape {
	shapes := map[string]*Shape{}
	all := c.engine.Versions()
	for _, v := range all {
		at := cmp.Or(v.Rules.CardPath, Path)
		if shapes[at] == nil {
			shapes[at] = new(Shape)
		}
		*shapes[at] = append(*shapes[at], v)
	}
	if shapes[Path] == nil {
		shapes[Path] = shapes[OldPath]
	}
	if shapes[OldPath] == nil && all[len(all)-1].Unnamed() {
		shapes[OldPath] = shapes[Path]
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
func (shape *Shape) write(card func(*engine.Version) runtime.Card) ([]byte, error) {
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

// WithProtoSchemes adds to a card, written as the schema of a version before 1.0 has it, what its security schemes are
// in the JSON of the version's proto: clients of JavaScript read that over HTTP+JSON and refuse a scheme without it.
// The requirements have no form that both read.
func WithProtoSchemes(v *runtime.Version, card runtime.Card, body wire.Object) (wire.Object, error) {
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
