package proto

import (
	"time"
	"unsafe"

	"github.com/a2agen/a2agen/runtime/wire"
)

// read reads the content of a message into the one at x, which may hold an earlier piece of it. A field given several times
// is merged as protobuf says: the last scalar counts, messages are read into one another, lists grow.
func (t *Table) read(r *Reader, x unsafe.Pointer) {
	if t.Custom != nil {
		t.Custom.read(r, x)
		return
	}
	p := t.ready()
	var extra Extra
	var state any
	if t.Group != nil {
		state = t.Group.start()
	}
	oneofs := uint64(0) // of which a case was read
	for tag := r.Tag(); tag != 0; tag = r.Tag() {
		s := p.step(tag >> 3)
		switch {
		case s == nil || tag != s.in && tag != s.packed:
			if p.open {
				r.UnknownCase(tag, &extra)
			} else {
				r.Skip(tag)
			}
		default:
			v := at(x, s.at)
			switch s.do {
			case doString:
				*(*string)(v) = r.String()
			case doStrings:
				list := append(*(*[]string)(v), r.String())
				*(*[]string)(v) = list
				r.elem(len(list) - 1)
			case doBool:
				*(*bool)(v) = r.Bool()
			case doEnum:
				*(*string)(v) = s.f.Enum.Numbered(r.Int32())
			case doStruct:
				*(*wire.Object)(v) = r.Struct(*(*wire.Object)(v))
			case doTimestamp:
				*(*time.Time)(v) = r.Timestamp(*(*time.Time)(v))
			case doMessage:
				s.of.readInner(r, tag, 1, s.made(v))
			case doMessages:
				m, i := add(s.f.Of, v)
				s.of.readInner(r, tag, 2, m)
				r.elem(i)
			case doCase, doOneof:
				oneofs |= 1 << s.f.Oneof
				s.readCase(r, tag, &t.Oneofs[s.f.Oneof-1], x)
			default:
				if s.f.Type == wire.TypeGroup {
					t.Group.read(state, r, s.f.Name)
				} else {
					s.read(r, tag, x)
				}
			}
		}
		if r.err != nil {
			if s != nil {
				r.In(s.f.Name)
			}
			return
		}
	}
	for i := range p.lacking {
		if l := &p.lacking[i]; !l.quick || *(*uintptr)(at(x, l.test)) == 0 {
			l.step.lacks(r, x)
		}
	}
	if p.ends {
		t.finishOneofs(r, x, oneofs, &extra)
	}
	if t.Group != nil {
		for i := range t.Fields {
			if t.Fields[i].Type == wire.TypeGroup {
				t.Group.finish(state, at(x, t.Fields[i].At))
				break
			}
		}
	}
}

// readInner reads a message that is inside another one, as many levels deeper as JSON has it.
func (t *Table) readInner(r *Reader, tag uint32, levels int, x unsafe.Pointer) {
	var m mark
	if tag&7 == groupType {
		m = r.EnterGroup(tag, levels)
	} else {
		m = r.Enter(levels)
	}
	t.read(r, x)
	r.Leave(m)
}

// made is the message that the field at p points to: a new one, with what absence means for its fields, if there is none.
func (s *step) made(p unsafe.Pointer) unsafe.Pointer {
	m := (*unsafe.Pointer)(p)
	if *m == nil {
		*m = s.f.Of.fresh()
		if s.fallback {
			for i := range s.of.Fields {
				if f := &s.of.Fields[i]; f.Flags&wire.Fallback != 0 {
					f.Hook.absent(at(*m, f.At))
				}
			}
		}
	}
	return *m
}

// lacks sees to a field of message x that nothing has set.
func (s *step) lacks(r *Reader, x unsafe.Pointer) {
	f, p := s.f, at(x, s.at)
	switch {
	case f.Flags&wire.Filled != 0:
		s.made(p)
	case f.Default != "":
		if name := (*string)(p); *name == "" {
			*name = f.Default
		}
	case f.Least > 0:
		if f.length(p) < int(f.Least) {
			r.Incomplete()
		}
	case f.Shape == wire.Pointer && *(*unsafe.Pointer)(p) == nil, f.Shape == wire.One && !f.isSet(p):
		r.Incomplete()
	}
}

// finishOneofs sees to the oneofs of which no case was read, neither in this piece nor in an earlier one: the only unknown
// field may be one.
func (t *Table) finishOneofs(r *Reader, x unsafe.Pointer, read uint64, extra *Extra) {
	for i := range t.Oneofs {
		o := &t.Oneofs[i]
		if read>>(i+1)&1 != 0 {
			continue
		}
		if number, _, _ := o.Case(x); number != 0 {
			continue
		}
		if name, value, ok := extra.Case(); ok && o.Open {
			o.Set(x, wire.UnknownCase, name, value, nil)
		} else if o.Needed {
			r.Incomplete()
		}
	}
}

// read reads a field of message x that is no case of a oneof.
func (s *step) read(r *Reader, tag uint32, x unsafe.Pointer) {
	f := s.f
	if f.Shape == wire.Nested {
		s.of.readInner(r, tag, 1, x)
		return
	}
	if f.Into != nil {
		outer := (*unsafe.Pointer)(at(x, f.Into.At))
		if *outer == nil {
			*outer = f.Into.Of.fresh()
		}
		x = *outer
	}
	p := at(x, f.At)
	switch {
	case f.Type == wire.TypeHook:
		f.Hook.read(r, p, at(x, f.With))
	case f.Shape == wire.Mapped:
		f.Container.read(r, f, tag, p)
	case f.Shape == wire.Listed && tag == s.packed:
		m := r.Enter(0)
		for r.pos < r.end {
			f.readElem(r, s.tag, p)
		}
		r.Leave(m)
	case f.Shape == wire.Listed:
		f.readElem(r, tag, p)
	case f.Shape == wire.Pointer:
		q := (*unsafe.Pointer)(p)
		if *q == nil {
			*q, _ = f.Type.Fresh()
		}
		if f.readOne(r, tag, *q); f.Flags&wire.Implicit != 0 && !f.isSet(*q) {
			*q = nil
		}
	case f.Type == wire.TypeMessage:
		s.of.readInner(r, tag, 1, s.made(p))
	default:
		f.readOne(r, tag, p)
	}
}

// readElem reads an element of a list that is no message.
func (f *Field) readElem(r *Reader, tag uint32, p unsafe.Pointer) {
	if f.Container != nil {
		f.Container.read(r, f, tag, p)
		return
	}
	list := append(*(*[]string)(p), "")
	f.readOne(r, tag, unsafe.Pointer(&list[len(list)-1]))
	r.elem(len(list) - 1)
	*(*[]string)(p) = list
}

// readOne reads the single value at p, which has the value so far.
func (f *Field) readOne(r *Reader, tag uint32, p unsafe.Pointer) {
	switch {
	case f.Type == wire.TypeMessage:
		f.Of.table().readInner(r, tag, 1, *(*unsafe.Pointer)(p))
	case f.Form&Delimited != 0:
		r.Group(tag, func() { f.readLong(r, p) })
	default:
		f.readLong(r, p)
	}
}

// readLong is readOne for what is no message of the definition and has its length in front of it, if any.
func (f *Field) readLong(r *Reader, p unsafe.Pointer) {
	if f.Form&Wrapped != 0 {
		f.readWrapped(r, p)
		return
	}
	switch f.Type {
	case wire.TypeEnum:
		*(*string)(p) = f.Enum.Numbered(r.Int32())
	case wire.TypeTimestamp:
		*(*time.Time)(p) = r.Timestamp(*(*time.Time)(p))
	case wire.TypeDuration:
		*(*wire.Duration)(p) = r.Duration(*(*wire.Duration)(p))
	case wire.TypeStruct:
		*(*wire.Object)(p) = r.Struct(*(*wire.Object)(p))
	case wire.TypeEmpty:
		*(*wire.Object)(p) = r.Empty()
	case wire.TypeValue:
		*(*wire.Value)(p) = r.Value(*(*wire.Value)(p))
	case wire.TypeListValue:
		*(*wire.Value)(p) = r.ListValue(*(*wire.Value)(p))
	case wire.TypeFieldMask:
		*(*wire.FieldMask)(p) = r.FieldMask(*(*wire.FieldMask)(p))
	case wire.TypeAny:
		f.Hook.read(r, p, nil)
	default:
		r.scalar(f.Type, f.Form, p)
	}
}

// readWrapped reads a scalar that is the only field of a message.
func (f *Field) readWrapped(r *Reader, p unsafe.Pointer) {
	inner := 1<<3 | wireType(f.Type, 0)
	if f.Type == wire.TypeBytes { // they are set, so they are not nil
		*(*[]byte)(p) = append([]byte{}, *(*[]byte)(p)...)
	}
	m := r.Enter(0)
	for tag := r.Tag(); tag != 0; tag = r.Tag() {
		if tag == inner {
			r.scalar(f.Type, 0, p)
		} else {
			r.Skip(tag)
		}
	}
	r.Leave(m)
}

// scalar reads a scalar into the one at p.
func (r *Reader) scalar(t wire.Type, form Form, p unsafe.Pointer) {
	switch t {
	case wire.TypeString:
		if form&Unchecked != 0 {
			*(*string)(p) = stringOf(r.keep(r.delimited()))
		} else {
			*(*string)(p) = r.String()
		}
	case wire.TypeBytes:
		*(*[]byte)(p) = r.Bytes()
	case wire.TypeBool:
		*(*bool)(p) = r.Bool()
	case wire.TypeInt32, wire.TypeUint32:
		x := (*uint32)(p)
		switch {
		case form&Fixed != 0:
			*x = r.fixed32()
		case form&ZigZag != 0:
			n := uint32(r.varint())
			*x = n>>1 ^ -(n & 1)
		default:
			*x = uint32(r.varint())
		}
	case wire.TypeInt64, wire.TypeUint64:
		x := (*uint64)(p)
		switch {
		case form&Fixed != 0:
			*x = r.fixed64()
		case form&ZigZag != 0:
			n := r.varint()
			*x = n>>1 ^ -(n & 1)
		default:
			*x = r.varint()
		}
	case wire.TypeFloat:
		*(*uint32)(p) = r.fixed32()
	case wire.TypeDouble:
		*(*uint64)(p) = r.fixed64()
	case wire.TypeNull:
		r.varint()
	}
}

// readCase reads the value of a case: the last one counts, and pieces of the same one are merged.
func (s *step) readCase(r *Reader, tag uint32, o *wire.Oneof, x unsafe.Pointer) {
	f := s.f
	if f.Type == wire.TypeString && f.Form == 0 {
		o.Set(x, int(f.Case), r.String(), nil, nil)
		return
	}
	var text string
	var old any
	if *(*uintptr)(at(x, o.At)) != 0 { // there is a case
		number := 0
		if number, text, old = o.Case(x); number != int(f.Case) {
			text, old = "", nil
		}
	}
	switch f.Type {
	case wire.TypeMessage:
		m := unsafe.Pointer(nil)
		if old != nil {
			m = pointerOf(f.Of, old)
		}
		if m == nil {
			m = f.Of.fresh()
			o.Set(x, int(f.Case), "", nil, f.Of.boxed(m))
		}
		s.of.readInner(r, tag, 1, m)
	case wire.TypeString, wire.TypeEnum:
		o.Set(x, int(f.Case), f.readText(r, tag, text), nil, nil)
	case wire.TypeBytes, wire.TypeStruct, wire.TypeEmpty, wire.TypeValue, wire.TypeListValue:
		var raw []byte
		if old != nil {
			raw = wire.RawOf(old)
		}
		o.Set(x, int(f.Case), "", f.readRaw(r, tag, raw), nil)
	default:
		if old == nil {
			_, old = f.Type.Fresh()
		}
		f.readOne(r, tag, unboxed(old))
		o.Set(x, int(f.Case), "", nil, old)
	}
}

func (f *Field) readText(r *Reader, tag uint32, text string) string {
	f.readOne(r, tag, unsafe.Pointer(&text))
	return text
}

func (f *Field) readRaw(r *Reader, tag uint32, raw []byte) []byte {
	if f.Type == wire.TypeValue && f.Form == 0 {
		return r.Value(raw)
	}
	f.readOne(r, tag, unsafe.Pointer(&raw))
	return raw
}
