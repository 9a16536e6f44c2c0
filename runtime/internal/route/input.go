package route

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
)

// Input is a skill's input: as it came, and what it says if that was decoded already.
type Input struct {
	Raw   []byte // JSON; nil for a skill without input schema
	Value any    // what the skill's Decode made of it; nil: not decoded yet
}

// FollowUp makes the input of a later message: the input so far with the message's data or JSON text over it. asked
// says that the task waits with our own question; only then does plain text count as input. Data that a handler asked
// for and that does not fit is an error; otherwise missing asks again. It ends with ctx, as for a first message.
func (s *Skill) FollowUp(
	ctx context.Context, have []byte, asked bool, parts []runtime.Part,
) (in Input, missing []runtime.Part, err error) {
	if s.InputSchema == "" {
		return Input{}, nil, nil
	}
	given := dataOf(parts)
	switch {
	case len(given) == 0 && asked:
		if given = s.fromText(ctx, have, TextOf(parts), true); ctx.Err() != nil {
			return Input{}, nil, ctx.Err()
		}
	case len(given) == 0 && !s.shape.scalar():
		given = jsonText(TextOf(parts))
	}
	if len(given) == 0 && !asked {
		return Input{Raw: have}, nil, nil
	}
	good, _ := s.withoutBad(have, asked)
	merged := merge(good, given)
	in, err = s.decode(merged)
	switch {
	case err == nil:
		return in, nil, nil
	case asked:
		return in, s.question(merged, err), nil
	}
	return Input{}, nil, invalid.Input(err)
}

// errNoInput is the error of an input that is not there.
var errNoInput = errors.New("there is no input")

// decode reads an input that is there. What does not fit has no value.
func (s *Skill) decode(raw []byte) (in Input, err error) {
	in.Raw = raw
	switch {
	case len(raw) == 0:
		return in, errNoInput
	case s.Decode != nil:
		if in.Value, err = s.Decode(raw); err != nil {
			in.Value = nil
		}
	}
	return in, err
}

func (s *Skill) check(raw []byte) error {
	_, err := s.decode(raw)
	return err
}

// fromText puts what a text says over the input so far: it is JSON, or the value itself where the schema takes one, or
// it fills properties. asked says that the text answers a question. What comes out need not fit the schema; nil is
// nothing.
func (s *Skill) fromText(ctx context.Context, have []byte, text string, asked bool) []byte {
	have, bad := s.withoutBad(have, asked)
	blank := strings.TrimSpace(text) == ""
	given := jsonText(text)
	switch {
	case given != nil && (!s.shape.scalar() || s.check(given) == nil):
		return merge(have, given)
	case blank && s.shape.scalar():
		return nil
	case !blank && s.takesText(text):
		return s.shape.firstFit(text, func(v []byte) bool { return s.check(v) == nil })
	}
	if len(have) == 0 {
		have = []byte("{}")
	}
	if blank {
		return have
	}
	if pairs := s.readPairs(text, asked); pairs != nil {
		return s.fill(ctx, have, pairs)
	}
	if field := s.openField(have, bad); field != nil {
		return s.fill(ctx, have, []pair{{field, text}})
	}
	if pairs := s.readPairs(text, true); pairs != nil {
		return s.fill(ctx, have, pairs)
	}
	return have
}

// takesText reports whether a text can be the whole input.
func (s *Skill) takesText(text string) bool {
	return s.shape.scalar() || (s.shape.Type == nil && s.Decode != nil && s.check([]byte(quote(text))) == nil)
}

// openField returns the one property that a text without names fills: the only one that is missing or bad, else the
// skill's text field.
func (s *Skill) openField(have []byte, bad map[string]bool) *property {
	has := membersOf(have)
	var open []*property
	for i := range s.properties {
		p := &s.properties[i]
		if _, ok := has[p.name]; bad[p.name] || (p.required && !ok) {
			open = append(open, p)
		}
	}
	switch len(open) {
	case 0:
		return s.property(s.TextField)
	case 1:
		return open[0]
	}
	return nil
}

// property returns a property of the input by its name, nil for "". One that the schema does not describe takes any
// value.
func (s *Skill) property(name string) *property {
	for i := range s.properties {
		if s.properties[i].name == name {
			return &s.properties[i]
		}
	}
	if name == "" {
		return nil
	}
	return &property{name: name}
}

// fill sets properties of the input from texts. All are tried at once; those that do not fit are tried again with their
// next reading, so that the input is checked a few times, however many properties there are.
func (s *Skill) fill(ctx context.Context, have []byte, pairs []pair) []byte {
	readings := make([]reading, len(pairs))
	for i, p := range pairs {
		readings[i] = p.readings(p.text)
	}
	for {
		given := map[string]json.RawMessage{}
		for i, p := range pairs {
			given[p.name] = readings[i].value()
		}
		whole := merge(have, object(given))
		if ctx.Err() != nil {
			return whole
		}
		bad, again := violated(s.check(whole)), false
		for i, p := range pairs {
			if bad[p.name] && readings[i].next() {
				again = true
			}
		}
		if !again {
			return whole
		}
	}
}

// violated returns the top-level properties in which an error lies.
func violated(err error) map[string]bool {
	var found *check.Error
	if !errors.As(err, &found) {
		return nil
	}
	names := map[string]bool{}
	for _, v := range found.Violations {
		if v.Pointer != "" {
			name, _, _ := strings.Cut(v.Pointer[1:], "/")
			names[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)] = true
		}
	}
	return names
}

// withoutBad returns an input without the properties that do not fit, and their names: kept, they would be in the way
// of every later answer. An input about which nothing was asked is returned as it is.
func (s *Skill) withoutBad(input []byte, asked bool) (rest []byte, bad map[string]bool) {
	if !asked || len(input) == 0 {
		return input, nil
	}
	bad = violated(s.check(input))
	m := membersOf(input)
	if m == nil || len(bad) == 0 {
		return input, bad
	}
	for name := range bad {
		delete(m, name)
	}
	return object(m), bad
}
