package card

import (
	"github.com/a2agen/a2agen/runtime/wire"
)

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
