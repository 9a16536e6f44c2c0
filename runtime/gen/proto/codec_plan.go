package proto

import (
	"slices"
	"unsafe"

	"github.com/a2agen/a2agen/runtime/wire"
)

// plan is a table in the form by which it is carried out, made when the table is first used.
type plan struct {
	steps []step // of the fields
	// low has the place of a field, plus one, by its number where that is small, and high where it is not.
	low  [lowNumbers]uint16
	high map[uint32]uint16
	// lacking are the fields for which it means something, or is refused, that nothing has set them in the end.
	lacking []lack
	// ends: a oneof of which no case is set means something. open: an unknown field may be a case.
	ends, open bool
	// fallback: there are fields whose hook says what a missing one is read as.
	fallback bool
	// cases are the fields of each oneof: cases[i][n] is one more than the place of case n of oneof i, 0 if there is none.
	cases [][]uint16
}

// lowNumbers is more than the numbers of most messages.
const lowNumbers = 32

// step is a field.
type step struct {
	tag      uint32 // with the wire type of an element
	in       uint32 // the tag as it is read, 0 if the field is not
	packed   uint32 // the tag of a list with all elements in one field, 0 if it cannot have that
	do       do
	skip     bool   // the field is left out if the word at test is zero
	must     bool   // write it although it is zero
	fallback bool   // of has fields with fallbacks
	more     uint16 // further cases of the oneof
	at       uint32
	test     uint32
	of       *Table // of a message
	f        *Field
}

// lack is a field that is looked at in the end. quick: it is set if the word at test is not zero.
type lack struct {
	step  *step
	test  uint32
	quick bool
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
	doTimestamp
	doMessage
	doMessages
	doCase  // a case of a oneof
	doOneof // the first case
)

// ready is the plan of the table.
func (t *Table) ready() *plan {
	if p := t.plan.Load(); p != nil {
		return p
	}
	return t.prepare()
}

func (t *Table) prepare() *plan {
	p := &plan{steps: make([]step, len(t.Fields)), cases: make([][]uint16, len(t.Oneofs))}
	for i := range t.Oneofs {
		p.ends = p.ends || t.Oneofs[i].Open || t.Oneofs[i].Needed
	}
	p.open = len(t.Oneofs) == 1 && t.Oneofs[0].Open
	for i := range t.Fields {
		f, s := &t.Fields[i], &p.steps[i]
		*s = step{do: f.do(), must: f.Flags&wire.MustWrite != 0, at: uint32(f.At), f: f, tag: f.Number<<3 | f.wireType()}
		if f.Flags&wire.WriteOnly == 0 {
			s.in = s.tag
		}
		switch {
		case f.Shape == wire.Mapped:
			s.in, s.tag = f.Number<<3|delimitedType, f.Number<<3|delimitedType // of an entry
		case f.Shape == wire.Listed && f.packable():
			s.packed = f.Number<<3 | delimitedType
		}
		if f.Of != nil {
			s.of = f.Of.table()
			s.fallback = slices.ContainsFunc(s.of.Fields, func(o Field) bool { return o.Flags&wire.Fallback != 0 })
		}
		p.fallback = p.fallback || f.Flags&wire.Fallback != 0
		if f.Flags&(wire.MustRead|wire.Filled) != 0 || f.Least > 0 || f.Default != "" {
			offset, ok := f.Type.Word(f.Shape, f.At)
			p.lacking = append(p.lacking, lack{step: s, test: offset, quick: ok && f.Least <= 1})
		}
		if f.Number < lowNumbers {
			p.low[f.Number] = uint16(i + 1)
		} else {
			if p.high == nil {
				p.high = map[uint32]uint16{}
			}
			p.high[f.Number] = uint16(i + 1)
		}
		if s.test, s.skip = f.test(); f.Oneof == 0 {
			continue
		}
		cases := &p.cases[f.Oneof-1]
		s.do = doCase
		if o := &t.Oneofs[f.Oneof-1]; len(*cases) == 0 {
			s.do, s.test, s.skip = doOneof, uint32(o.At), !o.Needed // an interface begins with a word that is zero if it is nil
		} else {
			p.steps[slices.IndexFunc(t.Fields, func(o Field) bool { return o.Oneof == f.Oneof })].more++
		}
		for len(*cases) <= int(f.Case) {
			*cases = append(*cases, 0)
		}
		(*cases)[f.Case] = uint16(i + 1)
	}
	t.plan.Store(p)
	return p
}

// do is what is done with a field that is no case of a oneof.
func (f *Field) do() do {
	const special = wire.WriteOnly | wire.Filled | wire.Created | wire.Implicit
	if f.Into != nil || f.Flags&special != 0 || f.Form&^Expanded != 0 && f.Type != wire.TypeMessage {
		return doOther
	}
	switch {
	case f.Shape == wire.Listed && f.Type == wire.TypeString:
		return doStrings
	case f.Shape == wire.Listed && f.Type == wire.TypeMessage:
		return doMessages
	case f.Shape != wire.One:
		return doOther
	}
	switch f.Type {
	case wire.TypeString:
		return doString
	case wire.TypeBool:
		return doBool
	case wire.TypeEnum:
		if f.Flags&wire.MustWrite == 0 {
			return doEnum
		}
	case wire.TypeStruct:
		return doStruct
	case wire.TypeTimestamp:
		return doTimestamp
	case wire.TypeMessage:
		return doMessage
	}
	return doOther
}

// test is the offset of a word that is zero if the field is to be left out; ok is false if that is not all there is to it.
func (f *Field) test() (offset uint32, ok bool) {
	const special = wire.WriteOnly | wire.Filled | wire.Created | wire.MustSet | wire.MustWrite | wire.Nilable
	offset, ok = f.Type.Word(f.Shape, f.At)
	return offset, ok && f.Oneof == 0 && f.Into == nil && f.Flags&special == 0 && f.Least == 0
}

// step is the field of a number, nil if there is none.
func (p *plan) step(number uint32) *step {
	if number < lowNumbers {
		if i := p.low[number]; i != 0 {
			return &p.steps[i-1]
		}
		return nil
	}
	return p.highStep(number)
}

func (p *plan) highStep(number uint32) *step {
	if i := p.high[number]; i != 0 {
		return &p.steps[i-1]
	}
	return nil
}

// caseOf is the step of a case, nil if there is none of its number.
func (p *plan) caseOf(oneof uint8, number int) *step {
	if cases := p.cases[oneof-1]; uint(number) < uint(len(cases)) && cases[number] > 0 {
		return &p.steps[cases[number]-1]
	}
	return nil
}

// Wire types of protobuf.
const (
	varintType    = 0
	fixed64Type   = 1
	delimitedType = 2
	fixed32Type   = 5
)

// wireType is the wire type of one value of a field, of a list or map each.
func (f *Field) wireType() uint32 {
	switch {
	case f.Form&Delimited != 0:
		return groupType
	case f.Form&Wrapped != 0, f.Shape == wire.Nested:
		return delimitedType
	}
	return wireType(f.Type, f.Form)
}

// packable reports whether the elements of a list can stand in one field.
func (f *Field) packable() bool {
	t := f.wireType()
	return t != delimitedType && t != groupType
}

// wireType is that of a value of type t that is not wrapped.
func wireType(t wire.Type, form Form) uint32 {
	switch t {
	case wire.TypeInt32, wire.TypeUint32:
		if form&Fixed != 0 {
			return fixed32Type
		}
		return varintType
	case wire.TypeInt64, wire.TypeUint64:
		if form&Fixed != 0 {
			return fixed64Type
		}
		return varintType
	case wire.TypeBool, wire.TypeEnum, wire.TypeNull:
		return varintType
	case wire.TypeFloat:
		return fixed32Type
	case wire.TypeDouble:
		return fixed64Type
	case wire.TypeHook:
		if form&Varint != 0 {
			return varintType
		}
	}
	return delimitedType
}

// at is the place of a field in message x. Pointers are moved nowhere else.
func at[O uintptr | uint32](x unsafe.Pointer, offset O) unsafe.Pointer {
	return unsafe.Add(x, offset)
}
