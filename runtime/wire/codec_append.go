package wire

import (
	"slices"
	"time"
	"unsafe"
)

// append appends the message at x.
func (t *Table) append(b []byte, x unsafe.Pointer) ([]byte, error) {
	if x == nil {
		return b, NotSet()
	}
	p := t.ready()
	switch p.form {
	case formCustom:
		return t.Custom.append(b, x)
	case formBare:
		return t.Fields[0].appendValue(b, at(x, t.Fields[0].At))
	case formTagged:
		number, text, value := t.Oneofs[0].Case(x)
		return t.appendTagged(b, number, text, value)
	}
	start := len(b)
	b = append(b, t.Consts...)
	for i := 0; i < len(p.steps); i++ {
		s := &p.steps[i]
		if s.skip && *(*uintptr)(at(x, uintptr(s.test))) == 0 {
			i += int(s.more)
			continue
		}
		v := at(x, s.at)
		var err error
		switch s.do {
		case doString:
			b = s.appendText(b, *(*string)(v))
			continue
		case doBool:
			if *(*bool)(v) || s.must {
				b = AppendBool(s.appendKey(b), *(*bool)(v))
			}
			continue
		case doEnum:
			if name := *(*string)(v); name == "" && s.f.Flags&MustSet != 0 {
				err = NotSet()
			} else {
				b = s.f.Enum.append(s.appendKey(b), name)
			}
		case doStrings:
			b = AppendPlainList(s.appendKey(b), *(*[]string)(v), AppendString)
			continue
		case doStruct:
			b, err = AppendStruct(s.appendKey(b), *(*Object)(v))
		case doMessage:
			b, err = s.of.append(s.appendKey(b), *(*unsafe.Pointer)(v))
		case doMessages:
			if list := *(*[]unsafe.Pointer)(v); s.must && len(list) < int(s.f.Least) {
				err = TooFew(int(s.f.Least))
			} else {
				b, err = s.of.appendList(s.appendKey(b), list)
			}
		case doOneof:
			i += int(s.more)
			number, text, value := t.Oneofs[s.f.Oneof-1].Case(x)
			if c := p.caseOf(s.f.Oneof, number); c != nil && c.f.Type == TypeString {
				b = c.appendText(b, text)
			} else if b, err = t.appendOneof(b, s.f.Oneof, c, number, text, value); err != nil {
				return b, err
			}
			continue
		default:
			b, err = t.appendField(b, x, s)
		}
		if err != nil {
			return b, In(err, s.f.Name)
		}
	}
	return EndObject(b, start), nil
}

// appendList appends a list of messages.
func (t *Table) appendList(b []byte, list []unsafe.Pointer) ([]byte, error) {
	start := len(b)
	var err error
	for i, m := range list {
		if b, err = t.append(append(b, ','), m); err != nil {
			return b, At(err, i)
		}
	}
	return EndArray(b, start), nil
}

// appendField appends a member of message x, if it is to be written.
func (t *Table) appendField(b []byte, x unsafe.Pointer, s *step) (written []byte, err error) {
	f := s.f
	if f.Into != nil {
		if x = *(*unsafe.Pointer)(at(x, f.Into.At)); x == nil {
			if !s.must {
				return b, nil
			}
			x = f.Into.Of.fresh()
		}
	}
	p := at(x, f.At)
	switch {
	case f.Flags&ReadOnly != 0:
		return b, nil
	case f.Type == TypeGroup:
		return t.Group.append(b, p), nil
	case f.Shape == Nested:
		return s.of.append(s.appendKey(b), x)
	case f.Type == TypeHook:
		if q := at(x, f.With); s.must || f.Hook.has(p, q) {
			return f.Hook.append(s.appendKey(b), p, q)
		}
	case f.Shape == Pointer:
		p = *(*unsafe.Pointer)(p)
		switch {
		case p == nil && f.Flags&MustSet != 0:
			return b, NotSet()
		case p == nil && s.must:
			p, _ = f.Type.Fresh()
		case p == nil, f.Flags&Implicit != 0 && !f.isSet(p):
			return b, nil
		}
		return f.appendOne(s.appendKey(b), p)
	case f.Shape == Listed || f.Shape == Mapped:
		switch n := f.length(p); {
		case s.must && n < int(f.Least):
			return b, TooFew(int(f.Least))
		case s.must || n > 0:
			return s.appendValue(b, p)
		}
	case f.Type == TypeMessage:
		m := (*unsafe.Pointer)(p)
		if *m == nil && f.Flags&(Filled|Created) != 0 {
			fresh := f.Of.fresh()
			m = &fresh
		}
		if *m != nil || s.must {
			return s.appendValue(b, unsafe.Pointer(m))
		}
	default:
		switch set := f.isSet(p); {
		case !set && f.Flags&MustSet != 0:
			return b, NotSet()
		case set || s.must:
			return f.appendOne(s.appendKey(b), p)
		}
	}
	return b, nil
}

// appendValue appends a member with the value at p, but for one of which nothing is left.
func (s *step) appendValue(b []byte, p unsafe.Pointer) ([]byte, error) {
	keyed := s.appendKey(b)
	written, err := s.f.appendValue(keyed, p)
	if err == nil && (s.f.Flags&Filled != 0 || s.f.rewritten()) && string(written[len(keyed):]) == "{}" {
		return b, nil
	}
	return written, err
}

// length is the number of elements in the list or map at p.
func (f *Field) length(p unsafe.Pointer) int {
	if f.Shape == Mapped {
		return f.Container.length(p)
	}
	return len(*(*[]struct{})(p)) // slices of all types have their length in one place
}

// appendValue appends the value at p.
func (f *Field) appendValue(b []byte, p unsafe.Pointer) ([]byte, error) {
	switch {
	case f.rewritten():
		start := len(b)
		b, err := f.Container.append(b, f, p)
		if err == nil {
			b = f.Rewrite.Write(b[:start], Object(slices.Clone(b[start:])))
		}
		return b, err
	case f.Container != nil:
		return f.Container.append(b, f, p)
	case f.Shape != Listed:
		return f.appendOne(b, p)
	}
	switch f.Type {
	case TypeMessage:
		return f.Of.table().appendList(b, *(*[]unsafe.Pointer)(p))
	case TypeEnum:
		return AppendPlainList(b, *(*[]string)(p), f.Enum.append), nil
	}
	return AppendPlainList(b, *(*[]string)(p), AppendString), nil
}

// rewritten reports whether the value is written in another shape than the plain one.
func (f *Field) rewritten() bool { return f.Rewrite != nil && f.Rewrite.Write != nil }

// isSet reports whether the single value at p is there.
func (f *Field) isSet(p unsafe.Pointer) bool { return f.Type.IsSet(p, f.Flags&Nilable != 0) }

// IsSet reports whether the single value at p is not the zero value. nilable: bytes and field masks are set if they are not
// nil.
func (t Type) IsSet(p unsafe.Pointer, nilable bool) bool {
	switch t {
	case TypeBool:
		return *(*bool)(p)
	case TypeInt32, TypeUint32:
		return *(*uint32)(p) != 0
	case TypeInt64, TypeInteger, TypeUint64:
		return *(*uint64)(p) != 0
	case TypeFloat:
		return *(*float32)(p) != 0
	case TypeDouble:
		return *(*float64)(p) != 0
	case TypeBytes, TypeStruct, TypeEmpty, TypeValue, TypeListValue, TypeFieldMask:
		if nilable {
			return *(*[]struct{})(p) != nil
		}
		return len(*(*[]struct{})(p)) > 0
	case TypeTimestamp:
		return *(*time.Time)(p) != (time.Time{})
	case TypeDuration:
		return *(*Duration)(p) != (Duration{})
	case TypeNull:
		return false
	case TypeMessage, TypeAny:
		return *(*unsafe.Pointer)(p) != nil
	}
	return *(*string)(p) != ""
}

// appendOne appends the single value at p.
func (f *Field) appendOne(b []byte, p unsafe.Pointer) ([]byte, error) {
	switch f.Type {
	case TypeString:
		return AppendString(b, *(*string)(p)), nil
	case TypeBool:
		return AppendBool(b, *(*bool)(p)), nil
	case TypeInt32:
		return AppendInt32(b, *(*int32)(p)), nil
	case TypeInt64:
		return AppendInt64(b, *(*int64)(p)), nil
	case TypeInteger:
		return AppendInteger(b, *(*int64)(p)), nil
	case TypeUint32:
		return AppendUint32(b, *(*uint32)(p)), nil
	case TypeUint64:
		return AppendUint64(b, *(*uint64)(p)), nil
	case TypeFloat:
		return AppendFloat32(b, *(*float32)(p)), nil
	case TypeDouble:
		return AppendFloat64(b, *(*float64)(p)), nil
	case TypeBytes:
		return AppendBytes(b, *(*[]byte)(p)), nil
	case TypeTimestamp:
		return AppendTimestamp(b, *(*time.Time)(p))
	case TypeDuration:
		return AppendDuration(b, *(*Duration)(p))
	case TypeStruct, TypeEmpty:
		return AppendStruct(b, *(*Object)(p))
	case TypeValue:
		return AppendValue(b, *(*Value)(p))
	case TypeListValue:
		return AppendListValue(b, *(*Value)(p))
	case TypeNull:
		return appendNullValue(b, Null{}), nil
	case TypeFieldMask:
		return AppendFieldMask(b, *(*FieldMask)(p))
	case TypeEnum:
		return f.Enum.append(b, *(*string)(p)), nil
	case TypeMessage:
		return f.Of.table().append(b, *(*unsafe.Pointer)(p))
	}
	return f.Hook.append(b, p, nil)
}

// appendOneof appends the member of a case, whatever its value (T53). c is its step, nil if the wire does not have it.
func (t *Table) appendOneof(b []byte, oneof uint8, c *step, number int, text string, value any) ([]byte, error) {
	if c != nil {
		b, err := c.f.appendCase(c.appendKey(b), text, value)
		if err != nil {
			err = In(err, c.f.Name)
		}
		return b, err
	}
	switch o := &t.Oneofs[oneof-1]; {
	case o.Strict && number == UnknownCase:
		b, err := AppendValue(AppendKey(b, text), RawOf(value))
		if err != nil {
			err = In(err, text)
		}
		return b, err
	case o.Needed:
		return b, NoCase(t.casesOf(oneof)...)
	}
	return b, nil
}

// casesOf are the names of a oneof's cases.
func (t *Table) casesOf(oneof uint8) (names []string) {
	for i := range t.Fields {
		if t.Fields[i].Oneof == oneof {
			names = append(names, t.Fields[i].Name)
		}
	}
	return names
}

// appendCase appends the value of a case.
func (f *Field) appendCase(b []byte, text string, value any) ([]byte, error) {
	switch f.Type {
	case TypeString:
		return AppendString(b, text), nil
	case TypeEnum:
		return f.Enum.append(b, text), nil
	case TypeBytes:
		return AppendBytes(b, RawOf(value)), nil
	case TypeStruct, TypeEmpty:
		return AppendStruct(b, RawOf(value))
	case TypeValue:
		return AppendValue(b, RawOf(value))
	case TypeListValue:
		return AppendListValue(b, RawOf(value))
	case TypeMessage:
		return f.Of.table().append(b, pointerOf(f.Of, value))
	}
	return f.appendOne(b, unboxed(value))
}

// appendTagged appends a message as the case of its oneof is written.
func (t *Table) appendTagged(b []byte, number int, text string, value any) ([]byte, error) {
	switch f := t.taggedCase(number); {
	case f != nil:
		return f.Of.table().append(b, pointerOf(f.Of, value))
	case number == UnknownCase && HasTag(RawOf(value), t.Tagged.Tag, text):
		return AppendValue(b, RawOf(value))
	}
	return b, NoCase(t.casesOf(1)...)
}

// taggedCase is the row of a case, nil if the wire does not have it.
func (t *Table) taggedCase(number int) *Field {
	for i := range t.Fields {
		if int(t.Fields[i].Case) == number {
			return &t.Fields[i]
		}
	}
	return nil
}

// HasTag reports whether v is an object whose member tag is the string name.
func HasTag(v Value, tag, name string) bool {
	if v.Kind() != KindObject {
		return false
	}
	found, ok := Object(v).Get(tag)
	return ok && string(found) == string(AppendString(nil, name))
}

// writable reports whether the wire has the case of the message at x, so that a map can keep it.
func (t *Table) writable(x unsafe.Pointer) bool {
	if t.Tagged == nil {
		return true
	}
	if x == nil {
		return false
	}
	number, text, value := t.Oneofs[0].Case(x)
	return t.taggedCase(number) != nil || number == UnknownCase && HasTag(RawOf(value), t.Tagged.Tag, text)
}
