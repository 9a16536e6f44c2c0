package route

import (
	"context"

	"github.com/a2agen/a2agen/runtime"
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
	var err error
	if len(m.Metadata) > 0 {
		if s, err = k.namedIn(m.Metadata); err != nil {
			return Target{}, err
		}
		m.Choice.by(ByMetadata, s)
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
		if id, input := k.callOf(object); id != nil && (s == nil || s == id) {
			if s == nil {
				m.Choice.by(ByData, id)
			}
			s = id
			if len(data) > 0 {
				data = input
			} else {
				text = string(input)
			}
		}
	}
	var value any // of data, where a rule has decoded it
	if s == nil {
		var rule Rule
		s, value, rule = k.byContent(m.Parts, text, object)
		m.Choice.by(rule, s)
	}
	if s == nil && m.Router != nil {
		if s, err = k.byRouter(m.Router); err != nil {
			return Target{}, err
		}
		m.Choice.by(ByRouter, s)
	}
	if s == nil && len(data) == 0 && text != "" {
		s = k.fallback()
		m.Choice.by(ByDefault, s)
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

// byContent tries the rules that look at the content. value is what the data says, if it was decoded.
func (k *Catalog) byContent(parts []runtime.Part, text string, object []byte) (found *Skill, value any, rule Rule) {
	if len(k.skills) == 1 {
		return k.skills[0], nil, ByOnly
	}
	if s := k.only(func(s *Skill) bool { return s.takes(parts) }); s != nil {
		return s, nil, ByMedia
	}
	if len(object) > 0 {
		fits := func(s *Skill) bool {
			in, err := s.decode(object)
			if err != nil || s.Decode == nil {
				return false
			}
			value = in.Value // where several fit nobody asks for it
			return true
		}
		if s := k.only(fits); s != nil {
			return s, value, BySchema
		}
	}
	return k.byWords(text), nil, ByWords
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
