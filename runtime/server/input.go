package server

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/store"
)

// accept makes the input of a task's first message: the data, else what the text says. Data is not checked here, the skill does that.
// When text cannot be turned into an input, missing asks for what is needed, and input is what there is so far.
func (sk *skill) accept(data []byte, text string) (input []byte, missing []runtime.Part) {
	if sk.InputSchema == "" {
		return nil, nil
	}
	if len(data) > 0 {
		return data, nil
	}
	given := sk.fromText(nil, text, false)
	if err := sk.check(given); err != nil {
		return given, sk.question(given, err)
	}
	return given, nil
}

// resume makes the input of a later message: the earlier input with the message's data or JSON text over it. Plain text only counts as input when it
// was the server that asked. Data that a handler asked for and that does not fit is an error; otherwise missing asks again.
func (sk *skill) resume(p store.Private, parts []runtime.Part) (input []byte, missing []runtime.Part, err error) {
	if sk.InputSchema == "" {
		return nil, nil, nil
	}
	given := dataOf(parts)
	switch {
	case len(given) == 0 && p.Asked:
		given = sk.fromText(p.Input, textOf(parts), true)
	case len(given) == 0 && !sk.shape.scalar():
		given = jsonText(textOf(parts))
	}
	if len(given) == 0 && !p.Asked {
		return p.Input, nil, nil
	}
	sound, _ := sk.sound(p.Input, p.Asked)
	merged := merge(sound, given)
	err = sk.check(merged)
	switch {
	case err == nil:
		return merged, nil, nil
	case p.Asked:
		return merged, sk.question(merged, err), nil
	}
	return nil, nil, InvalidInput(err)
}

// errNoInput is what is wrong with no input at all.
var errNoInput = errors.New("there is no input")

func (sk *skill) check(input []byte) error {
	switch {
	case len(input) == 0:
		return errNoInput
	case sk.Check == nil:
		return nil
	}
	return sk.Check(input)
}

// fromText puts what a text says over the input so far: it is JSON, or the value itself where the schema takes one, or it
// fills properties. asked says that the text answers a question. What comes out need not fit the schema; nil is nothing.
func (sk *skill) fromText(have []byte, text string, asked bool) []byte {
	have, bad := sk.sound(have, asked)
	blank := strings.TrimSpace(text) == ""
	given := jsonText(text)
	switch {
	case given != nil && (!sk.shape.scalar() || sk.check(given) == nil):
		return merge(have, given)
	case blank && sk.shape.scalar():
		return nil
	case !blank && sk.takesText(text):
		return sk.shape.choose(text, func(v []byte) ([]byte, bool) { return v, sk.check(v) == nil })
	}
	if len(have) == 0 {
		have = []byte("{}")
	}
	if blank {
		return have
	}
	if filled := sk.fromPairs(have, text, asked); filled != nil {
		return filled
	}
	if field := sk.openField(have, bad); field != "" {
		return sk.fill(have, field, text)
	}
	if filled := sk.fromPairs(have, text, true); filled != nil {
		return filled
	}
	return have
}

// takesText reports whether a text can be the whole input.
func (sk *skill) takesText(text string) bool {
	return sk.shape.scalar() || (sk.shape.Type == nil && sk.Check != nil && sk.Check([]byte(quote(text))) == nil)
}

// openField returns the one property that a text without names fills: the only one that is missing or bad, else the skill's text field.
func (sk *skill) openField(have []byte, bad map[string]bool) string {
	has := membersOf(have)
	var open []string
	for _, p := range sk.properties {
		if _, ok := has[p.name]; bad[p.name] || (p.required && !ok) {
			open = append(open, p.name)
		}
	}
	switch len(open) {
	case 0:
		return sk.TextField
	case 1:
		return open[0]
	}
	return ""
}

// fill sets a property of the input to what a text means there.
func (sk *skill) fill(have []byte, name, text string) []byte {
	var x shape
	for _, p := range sk.properties {
		if p.name == name {
			x = p.shape
		}
	}
	return x.choose(text, func(v []byte) ([]byte, bool) {
		whole := merge(have, []byte("{"+quote(name)+":"+string(v)+"}"))
		return whole, !violated(sk.check(whole))[name]
	})
}

// choose tries the values that a text can mean: a string, one of the choices in any case, the JSON that the text is. It returns what try makes
// of the first that fits, else of the likeliest, so that its error is the one to show.
func (x *shape) choose(text string, try func(value []byte) (input []byte, fits bool)) []byte {
	likely, fits := try([]byte(quote(text)))
	if fits {
		return likely
	}
	trimmed := strings.TrimSpace(text)
	if input, fits := try([]byte(quote(trimmed))); fits {
		return input
	}
	for _, v := range x.Enum {
		var choice string
		if json.Unmarshal(v, &choice) != nil || !strings.EqualFold(choice, trimmed) {
			continue
		}
		if input, fits := try(v); fits {
			return input
		}
	}
	if !json.Valid([]byte(trimmed)) {
		return likely
	}
	input, fits := try([]byte(trimmed))
	if fits || (!x.is("string") && len(x.Enum) == 0) {
		return input
	}
	return likely
}

// fromPairs reads a text as "name: value", "name=value" and, if loose, "name value", separated by commas, semicolons or line
// breaks. Names are the schema's properties in any case. A piece without a name belongs to the value before it. It
// returns nil when the text does not begin with a pair.
func (sk *skill) fromPairs(have []byte, text string, loose bool) []byte {
	type pair struct{ name, value string }
	var pairs []pair
	for rest, sep := text, ""; rest != ""; {
		piece := rest
		next := ""
		if i := strings.IndexAny(rest, ",;\n"); i >= 0 {
			piece, next = rest[:i], rest[i:i+1]
			rest = rest[i+1:]
		} else {
			rest = ""
		}
		name, value := sk.readPair(piece, loose)
		switch {
		case name != "":
			pairs = append(pairs, pair{name, value})
		case len(pairs) == 0:
			return nil
		case strings.TrimSpace(piece) != "":
			pairs[len(pairs)-1].value += sep + piece
		}
		sep = next
	}
	for _, p := range pairs {
		have = sk.fill(have, p.name, strings.TrimSpace(p.value))
	}
	return have
}

// readPair splits a piece of text into the property that it names and the value; the name is "" if it names none.
func (sk *skill) readPair(piece string, loose bool) (name, value string) {
	piece = strings.TrimSpace(piece)
	for _, p := range sk.properties {
		if len(piece) <= len(p.name) || !strings.EqualFold(piece[:len(p.name)], p.name) {
			continue
		}
		rest := piece[len(p.name):]
		value := strings.TrimSpace(rest)
		switch {
		case value == "":
		case value[0] == ':' || value[0] == '=':
			return p.name, strings.TrimSpace(value[1:])
		case loose && len(value) < len(rest):
			return p.name, value
		}
	}
	return "", ""
}

// jsonText returns text as an input if it is a JSON object or array.
func jsonText(text string) []byte {
	text = strings.TrimSpace(text)
	if text == "" || (text[0] != '{' && text[0] != '[') || !json.Valid([]byte(text)) {
		return nil
	}
	return []byte(text)
}

// merge puts the members of the object over into the object base. Anything but two objects gives over, or base if that is nil.
func merge(base, over []byte) []byte {
	var b, o map[string]json.RawMessage
	switch {
	case len(over) == 0:
		return base
	case json.Unmarshal(base, &b) != nil || json.Unmarshal(over, &o) != nil || b == nil || o == nil:
		return over
	}
	for k, v := range o {
		b[k] = v
	}
	merged, err := json.Marshal(b)
	if err != nil {
		return over
	}
	return merged
}

// membersOf returns the members of an object, none of anything else.
func membersOf(object []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(object, &m) != nil {
		return nil
	}
	return m
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

// sound returns an input without the properties that do not fit, and their names: kept, they would be in the way of every later answer. An
// input that nobody complained about (not asked) is sound as it is.
func (sk *skill) sound(input []byte, asked bool) (rest []byte, bad map[string]bool) {
	if !asked || len(input) == 0 {
		return input, nil
	}
	bad = violated(sk.check(input))
	m := membersOf(input)
	if m == nil || len(bad) == 0 {
		return input, bad
	}
	for name := range bad {
		delete(m, name)
	}
	rest, err := json.Marshal(m)
	if err != nil {
		return input, nil
	}
	return rest, bad
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
