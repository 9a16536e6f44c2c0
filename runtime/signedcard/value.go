package signedcard

import (
	"fmt"
	"maps"
	"math"
	"strconv"

	"github.com/a2agen/a2agen/runtime/wire"
)

// A JSON value is nil, a bool, a float64, a string, a list or an object.
type (
	list   []any
	object map[string]any
)

// without is a copy of an object without one member.
func (o object) without(name string) object {
	rest := maps.Clone(o)
	delete(rest, name)
	return rest
}

// parseCard reads a card strictly: no member twice, no lone surrogate, no number beyond a float64.
func parseCard(src []byte) (object, error) {
	if len(src) > MaxCard {
		return nil, invalid(fmt.Errorf("it has more than %d bytes", MaxCard))
	}
	root, err := parseObject(src)
	if err != nil {
		return nil, invalid(err)
	}
	return root, nil
}

// parseObject reads one JSON object.
func parseObject(src []byte) (object, error) {
	o, err := wire.Decode(src, readObject)
	if err != nil {
		return nil, err
	}
	return *o, nil
}

func readObject(r *wire.Reader, o *object) {
	*o = wire.ReadPlainMap(r, true, readValue)
	if *o == nil {
		*o = object{}
	}
}

func readList(r *wire.Reader) (all list) {
	for ok := r.Array(); ok; ok = r.Elem() {
		all = append(all, readValue(r))
	}
	return all
}

func readValue(r *wire.Reader) any {
	switch r.Kind() {
	case wire.KindObject:
		var o object
		readObject(r, &o)
		return o
	case wire.KindArray:
		return readList(r)
	case wire.KindString:
		return r.String()
	case wire.KindBool:
		return r.Bool()
	case wire.KindNumber:
		return readNumber(r)
	}
	r.Null()
	return nil
}

// readNumber reads a number as a float64, which is what RFC 8785 can write.
func readNumber(r *wire.Reader) float64 {
	at := r.Offset()
	f, err := strconv.ParseFloat(string(r.Raw()), 64)
	if err != nil || math.IsInf(f, 0) {
		r.FailAt(at, "a number that is too large")
	}
	return f
}

// cleaned is a value without empty strings, lists, objects and nulls at any depth; nil if nothing is left of it.
func cleaned(v any) any {
	switch v := v.(type) {
	case string:
		if v == "" {
			return nil
		}
	case list:
		var rest list
		for _, e := range v {
			if e = cleaned(e); e != nil {
				rest = append(rest, e)
			}
		}
		if rest == nil {
			return nil
		}
		return rest
	case object:
		rest := object{}
		for name, e := range v {
			if e = cleaned(e); e != nil {
				rest[name] = e
			}
		}
		if len(rest) == 0 {
			return nil
		}
		return rest
	}
	return v
}
