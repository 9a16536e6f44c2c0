package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/schemadiff"
)

// Query says what an agent must have. Skill, Tag, Gives and Takes must be those of one skill.
type Query struct {
	Text  []string // words that the card has, in whatever case
	Skill string   // the id of a skill
	Tag   string
	// Gives is a JSON Schema that every result of the skill fits, and Takes one whose every value the skill takes.
	Gives, Takes []byte
	All          bool // look at all versions, not only at the newest of each name
}

// Match is a card that has what was asked for.
type Match struct {
	Entry  Entry        `json:"entry"`
	Skills []SkillMatch `json:"skills"` // empty if no skill was asked for
}

// SkillMatch is a skill that has what was asked for.
type SkillMatch struct {
	ID string `json:"id"`
	// Unsure is why it could not be decided that its schemas fit; "": they do.
	Unsure string `json:"unsure,omitempty"`
}

// cardsAtOnce is how many cards are read at a time.
const cardsAtOnce = 8

// Search returns the cards that match, in the order of their names. Those that cannot be read are in the error, an
// errors.Join of one for each; the others are returned all the same.
func (c *Catalog) Search(ctx context.Context, q Query) ([]Match, error) {
	entries := c.Index.Newest()
	if q.All {
		entries = c.Index.All()
	}
	found := make([]*Match, len(entries))
	problems := make([]error, len(entries))
	free := make(chan struct{}, cardsAtOnce)
	var all sync.WaitGroup
	for i, e := range entries {
		if !e.says(q.Text) {
			continue
		}
		free <- struct{}{}
		all.Go(func() {
			found[i], problems[i] = c.match(ctx, e, q)
			<-free
		})
	}
	all.Wait()
	found = slices.DeleteFunc(found, func(m *Match) bool { return m == nil })
	list := make([]Match, len(found))
	for i, m := range found {
		list[i] = *m
	}
	return list, errors.Join(problems...)
}

// says reports whether a card has all the words.
func (e *Entry) says(words []string) bool {
	text := []string{e.Name, e.Title, e.Description}
	for _, s := range e.Skills {
		text = append(text, s.ID, s.Name, s.Description)
		text = append(text, s.Tags...)
	}
	whole := strings.ToLower(strings.Join(text, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(whole, strings.ToLower(w)) })
}

// match compares a card with a query whose words it has; nil if it does not match.
func (c *Catalog) match(ctx context.Context, e Entry, q Query) (*Match, error) {
	m := &Match{Entry: e, Skills: []SkillMatch{}}
	if q.Skill == "" && q.Tag == "" && q.Gives == nil && q.Takes == nil {
		return m, nil
	}
	asked := slices.DeleteFunc(slices.Clone(e.Skills), func(s Skill) bool { return !s.is(q) })
	if len(asked) == 0 {
		return nil, nil
	}
	if q.Gives == nil && q.Takes == nil {
		for _, s := range asked {
			m.Skills = append(m.Skills, SkillMatch{ID: s.ID})
		}
		return m, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("compare the schemas of %s: %w", e.Ref(), err)
	}
	src, err := c.Card(ctx, e)
	if err != nil {
		return nil, err
	}
	if m.Skills = fitting(e, src, asked, q); len(m.Skills) == 0 {
		return nil, nil
	}
	return m, nil
}

// is reports whether a skill is the one that is asked for, as far as the index says that.
func (s *Skill) is(q Query) bool {
	sameTag := func(t string) bool { return strings.EqualFold(t, q.Tag) }
	return (q.Skill == "" || s.ID == q.Skill) && (q.Tag == "" || slices.ContainsFunc(s.Tags, sameTag))
}

// fitting returns those of the skills whose schemas fit.
func fitting(e Entry, src []byte, asked []Skill, q Query) []SkillMatch {
	list := []SkillMatch{}
	imported, _ := card.Import(e.File, src)
	if imported == nil {
		return list
	}
	var budget schemadiff.Budget // of one card, so that none takes from another
	for _, s := range imported.Skills {
		if !slices.ContainsFunc(asked, func(a Skill) bool { return a.ID == s.ID }) {
			continue
		}
		gives, giveReason := fits(&budget, s.Published.Output, q.Gives, q.Gives)
		takes, takeReason := fits(&budget, q.Takes, s.Published.Input, q.Takes)
		if gives && takes {
			list = append(list, SkillMatch{ID: s.ID, Unsure: cmp.Or(giveReason, takeReason)})
		}
	}
	return list
}

// CheckSchema says why a text cannot be compared as a JSON Schema.
func CheckSchema(src []byte) error {
	_, err := schemadiff.Narrowed(src, []byte("true"))
	return err
}

// fits reports whether every value of a schema fits another one; unsure is why that could not be decided. Where nothing
// is asked for everything fits, and a skill without a schema fits nothing.
func fits(budget *schemadiff.Budget, from, to, asked []byte) (ok bool, unsure string) {
	if asked == nil {
		return true, ""
	}
	if len(from) == 0 || len(to) == 0 {
		return false, ""
	}
	reasons, err := budget.Narrowed(from, to)
	if err != nil {
		return false, ""
	}
	for _, r := range reasons {
		switch {
		case r.Undeclared: // nobody who goes by the first schema has such a value
		case r.Sure:
			return false, ""
		case unsure == "":
			unsure = strings.TrimSpace(cmp.Or(r.Path, "the whole") + ": " + r.Keyword + " " + r.To)
		}
	}
	return true, unsure
}
