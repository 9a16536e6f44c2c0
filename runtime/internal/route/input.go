package engine

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"unicode"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/store"
)

// accept makes the input of a task's first message: the data, else what the text says. Data is not checked here, the
// skill does that. When text cannot be turned into an input, missing asks for what is needed, and input is what there
// is so far. Reading a text ends with ctx, the context of the request: nobody waits for the answer any more.
func (sk *skill) accept(ctx context.Context, data []byte, text string) (in input, missing []runtime.Part, err error) {
	if sk.InputSchema == "" {
		return input{}, nil, nil
	}
	if len(data) > 0 {
		return input{raw: data}, nil, nil
	}
	given := sk.fromText(ctx, nil, text, false)
	if err := ctx.Err(); err != nil {
		return input{}, nil, err
	}
	if in, err = sk.decode(given); err != nil {
		return in, sk.question(given, err), nil
	}
	return in, nil, nil
}

// resume makes the input of a later message: the earlier input with the message's data or JSON text over it. Plain text
// only counts as input when it was the engine that asked. Data that a handler asked for and that does not fit is an
// error; otherwise missing asks again.
func (sk *skill) resume(
	ctx context.Context, p store.Private, parts []runtime.Part,
) (in input, missing []runtime.Part, err error) {
	if sk.InputSchema == "" {
		return input{}, nil, nil
	}
	given := dataOf(parts)
	switch {
	case len(given) == 0 && p.Asked:
		if given = sk.fromText(ctx, p.Input, textOf(parts), true); ctx.Err() != nil {
			return input{}, nil, ctx.Err()
		}
	case len(given) == 0 && !sk.shape.scalar():
		given = jsonText(textOf(parts))
	}
	if len(given) == 0 && !p.Asked {
		return input{raw: p.Input}, nil, nil
	}
	sound, _ := sk.sound(p.Input, p.Asked)
	merged := merge(sound, given)
	in, err = sk.decode(merged)
	switch {
	case err == nil:
		return in, nil, nil
	case p.Asked:
		return in, sk.question(merged, err), nil
	}
	return input{}, nil, InvalidInput(err)
}

// errNoInput is what is wrong with no input at all.
var errNoInput = errors.New("there is no input")

// input is a skill's input: as it came, and what it says if it has been looked at.
type input struct {
	raw   []byte // JSON, nil for a skill without input schema
	value any
}

// decode reads an input that is there. What does not fit has no value.
func (sk *skill) decode(raw []byte) (in input, err error) {
	in.raw = raw
	switch {
	case len(raw) == 0:
		return in, errNoInput
	case sk.Decode != nil:
		if in.value, err = sk.Decode(raw); err != nil {
			in.value = nil
		}
	}
	return in, err
}

func (sk *skill) check(raw []byte) error {
	_, err := sk.decode(raw)
	return err
}

// fromText puts what a text says over the input so far: it is JSON, or the value itself where the schema takes one, or
// it fills properties. asked says that the text answers a question. What comes out need not fit the schema; nil is
// nothing.
func (sk *skill) fromText(ctx context.Context, have []byte, text string, asked bool) []byte {
	have, bad := sk.sound(have, asked)
	blank := strings.TrimSpace(text) == ""
	given := jsonText(text)
	switch {
	case given != nil && (!sk.shape.scalar() || sk.check(given) == nil):
		return merge(have, given)
	case blank && sk.shape.scalar():
		return nil
	case !blank && sk.takesText(text):
		return sk.shape.choose(text, func(v []byte) bool { return sk.check(v) == nil })
	}
	if len(have) == 0 {
		have = []byte("{}")
	}
	if blank {
		return have
	}
	if pairs := sk.readPairs(text, asked); pairs != nil {
		return sk.fill(ctx, have, pairs)
	}
	if field := sk.openField(have, bad); field != nil {
		return sk.fill(ctx, have, []pair{{field, text}})
	}
	if pairs := sk.readPairs(text, true); pairs != nil {
		return sk.fill(ctx, have, pairs)
	}
	return have
}

// takesText reports whether a text can be the whole input.
func (sk *skill) takesText(text string) bool {
	return sk.shape.scalar() || (sk.shape.Type == nil && sk.Decode != nil && sk.check([]byte(quote(text))) == nil)
}

// openField returns the one property that a text without names fills: the only one that is missing or bad, else the
// skill's text field.
func (sk *skill) openField(have []byte, bad map[string]bool) *property {
	has := membersOf(have)
	var open []*property
	for i := range sk.properties {
		p := &sk.properties[i]
		if _, ok := has[p.name]; bad[p.name] || (p.required && !ok) {
			open = append(open, p)
		}
	}
	switch len(open) {
	case 0:
		return sk.property(sk.TextField)
	case 1:
		return open[0]
	}
	return nil
}

// property returns a property of the input by its name, nil for "". One that the schema does not describe takes any
// value.
func (sk *skill) property(name string) *property {
	for i := range sk.properties {
		if sk.properties[i].name == name {
			return &sk.properties[i]
		}
	}
	if name == "" {
		return nil
	}
	return &property{name: name}
}

// fill sets properties of the input to what texts mean there. All are tried at once, those that do not fit again with
// their next reading, so that the input is checked a few times however many properties there are.
func (sk *skill) fill(ctx context.Context, have []byte, pairs []pair) []byte {
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
		bad, again := violated(sk.check(whole)), false
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

// reading is what a text can mean as a value, what is tried first in front.
type reading struct {
	values [][]byte
	at     int
	likely int // what it is when none fits, so that its error is the one to show
	ended  bool
}

// value is the present one.
func (r *reading) value() []byte { return r.values[r.at] }

// next goes on after a value that does not fit. It reports whether there is another one now.
func (r *reading) next() bool {
	switch {
	case r.ended:
		return false
	case r.at+1 < len(r.values):
		r.at++
		return true
	}
	r.ended = true
	again := r.at != r.likely
	r.at = r.likely
	return again
}

// readings are the values that a text can mean: a string, one of the choices in any case, the JSON that the text is.
func (x *shape) readings(text string) reading {
	trimmed := strings.TrimSpace(text)
	r := reading{values: [][]byte{[]byte(quote(text))}}
	if trimmed != text {
		r.values = append(r.values, []byte(quote(trimmed)))
	}
	for _, v := range x.Enum {
		var choice string
		if json.Unmarshal(v, &choice) == nil && choice != trimmed && strings.EqualFold(choice, trimmed) {
			r.values = append(r.values, v)
		}
	}
	if json.Valid([]byte(trimmed)) {
		r.values = append(r.values, []byte(trimmed))
		if !x.is("string") && len(x.Enum) == 0 {
			r.likely = len(r.values) - 1
		}
	}
	return r
}

// choose returns the first reading of a text that fits, else the likeliest.
func (x *shape) choose(text string, fits func(value []byte) bool) []byte {
	r := x.readings(text)
	for !fits(r.value()) && r.next() {
	}
	return r.value()
}

// pair is a property and the text that is for it.
type pair struct {
	*property
	text string
}

// maxPairs is how long a text may be that is read as pairs, in bytes. A longer one is the value of one property, or
// none.
const maxPairs = 64 << 10

// readPairs reads a text as "name: value", "name=value" and, if loose, "name value", separated by commas, semicolons or
// line breaks. Names are the schema's properties in any case; of a name that comes twice the last counts. A piece
// without a name belongs to the value before it. It returns nil when the text does not begin with a pair.
func (sk *skill) readPairs(text string, loose bool) []pair {
	if len(text) > maxPairs {
		return nil
	}
	var pairs []pair
	last := map[*property]int{} // place in pairs
	begin, current := 0, -1     // where the current pair's value begins
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexAny(text[at:], ",;\n"); i >= 0 {
			end = at + i
		}
		p, value := sk.readPair(text[at:end], loose)
		switch {
		case p != nil:
			if i, ok := last[p]; ok {
				current = i
			} else {
				current, last[p] = len(pairs), len(pairs)
				pairs = append(pairs, pair{property: p})
			}
			begin = at + value
			pairs[current].text = text[begin:end]
		case current < 0:
			return nil
		case strings.TrimSpace(text[at:end]) != "":
			pairs[current].text = text[begin:end]
		}
		at = end + 1
	}
	for i := range pairs {
		pairs[i].text = strings.TrimSpace(pairs[i].text)
	}
	return pairs
}

// readPair finds the property that a piece of text names, nil if none, and where in the piece its value begins.
func (sk *skill) readPair(piece string, loose bool) (p *property, value int) {
	named := strings.TrimLeftFunc(piece, unicode.IsSpace)
	for i := range sk.properties {
		p := &sk.properties[i]
		if len(named) <= len(p.name) || !strings.EqualFold(named[:len(p.name)], p.name) {
			continue
		}
		rest := named[len(p.name):]
		value := strings.TrimLeftFunc(rest, unicode.IsSpace)
		switch {
		case value == "":
		case value[0] == ':' || value[0] == '=':
			return p, len(piece) - len(value) + 1
		case loose && len(value) < len(rest):
			return p, len(piece) - len(value)
		}
	}
	return nil, 0
}

// jsonText returns text as an input if it is a JSON object or array.
func jsonText(text string) []byte {
	text = strings.TrimSpace(text)
	if text == "" || (text[0] != '{' && text[0] != '[') || !json.Valid([]byte(text)) {
		return nil
	}
	return []byte(text)
}

// merge puts the members of the object over into the object base. Anything but two objects gives over, or base if that
// is nil.
func merge(base, over []byte) []byte {
	var b, o map[string]json.RawMessage
	switch {
	case len(over) == 0:
		return base
	case json.Unmarshal(base, &b) != nil || json.Unmarshal(over, &o) != nil || b == nil || o == nil:
		return over
	}
	maps.Copy(b, o)
	if merged := object(b); merged != nil {
		return merged
	}
	return over
}

// object is the JSON of an object with these members, nil if one of them is not JSON.
func object(members map[string]json.RawMessage) []byte {
	b, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	return b
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

// sound returns an input without the properties that do not fit, and their names: kept, they would be in the way of
// every later answer. An input that nobody complained about (not asked) is sound as it is.
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
	return object(m), bad
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
