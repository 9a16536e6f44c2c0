// Package route decides what becomes of a message before a handler runs: which skill it is for, and that skill's input
// or the question for what is missing. It is pure: it takes values and returns values, keeps nothing between calls, and
// knows neither tasks nor stores.
package route

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// Skill is what routing has to know of a skill. [New] reads its words and its schema.
type Skill struct {
	ID, Name, Description   string
	Tags, Examples          []string
	InputModes, OutputModes []string // media types; empty: any
	InputSchema             string   // self-contained JSON Schema; "" for a skill that takes messages
	TextField               string   // the input property that plain text fills; "": none
	Hidden                  bool     // only for callers who may see the extended card
	Default                 bool     // takes plain text that fits no skill; one skill at most
	// Decode reads and validates an input. An error is a *check.Error or *wire.Error. Nil without an input schema.
	Decode func(input []byte) (any, error)

	words      vocabulary
	shape      shape // what the input schema says
	properties []property
}

// Catalog is a list of skills, in the order of the card. It does not change.
type Catalog struct {
	skills []*Skill
	byID   map[string]*Skill
}

// New makes a catalog. Ids must be there and differ, and at most one skill is the default.
func New(skills []Skill) (*Catalog, error) {
	k := &Catalog{byID: map[string]*Skill{}}
	for i := range skills {
		s := skills[i]
		switch other := k.fallback(); {
		case s.ID == "":
			return nil, fmt.Errorf("skill %q has no id", s.Name)
		case k.byID[s.ID] != nil:
			return nil, fmt.Errorf("skill %q is there twice", s.ID)
		case other != nil && s.Default:
			return nil, fmt.Errorf("both skills %q and %q are the default", other.ID, s.ID)
		}
		s.words = newVocabulary(&s)
		s.shape, s.properties = readShape(s.InputSchema)
		k.add(&s)
	}
	return k, nil
}

func (k *Catalog) add(s *Skill) {
	k.skills = append(k.skills, s)
	k.byID[s.ID] = s
}

// Public returns the catalog of the skills that are not hidden: the same one if none is.
func (k *Catalog) Public() *Catalog {
	if !slices.ContainsFunc(k.skills, func(s *Skill) bool { return s.Hidden }) {
		return k
	}
	public := &Catalog{byID: map[string]*Skill{}}
	for _, s := range k.skills {
		if !s.Hidden {
			public.add(s)
		}
	}
	return public
}

// Skill returns the skill with the id, nil if there is none.
func (k *Catalog) Skill(id string) *Skill { return k.byID[id] }

// fallback returns the skill that takes plain text that fits none; nil without one.
func (k *Catalog) fallback() *Skill {
	i := slices.IndexFunc(k.skills, func(s *Skill) bool { return s.Default })
	if i < 0 {
		return nil
	}
	return k.skills[i]
}

// noSkill is the error for a field that names a skill that is not in the catalog.
func (k *Catalog) noSkill(field, id string) error {
	return runtime.ErrInvalidParams.With("there is no skill %.100q: %s", id, k.list()).
		WithViolations(runtime.Violation{Field: field, Description: "names a skill that this agent does not have"})
}

// fitsNone is the error for data, or a message without content, that fits no skill.
func (k *Catalog) fitsNone() error {
	return runtime.ErrInvalidParams.With("the message fits no skill: %s", k.list()).
		WithViolations(runtime.Violation{Field: "message.parts", Description: "fits no skill"})
}

// list says in one line what skills there are.
func (k *Catalog) list() string {
	var b strings.Builder
	b.WriteString("this agent's skills are")
	for i, s := range k.skills {
		if i > 0 {
			b.WriteByte(';')
		}
		b.WriteString(" " + s.ID)
		if s.Name != "" && s.Name != s.ID {
			b.WriteString(" (" + s.Name + ")")
		}
	}
	return b.String()
}

// Help is the answer to a person whose message fits no skill.
func (k *Catalog) Help() string {
	var b strings.Builder
	b.WriteString("I could not tell which of my skills you need. I can do this:\n")
	for _, s := range k.skills {
		b.WriteString("\n- " + s.Name)
		if s.Name != s.ID {
			b.WriteString(" [" + s.ID + "]")
		}
		if s.Description != "" {
			b.WriteString(": " + s.Description)
		}
		if len(s.Examples) > 0 {
			b.WriteString(" For example: " + s.Examples[0])
		}
	}
	return b.String()
}
