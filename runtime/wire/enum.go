package wire

import "strconv"

// enumValue is a value of an enum on one wire, as generated code describes it.
type enumValue[E ~string] struct {
	Value   E
	Name    string
	Aliases []string // also read
	Number  int32
	// WriteOnly: the name reads as another value.
	WriteOnly bool
}

// Enum are the values of an enum on one wire.
type Enum[E ~string] []enumValue[E]

// Append appends x by its name. A value that is in no table is written as it was read.
func (e Enum[E]) Append(b []byte, x E) []byte {
	for i := range e {
		if e[i].Value == x {
			return AppendString(b, e[i].Name)
		}
	}
	return appendEnum(b, string(x))
}

// AppendOr is Append, with a name for values that are in no table.
func (e Enum[E]) AppendOr(b []byte, x E, otherwise string) []byte {
	for i := range e {
		if e[i].Value == x {
			return AppendString(b, e[i].Name)
		}
	}
	return AppendString(b, otherwise)
}

// Read reads a value by name, alias or number. One that is in no table is kept.
func (e Enum[E]) Read(r *Reader) E {
	name, number, byName := r.Enum()
	if byName {
		return e.named(r, name)
	}
	return e.Numbered(number)
}

// ReadName reads a value by name or alias. One that is in no table is kept.
func (e Enum[E]) ReadName(r *Reader) E { return e.named(r, r.Text()) }

func (e Enum[E]) named(r *Reader, name []byte) E {
	for i := range e {
		if e[i].Name == string(name) && !e[i].WriteOnly {
			return e[i].Value
		}
	}
	for i := range e {
		for _, alias := range e[i].Aliases {
			if alias == string(name) {
				return e[i].Value
			}
		}
	}
	return E(r.Keep(name))
}

// Numbered is the value of a number. One that is in no table is kept in decimal.
func (e Enum[E]) Numbered(number int32) E {
	for i := range e {
		if e[i].Number == number {
			return e[i].Value
		}
	}
	return E(strconv.Itoa(int(number)))
}

// NumberOf is the number of a value. One that is in no table has a number if it was read by it.
func (e Enum[E]) NumberOf(x E) (int32, error) {
	for i := range e {
		if e[i].Value == x {
			return e[i].Number, nil
		}
	}
	if n, ok := EnumNumber(string(x)); ok {
		return n, nil
	}
	return 0, &Error{Reason: "protobuf has no number for " + strconv.Quote(string(x))}
}
