package wire

import (
	"slices"
	"unsafe"
)

// plan is a table in the form by which it is carried out: what a member takes is near to one another, and found out once, when
// the table is first used.
type plan struct {
	form  form
	steps []step   // of the fields
	names []string // of the fields that are read
	// required and absent are the first 64 fields that have to be there, or mean something when they are not.
	required, absent uint64
	// cases are the fields of each oneof: cases[i][n] is one more than the place of case n of oneof i, 0 if there is none.
	cases [][]uint16
}

// form is how a message is written.
type form uint8

const (
	formObject form = iota
	formCustom
	formBare
	formTagged
	formGroup
	formOrBare
)

// step is a field.
type step struct {
	size uint8 // of the key; 0 if it is too long
	do   do
	skip bool   // the member is left out if the word at test is zero
	must bool   // write it although it is not set
	more uint16 // further cases of the oneof
	test uint32
	at   uintptr
	of   *Table // of a message
	f    *Field
	key  [32]byte // the key as it is written, and a quote behind it
}

// do is what is done with a field.
type do uint8

const (
	doOther do = iota // what is less frequent
	doString
	doStrings
	doBool
	doEnum
	doStruct
	doMessage
	doMessages
	doOneof // the first case of a oneof
)

// noName is no name that JSON can have.
const noName = "\xff"

// ready is the plan of the table.
func (t *Table) ready() *plan {
	if p := t.plan.Load(); p != nil {
		return p
	}
	return t.prepare()
}

func (t *Table) prepare() *plan {
	p := &plan{steps: make([]step, len(t.Fields)), names: make([]string, len(t.Fields)), cases: make([][]uint16, len(t.Oneofs))}
	switch {
	case t.Custom != nil:
		p.form = formCustom
	case t.Bare:
		p.form = formBare
	case t.Tagged != nil:
		p.form = formTagged
	case t.Group != nil:
		p.form = formGroup
	case t.OrBare && len(t.Fields) > 0:
		p.form = formOrBare
	}
	for i := range t.Fields {
		f, s := &t.Fields[i], &p.steps[i]
		*s = step{do: f.do(), must: f.Flags&MustWrite != 0, at: f.At, f: f}
		if key := AppendKey(nil, f.Name); len(key) < len(s.key) {
			s.size = uint8(copy(s.key[:], key))
			s.key[s.size] = '"'
		}
		if f.Of != nil {
			s.of = f.Of.table()
		}
		s.test, s.skip = f.test()
		if p.names[i] = f.Name; f.Flags&WriteOnly != 0 {
			p.names[i] = noName
		}
		if i < perSeen && f.Flags&WriteOnly == 0 {
			p.required |= bit(f.Flags&MustRead != 0) << i
			p.absent |= bit(f.Flags&(Fallback|Filled) != 0 || f.Default != "") << i
		}
		if f.Oneof != 0 {
			cases := &p.cases[f.Oneof-1]
			if s.do = doOther; len(*cases) == 0 { // an interface begins with a word that is zero if it is nil
				o := &t.Oneofs[f.Oneof-1]
				s.do, s.test, s.skip = doOneof, uint32(o.At), !o.Needed
			}
			if len(*cases) > 0 {
				p.steps[slices.IndexFunc(t.Fields, func(o Field) bool { return o.Oneof == f.Oneof })].more++
			}
			for len(*cases) <= int(f.Case) {
				*cases = append(*cases, 0)
			}
			(*cases)[f.Case] = uint16(i + 1)
		}
	}
	t.plan.Store(p)
	return p
}

// caseOf is the step of a case, nil if there is none of its number.
func (p *plan) caseOf(oneof uint8, number int) *step {
	if cases := p.cases[oneof-1]; uint(number) < uint(len(cases)) && cases[number] > 0 {
		return &p.steps[cases[number]-1]
	}
	return nil
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// do is what is done with a field that is no case of a oneof.
func (f *Field) do() do {
	const special = ReadOnly | WriteOnly | MustSet | Filled | Created | Shared | Fallback
	if f.Shape == One && f.Type == TypeEnum && f.Into == nil && f.Flags&special&^MustSet == 0 {
		return doEnum
	}
	if f.Into != nil || f.Rewrite != nil || f.Container != nil || f.Least > 0 || f.Flags&special != 0 {
		if f.Type == TypeMessage && f.Shape == Listed && f.Into == nil && f.Flags&special == 0 {
			return doMessages
		}
		return doOther
	}
	switch {
	case f.Shape == One && f.Type == TypeString:
		return doString
	case f.Shape == Listed && f.Type == TypeString:
		return doStrings
	case f.Shape == One && f.Type == TypeBool:
		return doBool
	case f.Shape == One && f.Type == TypeStruct:
		return doStruct
	case f.Shape == One && f.Type == TypeMessage:
		return doMessage
	case f.Shape == Listed && f.Type == TypeMessage:
		return doMessages
	}
	return doOther
}

// test is the offset of a word that is zero if the member is to be left out; ok is false if that is not all there is to it.
func (f *Field) test() (offset uint32, ok bool) {
	const special = MustWrite | ReadOnly | MustSet | Nilable | Filled | Created
	if f.Oneof != 0 || f.Into != nil || f.Flags&special != 0 {
		return 0, false
	}
	return f.Type.Word(f.Shape, f.At)
}

// Word is the offset of a word of a message that is zero if a field of the type and shape at the offset at is not set, and
// not zero if it is; ok is false if there is none.
func (t Type) Word(shape Shape, at uintptr) (offset uint32, ok bool) {
	const length = unsafe.Sizeof(uintptr(0)) // of a string or list stands behind the pointer to what it has
	switch {
	case t >= TypeHook, shape == Nested:
		return 0, false
	case shape == Listed:
		return uint32(at + length), true
	case shape != One:
		return uint32(at), true
	}
	switch t {
	case TypeString, TypeBytes, TypeEnum, TypeStruct, TypeValue, TypeListValue, TypeEmpty, TypeFieldMask:
		return uint32(at + length), true
	case TypeMessage:
		return uint32(at), true
	}
	return 0, false
}

// appendKey appends a comma, the member's name and a colon.
func (s *step) appendKey(b []byte) []byte {
	if n := len(b); s.size > 0 && cap(b)-n >= len(s.key) {
		*(*[len(s.key)]byte)(b[n : n+len(s.key)]) = s.key // all of it, which is faster than what it takes
		return b[:n+int(s.size)]
	}
	return AppendKey(b, s.f.Name)
}

// expect reads the key if it is next, as it is written.
func (s *step) expect(r *Reader) bool {
	end := r.pos + int(s.size) - 1
	if s.size == 0 || end > len(r.src) || string(r.src[r.pos:end]) != string(s.key[1:s.size]) || s.f.Flags&WriteOnly != 0 {
		return false
	}
	r.pos = end
	return true
}

// appendText appends the member with a string: in one go if that is clean and there is room.
func (s *step) appendText(b []byte, text string) []byte {
	n, size := len(b), int(s.size)
	if size == 0 || cap(b)-n < len(s.key)+len(text)+1 {
		return AppendString(s.appendKey(b), text)
	}
	src := bytesOf(text)
	if !(len(src) <= shortText && isPlain(src)) {
		if end, high := span(src, 0); end != len(text) || high != 0 && !validUTF8(src) {
			return AppendString(s.appendKey(b), text)
		}
	}
	*(*[len(s.key)]byte)(b[n : n+len(s.key)]) = s.key
	b = b[:n+size+len(text)+2]
	copy(b[n+size+1:], text)
	b[len(b)-1] = '"'
	return b
}

// at is the place of a field in message x. Pointers are moved nowhere else.
func at(x unsafe.Pointer, offset uintptr) unsafe.Pointer { return unsafe.Add(x, offset) }
