package route

import (
	"context"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Message is the first message of a task, as far as routing reads it.
type Message struct {
	Metadata wire.Object
	Parts    []runtime.Part
	// Permit refuses a skill that the sender may not use; nil: all are permitted.
	Permit func(skill string) error
	// Router is the agent's own choice, asked when nothing in the message decides; nil: there is none. It returns a
	// skill's id, or "" if it does not know either.
	Router func() (skill string, err error)
	// Choice is told why the message goes to its skill; nil: nobody asks.
	Choice *Choice
}

// Target is where a message goes: a skill with its input, or with the question for what is missing. Without a skill
// nothing fits.
type Target struct {
	Skill   *Skill
	Input   Input
	Missing []runtime.Part // what to ask; nil when the input can be tried
}

// Route finds the skill for the first message of a task, and its input. The first rule that finds one decides:
//
//  1. the metadata name it, under our extension or as skillId
//  2. the data, or text that is a JSON object, names it
//  3. it is the only one
//  4. its media types alone cover the parts
//  5. the data satisfies its schema alone
//  6. the text shares most words with it
//  7. the agent's router says so
//  8. it is the default, for plain text
//
// Naming a skill that does not exist is an error, as is data that fits no skill. Plain text that fits none has no
// target: it comes from a person, who is helped by an answer. ctx ends the reading of a text.
func (k *Catalog) Route(ctx context.Context, m *Message) (Target, error) {
	var s *Skill
	var rule Rule
	var err error
	if len(m.Metadata) > 0 {
		if s, err = k.namedIn(m.Metadata); err != nil {
			return Target{}, err
		}
		rule = ByMetadata
	}
	data, text := dataOf(m.Parts), TextOf(m.Parts)
	object := data // text that is a JSON object is looked at as data is; it stays text, since a person may have written it
	if len(data) == 0 {
		object = jsonText(text)
	}
	if m.Choice != nil {
		k.explain(m.Choice, m.Parts, text, object)
	}
	if len(object) > 0 && object[0] == '{' {
		if named, input := k.callOf(object); named != nil && (s == nil || s == named) {
			if s == nil {
				s, rule = named, ByData
			}
			if len(data) > 0 {
				data = input
			} else {
				text = string(input)
			}
		}
	}
	var value any // of data, where a rule has decoded it
	switch {
	case s != nil:
	case len(k.skills) == 1:
		s, rule = k.skills[0], ByOnly
	default:
		if s, rule = k.only(func(s *Skill) bool { return s.takes(m.Parts) }), ByMedia; s == nil && len(object) > 0 {
			fits := func(s *Skill) bool {
				in, err := s.decode(object)
				if err != nil || s.Decode == nil {
					return false
				}
				value = in.Value
				return true
			}
			if s, rule = k.only(fits), BySchema; s == nil {
				value = nil
			}
		}
		if s == nil {
			s, rule = k.byWords(text), ByWords
		}
	}
	if s == nil && m.Router != nil {
		if s, err = k.byRouter(m.Router); err != nil {
			return Target{}, err
		}
		rule = ByRouter
	}
	if s == nil && len(data) == 0 && text != "" {
		s, rule = k.fallback(), ByDefault
	}
	if s != nil && m.Choice != nil {
		m.Choice.Rule, m.Choice.Skill = rule, s.ID
	}
	switch {
	case s == nil && (len(data) > 0 || text == ""):
		return Target{}, k.fitsNone()
	case s == nil:
		return Target{}, nil
	case m.Permit != nil:
		if err := m.Permit(s.ID); err != nil {
			return Target{}, err
		}
	}
	in, missing, err := s.firstInput(ctx, data, text)
	if len(data) > 0 {
		in.Value = value
	}
	return Target{s, in, missing}, err
}

// firstInput makes the input of a task's first message: the data, else what the text says. Data is not checked here,
// the skill does that. When text cannot be turned into an input, missing asks for what is needed, and in is what there
// is so far. Reading a text ends with ctx, the context of the request: nobody waits for the answer any more.
func (s *Skill) firstInput(ctx context.Context, data []byte, text string) (in Input, missing []runtime.Part, err error) {
	if s.InputSchema == "" {
		return Input{}, nil, nil
	}
	if len(data) > 0 {
		return Input{Raw: data}, nil, nil
	}
	given := s.fromText(ctx, nil, text, false)
	if err := ctx.Err(); err != nil {
		return Input{}, nil, err
	}
	if in, err = s.decode(given); err != nil {
		return in, s.question(given, err), nil
	}
	return in, nil, nil
}

// byRouter asks the agent's router.
func (k *Catalog) byRouter(router func() (string, error)) (*Skill, error) {
	id, err := router()
	if err != nil || id == "" {
		return nil, err
	}
	if s := k.byID[id]; s != nil {
		return s, nil
	}
	return nil, k.noSkill("message", id)
}

// only returns the one skill that passes, nil if none or several do.
func (k *Catalog) only(passes func(*Skill) bool) *Skill {
	var found *Skill
	for _, s := range k.skills {
		if !passes(s) {
			continue
		}
		if found != nil {
			return nil
		}
		found = s
	}
	return found
}

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
