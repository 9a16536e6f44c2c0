package proto

import (
	"reflect"
	"time"
	"unsafe"

	"github.com/a2agen/a2agen/runtime/wire"
)

// write writes the content of the message at x.
func (t *Table) write(w *Writer, x unsafe.Pointer) error {
	if x == nil {
		return wire.NotSet()
	}
	if t.Custom != nil {
		return t.Custom.write(w, x)
	}
	p := t.ready()
	for i := 0; i < len(p.steps); i++ {
		s := &p.steps[i]
		if s.skip && *(*uintptr)(at(x, s.test)) == 0 {
			i += int(s.more)
			continue
		}
		v := at(x, s.at)
		var err error
		switch s.do {
		case doString:
			w.String(s.tag, *(*string)(v))
			continue
		case doStrings:
			for _, text := range *(*[]string)(v) {
				w.String(s.tag, text)
			}
			continue
		case doBool:
			if *(*bool)(v) || s.must {
				w.Bool(s.tag, *(*bool)(v))
			}
			continue
		case doEnum:
			err = s.f.writeEnum(w, s.tag, *(*string)(v))
		case doStruct:
			err = w.Struct(s.tag, *(*wire.Object)(v))
		case doTimestamp:
			if *(*time.Time)(v) != (time.Time{}) || s.must {
				err = w.Timestamp(s.tag, *(*time.Time)(v))
			} else if s.f.Flags&wire.MustSet != 0 {
				err = wire.NotSet()
			}
		case doMessage:
			err = s.of.writeInner(w, s.tag, *(*unsafe.Pointer)(v))
		case doMessages:
			list := *(*[]unsafe.Pointer)(v)
			if len(list) < int(s.f.Least) {
				err = wire.TooFew(int(s.f.Least))
				break
			}
			for i, m := range list {
				if err = s.of.writeInner(w, s.tag, m); err != nil {
					err = wire.At(err, i)
					break
				}
			}
		case doOneof:
			i += int(s.more)
			number, text, value := t.Oneofs[s.f.Oneof-1].Case(x)
			if c := p.caseOf(s.f.Oneof, number); c != nil && c.f.Type == wire.TypeString && c.f.Form == 0 {
				w.String(c.tag, text)
			} else if err = t.writeOneof(w, s.f.Oneof, c, number, text, value); err != nil {
				return err
			}
			continue
		default:
			err = t.writeField(w, x, s)
		}
		if err != nil {
			return wire.In(err, s.f.Name)
		}
	}
	return nil
}

// writeInner writes a message inside another one.
func (t *Table) writeInner(w *Writer, tag uint32, x unsafe.Pointer) error {
	m := w.Begin(tag)
	if err := t.write(w, x); err != nil {
		return err
	}
	w.End(m)
	return nil
}

// writeField writes a field of message x, if it is to be written.
func (t *Table) writeField(w *Writer, x unsafe.Pointer, s *step) error {
	f := s.f
	if f.Into != nil {
		if x = *(*unsafe.Pointer)(at(x, f.Into.At)); x == nil {
			return nil
		}
	}
	p := at(x, f.At)
	switch {
	case f.Type == wire.TypeGroup:
		t.Group.write(w, s.tag, p, f.Name)
		return nil
	case f.Shape == wire.Nested:
		return s.of.writeInner(w, s.tag, x)
	case f.Type == wire.TypeHook:
		return f.Hook.write(w, s.tag, p, at(x, f.With))
	case f.Shape == wire.Listed, f.Shape == wire.Mapped:
		return s.writeMany(w, p)
	case f.Shape == wire.Pointer:
		p = *(*unsafe.Pointer)(p)
		if set := p != nil && (f.Flags&wire.Implicit == 0 || f.isSet(p)); !set && f.Flags&wire.MustSet == 0 {
			return nil
		} else if !set {
			return wire.NotSet()
		}
	case f.Type == wire.TypeMessage: // one that may be missing
		m := (*unsafe.Pointer)(p)
		if *m == nil {
			fresh := f.Of.fresh()
			m = &fresh
		}
		return s.of.writeInner(w, s.tag, *m)
	case !s.must && !f.isSet(p):
		return nil
	}
	return f.writeOne(w, s.tag, p)
}

// writeMany writes a list or a map: a field an element, or one field with all of them.
func (s *step) writeMany(w *Writer, p unsafe.Pointer) error {
	f := s.f
	if n := f.length(p); n < int(f.Least) {
		return wire.TooFew(int(f.Least))
	} else if n == 0 {
		return nil
	}
	switch {
	case f.Shape == wire.Mapped:
		return f.Container.write(w, f, s.tag, p)
	case s.packed != 0 && f.Form&Expanded == 0:
		m := w.Begin(s.packed)
		err := f.writeElems(w, 0, p)
		w.End(m)
		return err
	}
	return f.writeElems(w, s.tag, p)
}

func (f *Field) writeElems(w *Writer, tag uint32, p unsafe.Pointer) error {
	if f.Container != nil {
		return f.Container.write(w, f, tag, p)
	}
	list := *(*[]string)(p)
	for i := range list {
		if err := f.writeOne(w, tag, unsafe.Pointer(&list[i])); err != nil {
			return wire.At(err, i)
		}
	}
	return nil
}

// length is the number of elements in the list or map at p.
func (f *Field) length(p unsafe.Pointer) int {
	if f.Shape == wire.Mapped {
		return f.Container.length(p)
	}
	return len(*(*[]struct{})(p)) // slices of all types have their length in one place
}

// isSet reports whether the single value at p is there.
func (f *Field) isSet(p unsafe.Pointer) bool {
	if f.Flags&(wire.Implicit|wire.Nilable) != 0 {
		return f.Type.IsSet(p, f.Flags&wire.Nilable != 0)
	}
	return notZero(f.Type, p)
}

// notZero reports whether the value at p is another one than protobuf's zero value. Negative zero is.
func notZero(t wire.Type, p unsafe.Pointer) bool {
	switch t {
	case wire.TypeFloat:
		return *(*uint32)(p) != 0
	case wire.TypeDouble:
		return *(*uint64)(p) != 0
	}
	return t.IsSet(p, false)
}

// writeEnum writes an enum value. Number zero is left out.
func (f *Field) writeEnum(w *Writer, tag uint32, name string) error {
	must := f.Flags&wire.MustSet != 0
	if name == "" && must && f.Default != "" {
		return wire.NotSet()
	}
	switch n, err := f.Enum.NumberOf(name); {
	case err != nil:
		return err
	case n != 0:
		w.Int32(tag, n)
	case must && f.Default == "":
		return wire.NotSet()
	}
	return nil
}

// writeOne writes the single value at p, whatever it is.
func (f *Field) writeOne(w *Writer, tag uint32, p unsafe.Pointer) error {
	if f.Form&Wrapped != 0 {
		m := w.Begin(tag)
		if notZero(f.Type, p) {
			w.scalar(1<<3|wireType(f.Type, 0), f.Type, 0, p)
		}
		w.End(m)
		return nil
	}
	switch f.Type {
	case wire.TypeMessage:
		return f.Of.table().writeInner(w, tag, *(*unsafe.Pointer)(p))
	case wire.TypeEnum:
		n, err := f.Enum.NumberOf(*(*string)(p))
		if err != nil {
			return err
		}
		w.Int32(tag, n)
	case wire.TypeTimestamp:
		return w.Timestamp(tag, *(*time.Time)(p))
	case wire.TypeDuration:
		return w.Duration(tag, *(*wire.Duration)(p))
	case wire.TypeStruct:
		return w.Struct(tag, *(*wire.Object)(p))
	case wire.TypeEmpty:
		return w.Empty(tag, *(*wire.Object)(p))
	case wire.TypeValue:
		return w.Value(tag, *(*wire.Value)(p))
	case wire.TypeListValue:
		return w.ListValue(tag, *(*wire.Value)(p))
	case wire.TypeFieldMask:
		w.FieldMask(tag, *(*wire.FieldMask)(p))
	case wire.TypeAny:
		return f.Hook.write(w, tag, p, nil)
	default:
		w.scalar(tag, f.Type, f.Form, p)
	}
	return nil
}

// scalar writes the scalar at p.
func (w *Writer) scalar(tag uint32, t wire.Type, form Form, p unsafe.Pointer) {
	switch t {
	case wire.TypeString:
		if form&Unchecked != 0 {
			w.delimited(tag, *(*string)(p))
		} else {
			w.String(tag, *(*string)(p))
		}
	case wire.TypeBytes:
		w.Bytes(tag, *(*[]byte)(p))
	case wire.TypeBool:
		w.Bool(tag, *(*bool)(p))
	case wire.TypeInt32, wire.TypeUint32:
		switch x := *(*uint32)(p); {
		case form&Fixed != 0:
			w.fixed32(tag, x)
		case form&ZigZag != 0:
			w.varint(tag, uint64(x<<1^uint32(int32(x)>>31)))
		case t == wire.TypeInt32:
			w.Int32(tag, int32(x))
		default:
			w.varint(tag, uint64(x))
		}
	case wire.TypeInt64, wire.TypeUint64:
		switch x := *(*uint64)(p); {
		case form&Fixed != 0:
			w.fixed64(tag, x)
		case form&ZigZag != 0:
			w.varint(tag, x<<1^uint64(int64(x)>>63))
		default:
			w.varint(tag, x)
		}
	case wire.TypeFloat:
		w.fixed32(tag, *(*uint32)(p))
	case wire.TypeDouble:
		w.fixed64(tag, *(*uint64)(p))
	case wire.TypeNull:
		w.varint(tag, 0)
	}
}

// writeOneof writes the case that is set, whatever its value (T53). c is its step, nil if the wire does not have it.
func (t *Table) writeOneof(w *Writer, oneof uint8, c *step, number int, text string, value any) error {
	if c != nil {
		err := c.writeCase(w, text, value)
		if err != nil {
			err = wire.In(err, c.f.Name)
		}
		return err
	}
	switch o := &t.Oneofs[oneof-1]; {
	case o.Strict && number == wire.UnknownCase:
		return w.Unknown(text, wire.RawOf(value))
	case o.Needed:
		return wire.NoCase(t.casesOf(oneof)...)
	}
	return nil
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

// writeCase writes the value of a case.
func (s *step) writeCase(w *Writer, text string, value any) error {
	f := s.f
	switch f.Type {
	case wire.TypeMessage:
		return s.of.writeInner(w, s.tag, pointerOf(f.Of, value))
	case wire.TypeString, wire.TypeEnum:
		return f.writeText(w, s.tag, text)
	case wire.TypeValue:
		return w.Value(s.tag, wire.RawOf(value))
	case wire.TypeBytes, wire.TypeStruct, wire.TypeEmpty, wire.TypeListValue:
		return f.writeRaw(w, s.tag, wire.RawOf(value))
	}
	return f.writeOne(w, s.tag, unboxed(value))
}

func (f *Field) writeRaw(w *Writer, tag uint32, raw []byte) error {
	return f.writeOne(w, tag, unsafe.Pointer(&raw))
}

func (f *Field) writeText(w *Writer, tag uint32, text string) error {
	return f.writeOne(w, tag, unsafe.Pointer(&text))
}

// unboxed is the pointer that boxed is.
func unboxed(boxed any) unsafe.Pointer { return reflect.ValueOf(boxed).UnsafePointer() }
