package wire

import "strconv"

// EnumValue is a value of an enum on one wire.
type EnumValue struct {
	Value   string
	Name    string
	Aliases []string // also read
	Number  int32
	// WriteOnly: the name reads as another value.
	WriteOnly bool
}

// Enum are the values of an enum on one wire, for generated code. A value that is in no table is kept as it was read.
type Enum struct {
	Values []EnumValue
	// Named: the wire knows the names only.
	Named bool
	// Otherwise is written for a value that is in no table.
	Otherwise string
}

// append appends x by its name. A value that is in no table is written as it was read, unless the wire has a name for those.
func (e *Enum) append(b []byte, x string) []byte {
	for i := range e.Values {
		if e.Values[i].Value == x {
			return AppendString(b, e.Values[i].Name)
		}
	}
	if e.Otherwise != "" {
		return AppendString(b, e.Otherwise)
	}
	return appendEnum(b, x)
}

// read reads a value by name, alias or number.
func (e *Enum) read(r *Reader) string {
	if e.Named {
		return e.named(r, r.Text())
	}
	name, number, byName := r.Enum()
	if byName {
		return e.named(r, name)
	}
	return e.Numbered(number)
}

func (e *Enum) named(r *Reader, name []byte) string {
	for i := range e.Values {
		if v := &e.Values[i]; v.Name == string(name) && !v.WriteOnly {
			return v.Value
		}
	}
	for i := range e.Values {
		for _, alias := range e.Values[i].Aliases {
			if alias == string(name) {
				return e.Values[i].Value
			}
		}
	}
	return r.Keep(name)
}

// Numbered is the value of a number, in decimal if it is in no table.
func (e *Enum) Numbered(number int32) string {
	for i := range e.Values {
		if e.Values[i].Number == number {
			return e.Values[i].Value
		}
	}
	return strconv.Itoa(int(number))
}

// NumberOf is the number of a value. One that is in no table has a number if it was read by it.
func (e *Enum) NumberOf(x string) (int32, error) {
	for i := range e.Values {
		if e.Values[i].Value == x {
			return e.Values[i].Number, nil
		}
	}
	if n, ok := EnumNumber(x); ok {
		return n, nil
	}
	return 0, &Error{Reason: "protobuf has no number for " + strconv.Quote(x)}
}
