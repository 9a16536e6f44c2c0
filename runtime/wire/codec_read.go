package wire

import (
	"slices"
	"time"
	"unsafe"
)

// perSeen is how many members one [Seen] holds.
const perSeen = 64

// read reads the message at x.
func (t *Table) read(r *Reader, x unsafe.Pointer) {
	p := t.ready()
	switch p.form {
	case formCustom:
		t.Custom.read(r, x)
	case formBare:
		t.Fields[0].readValue(r, at(x, t.Fields[0].At))
	case formTagged:
		t.readTagged(r, x)
	case formGroup:
		state := t.Group.start()
		t.readObject(r, x, p, state)
		for i := range t.Fields {
			if t.Fields[i].Type == TypeGroup {
				t.Group.finish(state, at(x, t.Fields[i].At))
				break
			}
		}
	case formOrBare:
		switch r.Kind() {
		case KindArray:
			t.Fields[0].readValue(r, at(x, t.Fields[0].At))
		case KindNull:
			r.Null()
		default:
			t.readObject(r, x, p, nil)
		}
	default:
		t.readObject(r, x, p, nil)
	}
}

// readObject reads the members of x. state is that of the group, if there is one.
func (t *Table) readObject(r *Reader, x unsafe.Pointer, p *plan, state any) {
	var few [1]Seen
	seen := few[:]
	if len(p.steps) > perSeen {
		seen = make([]Seen, (len(p.steps)+perSeen-1)/perSeen)
	}
	oneofs, next := uint64(0), 0
	var extra Extra
	for ok := r.openObject(); ok; ok = r.nextMember() {
		i := next
		if i >= len(p.steps) || !p.steps[i].expect(r) {
			key, ok := r.key()
			if !ok {
				break
			}
			if i = t.find(p, key, next); i < 0 {
				if len(t.Oneofs) == 1 && t.Oneofs[0].Open {
					r.UnknownCase(key, &extra)
				} else {
					r.Unknown(key)
				}
				continue
			}
		}
		next = i + 1
		s := &p.steps[i]
		met, bit := &seen[i/perSeen], uint64(1)<<(i%perSeen)
		if met.names&bit == 0 && r.pos < len(r.src) && r.src[r.pos] > ' ' && r.src[r.pos] != 'n' {
			met.names, met.values = met.names|bit, met.values|bit // as admit does it
		} else if !s.f.admit(r, met, uint(i%perSeen)) {
			continue
		}
		v := at(x, s.at)
		switch s.do {
		case doString:
			*(*string)(v) = r.String()
		case doBool:
			*(*bool)(v) = r.Bool()
		case doEnum:
			start := r.Offset()
			name := s.f.Enum.read(r)
			if *(*string)(v) = name; name == "" && s.f.Flags&MustSet != 0 { // an unspecified value is no value at all (A2A 1.0 §5.7)
				r.FailAt(start, "required, but unspecified")
			}
		case doStrings:
			*(*[]string)(v) = r.Strings()
		case doStruct:
			*(*Object)(v) = r.Struct()
		case doMessage:
			m := s.f.Of.fresh()
			*(*unsafe.Pointer)(v) = m
			s.of.read(r, m)
		default:
			switch {
			case s.f.Oneof != 0:
				if r.only(&oneofs, s.f.Oneof) {
					o := &t.Oneofs[s.f.Oneof-1]
					s.f.readCase(r, o.Of, at(x, o.At))
				}
			case s.f.Type == TypeGroup:
				t.Group.read(state, r, s.f.Name)
			default:
				s.f.read(r, x)
			}
		}
	}
	if r.err != nil {
		return
	}
	if len(p.steps) > perSeen || (p.required|p.absent)&^seen[0].values != 0 {
		if !t.finish(r, x, seen) {
			return
		}
	}
	for i := range t.Oneofs {
		if oneofs>>(i+1)&1 == 0 {
			t.finishOneof(r, x, i, &extra)
		}
	}
}

// find is the index of the member called key, -1 if there is none. Members mostly come in order: the search starts at next.
func (t *Table) find(p *plan, key []byte, next int) int {
	for i := next; i < len(p.names); i++ {
		if p.names[i] == string(key) {
			return i
		}
	}
	for i, name := range p.names {
		if name == string(key) {
			return i
		}
	}
	for i := range t.Fields {
		for _, alias := range t.Fields[i].Aliases {
			if alias == string(key) {
				return i
			}
		}
	}
	return -1
}

// finish sees to the members that were not there.
func (t *Table) finish(r *Reader, x unsafe.Pointer, seen []Seen) bool {
	for i := range t.Fields {
		f := &t.Fields[i]
		switch {
		case seen[i/perSeen].Has(uint(i%perSeen)) || f.Flags&WriteOnly != 0:
		case f.Flags&MustRead != 0:
			r.failMember(r.pos-1, f.Name, "required, but missing")
			return false
		case f.Flags&(Fallback|Filled) != 0 || f.Default != "":
			f.absent(f.outer(x))
		}
	}
	return true
}

// finishOneof sees to a oneof of which no case was read: the only unknown member may be one.
func (t *Table) finishOneof(r *Reader, x unsafe.Pointer, i int, extra *Extra) {
	o := &t.Oneofs[i]
	p := at(x, o.At)
	if number, _, _ := o.Of.get(p); number != 0 {
		return
	}
	if name, value, ok := extra.Case(); ok && o.Open {
		o.Of.set(p, UnknownCase, name, value, nil)
	} else if o.Needed {
		r.NoCase(t.casesOf(uint8(i + 1))...)
	}
}

// admit notes the member and reports whether there is a value to read.
func (f *Field) admit(r *Reader, s *Seen, bit uint) bool {
	switch {
	case f.Flags&NullEmpty != 0:
		return r.fieldOrEmpty(s, bit)
	case f.Flags&NullValue != 0:
		return r.fieldOrNull(s, bit)
	}
	return r.Field(s, bit)
}

// only notes a case of a oneof and reports whether it is the first.
func (r *Reader) only(oneofs *uint64, oneof uint8) bool {
	free := *oneofs>>oneof&1 == 0
	*oneofs |= 1 << oneof
	return r.Only(free)
}

// outer is the message that has the field: x, or a message in it, which is made if there is none.
func (f *Field) outer(x unsafe.Pointer) unsafe.Pointer {
	if f.Into == nil {
		return x
	}
	return made(at(x, f.Into.At), f.Into.Of)
}

// made is the message that the field at p points to, a new one if there is none.
func made(p unsafe.Pointer, of Message) unsafe.Pointer {
	m := (*unsafe.Pointer)(p)
	if *m == nil {
		*m = of.fresh()
	}
	return *m
}

// absent reads the field of message x without a value.
func (f *Field) absent(x unsafe.Pointer) {
	p := at(x, f.At)
	switch {
	case f.Flags&Fallback != 0:
		f.Hook.absent(p)
	case f.Flags&Filled != 0:
		var r Reader
		r.Reset([]byte("{}"))
		f.readOne(&r, p)
	default:
		*(*string)(p) = f.Default
	}
}

// read reads the value of the member of message x.
func (f *Field) read(r *Reader, x unsafe.Pointer) {
	if f.Shape == Nested {
		f.Of.table().read(r, x)
		return
	}
	x = f.outer(x)
	p := at(x, f.At)
	switch {
	case f.Type == TypeHook:
		f.Hook.read(r, p, at(x, f.With))
	case f.Rewrite != nil:
		r.Reread(r.Offset(), f.Rewrite.Read(r), func(r *Reader) { f.readValue(r, p) })
	case f.Shape == Pointer:
		value, _ := f.Type.Fresh()
		f.readOne(r, value)
		if f.Flags&Implicit == 0 || f.isSet(value) {
			*(*unsafe.Pointer)(p) = value
		}
	case f.Flags&Shared != 0:
		f.Of.table().read(r, made(p, f.Of))
	default:
		f.readValue(r, p)
	}
}

// readValue reads the value at p, and checks how long a list is.
func (f *Field) readValue(r *Reader, p unsafe.Pointer) {
	if f.Shape == One {
		f.readOne(r, p)
		return
	}
	start, n := 0, 0
	if f.Least > 0 {
		start = r.Offset()
	}
	switch {
	case f.Container != nil:
		n = f.Container.read(r, f, p)
	case f.Type == TypeMessage:
		n = readList(r, f.Of, p)
	case f.Type == TypeEnum:
		var list []string
		for ok := r.Array(); ok; ok = r.Elem() {
			list = append(list, f.Enum.read(r))
		}
		*(*[]string)(p), n = list, len(list)
	default:
		list := r.Strings()
		*(*[]string)(p), n = list, len(list)
	}
	r.minItems(start, n, int(f.Least))
}

// readOne reads the single value at p.
func (f *Field) readOne(r *Reader, p unsafe.Pointer) {
	switch f.Type {
	case TypeString:
		*(*string)(p) = r.String()
	case TypeBool:
		*(*bool)(p) = r.Bool()
	case TypeInt32:
		*(*int32)(p) = r.Int32()
	case TypeInt64, TypeInteger:
		*(*int64)(p) = r.Int64()
	case TypeUint32:
		*(*uint32)(p) = r.Uint32()
	case TypeUint64:
		*(*uint64)(p) = r.Uint64()
	case TypeFloat:
		*(*float32)(p) = r.Float32()
	case TypeDouble:
		*(*float64)(p) = r.Float64()
	case TypeBytes:
		*(*[]byte)(p) = r.Bytes()
	case TypeTimestamp:
		*(*time.Time)(p) = r.Timestamp()
	case TypeDuration:
		*(*Duration)(p) = r.Duration()
	case TypeStruct, TypeEmpty:
		*(*Object)(p) = r.Struct()
	case TypeValue:
		*(*Value)(p) = r.Value()
	case TypeListValue:
		*(*Value)(p) = r.ListValue()
	case TypeNull:
		r.NullValue()
	case TypeFieldMask:
		*(*FieldMask)(p) = r.FieldMask()
	case TypeEnum:
		*(*string)(p) = f.Enum.read(r)
	case TypeMessage:
		m := f.Of.fresh()
		*(*unsafe.Pointer)(p) = m
		f.Of.table().read(r, m)
	default:
		f.Hook.read(r, p, nil)
	}
}

// readCase reads the value of a case of the oneof at to.
func (f *Field) readCase(r *Reader, of union, to unsafe.Pointer) {
	var text string
	var raw []byte
	var pointer any
	switch f.Type {
	case TypeString:
		text = r.String()
	case TypeEnum:
		text = f.Enum.read(r)
	case TypeBytes:
		raw = r.Bytes()
	case TypeStruct, TypeEmpty:
		raw = r.Struct()
	case TypeValue:
		raw = r.Value()
	case TypeListValue:
		raw = r.ListValue()
	case TypeMessage:
		m := f.Of.fresh()
		f.Of.table().read(r, m)
		pointer = f.Of.boxed(m)
	default:
		var p unsafe.Pointer
		p, pointer = f.Type.Fresh()
		f.readOne(r, p)
	}
	of.set(to, int(f.Case), text, raw, pointer)
}

// readTagged reads message x by the tag of its oneof, or by its shape where there is none (T38).
func (t *Table) readTagged(r *Reader, x unsafe.Pointer) {
	o := &t.Oneofs[0]
	i, tag := r.findCase(t.Tagged)
	if i < 0 {
		o.Set(x, UnknownCase, tag, r.Value(), nil)
		return
	}
	t.Fields[i].readCase(r, o.Of, at(x, o.At))
}

// findCase finds which case the next value is, without reading it: by the tag (the first of its names that is there wins), or if
// there is none by its shape. i is -1 if it is none of them; tag is then the tag that was found. A value that is no object
// is a failure.
func (r *Reader) findCase(t *Tagged) (i int, tag string) {
	start, mark := r.Offset(), r.Mark()
	members := make([]string, 0, 8)
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		if (t.Tag == string(key) || slices.Contains(t.Aliases, string(key))) && r.Kind() == KindString {
			if tag = r.String(); tag != "" {
				break // the codec of the case reads the rest
			}
			continue
		}
		if r.Kind() != KindNull {
			members = append(members, string(key))
		}
		r.Skip()
	}
	if r.err != nil {
		return -1, ""
	}
	r.Rewind(mark)
	for i, c := range t.Cases {
		missing := func(name string) bool { return !slices.Contains(members, name) }
		if tag != "" && c.Tag == tag || tag == "" && len(c.Shape) > 0 && !slices.ContainsFunc(c.Shape, missing) {
			return i, tag
		}
	}
	if tag == "" {
		r.FailAt(start, "neither a tag nor the members of something known")
	}
	return -1, tag
}

// listSize is the capacity of a list of several messages to start with.
const listSize = 4

// readList reads a list of messages. Most have one, which is allocated with its list; further ones come in growing blocks,
// which wait behind the end of the list.
func readList(r *Reader, of Message, p unsafe.Pointer) int {
	t, list := of.table(), []unsafe.Pointer(nil)
	for ok := r.Array(); ok; ok = r.Elem() {
		n := len(list)
		switch {
		case n == 0:
			list = of.single()
		case n == cap(list):
			list = append(make([]unsafe.Pointer, 0, max(2*n, listSize)), list...)
		}
		list = list[:n+1]
		if list[n] == nil {
			of.block(list[n : n+min(BlockSize(n), cap(list)-n)])
		}
		t.read(r, list[n])
	}
	*(*[]unsafe.Pointer)(p) = list
	return len(list)
}
