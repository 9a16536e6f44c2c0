package route

import (
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/wire"
)

// namedIn finds the skill that the message's metadata name: under our extension, or as skillId.
func (k *Catalog) namedIn(metadata wire.Object) (*Skill, error) {
	var ours, former, other wire.Value
	for name, v := range metadata.All() {
		switch name {
		case runtime.SkillsExtension:
			ours = v
		case runtime.FormerSkillsExtension:
			former = v
		case "skillId":
			other = v
		}
	}
	if ours == nil {
		ours = former
	}
	if ours != nil {
		var id string
		if ours.Kind() == wire.KindObject {
			named, _ := wire.Object(ours).Get("skill")
			id, _ = stringOf(named)
		}
		if key, err := IdempotencyKey(metadata); id == "" && (key != "" || err != nil) { // it is there for the key
			return nil, nil
		}
		return k.existing("message.metadata", id)
	}
	if id, ok := stringOf(other); ok {
		return k.existing("message.metadata.skillId", id)
	}
	return nil, nil
}

// existing finds a skill that a field names.
func (k *Catalog) existing(field, id string) (*Skill, error) {
	if s := k.byID[id]; s != nil {
		return s, nil
	}
	return nil, k.noSkill(field, id)
}

// IdempotencyKey returns the key in a message's metadata, under our extension, for clients that cannot set headers; ""
// for none. One that is no text is an error: its sender relies on it.
func IdempotencyKey(metadata wire.Object) (key string, err error) {
	ours, ok := metadata.Get(runtime.SkillsExtension)
	if !ok || ours.Kind() != wire.KindObject {
		return "", nil
	}
	named, ok := wire.Object(ours).Get("idempotencyKey")
	if !ok || named.Kind() == wire.KindNull {
		return "", nil
	}
	if key, ok = stringOf(named); !ok || key == "" {
		return "", invalid.Field("message.metadata", "idempotencyKey must be a text that is not empty")
	}
	return key, nil
}

// callOf reads an object as {"skill" or "skillId", "parameters" or "input" or "arguments" or "args"}: what callers made
// up before there was a convention. The skill is nil unless the object names one that exists.
func (k *Catalog) callOf(object []byte) (s *Skill, input []byte) {
	const inputs = 2 // the members from here on hold the input
	var members [6]wire.Value
	for name, v := range wire.Object(object).All() {
		for i, known := range [...]string{"skill", "skillId", "parameters", "input", "arguments", "args"} {
			if strings.EqualFold(name, known) {
				members[i] = v
			}
		}
	}
	for _, named := range members[:inputs] {
		id, _ := stringOf(named)
		s := k.byID[id]
		if s == nil {
			continue
		}
		for _, v := range members[inputs:] {
			if v != nil && v.Kind() != wire.KindNull {
				return s, v
			}
		}
		return s, []byte("{}")
	}
	return nil, nil
}

// stringOf reads a JSON string; null is an empty one.
func stringOf(v wire.Value) (s string, ok bool) {
	switch v.Kind() {
	case wire.KindNull:
		return "", true
	case wire.KindString:
		var r wire.Reader
		r.Reset(v)
		s = r.String()
		return s, r.Done() == nil
	}
	return "", false
}
