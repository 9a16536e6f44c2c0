package route

import (
	"encoding/json"
	"strings"
	"unicode"
)

// What a text says as an input: the value itself, or "name: value" for some properties.

// reading is what a text can mean as a value, in the order in which it is tried.
type reading struct {
	values [][]byte
	at     int
	likely int // what it is when none fits, so that its error is the one to show
	ended  bool
}

// value returns the present value.
func (r *reading) value() []byte { return r.values[r.at] }

// next moves on after a value that does not fit. It reports whether the present value has changed.
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

// readings returns the values that a text can mean: a string, one of the choices in any case, the JSON that the text
// is.
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

// firstFit returns the first reading of a text that fits, else the likeliest.
func (x *shape) firstFit(text string, fits func(value []byte) bool) []byte {
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
func (s *Skill) readPairs(text string, loose bool) []pair {
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
		p, value := s.readPair(text[at:end], loose)
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
func (s *Skill) readPair(piece string, loose bool) (p *property, value int) {
	named := strings.TrimLeftFunc(piece, unicode.IsSpace)
	for i := range s.properties {
		p := &s.properties[i]
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
