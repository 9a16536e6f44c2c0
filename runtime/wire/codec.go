package wire

import (
	"cmp"
	"reflect"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"
)

// Codec is how messages of the Go type T are written on one wire: a [Table] whose offsets are those of T. What reads and
// writes by it is the same for all messages. It is for generated code:
//
//	var codecPoint = wire.Codec[Point]{Fields: []wire.Field{
//		{Name: "x", At: unsafe.Offsetof(Point{}.X), Type: wire.TypeInt32, Flags: wire.Required},
//		{Name: "y", At: unsafe.Offsetof(Point{}.Y), Type: wire.TypeInt32, Flags: wire.Required},
//	}}
type Codec[T any] Table

// Table is how a message is written.
type Table struct {
	// Fields are in the order in which they are written. Those of one oneof stand together.
	Fields []Field
	Oneofs []Oneof
	// Consts are members that are written before all others and ignored when read: `,"kind":"task"`.
	Consts string
	// Bare: the message is written as the value of its only field.
	Bare bool
	// OrBare: the message is also read in the form of its only field, a list; in a map null is one too.
	OrBare bool
	// Tagged: the message is written as the case of its oneof is, which a member tells.
	Tagged *Tagged
	// Custom has the functions of a message that no table describes, a [Custom].
	Custom customs
	// Group reads and writes the field that members of TypeGroup share, a [Group].
	Group group

	plan atomic.Pointer[plan]
}

// Field is a member of a message.
type Field struct {
	Name  string
	At    uintptr // offset of the Go field
	Type  Type    // of the value; of a list or map, of each
	Shape Shape
	Flags Flags
	Least uint8 // elements that a list needs
	// Oneof is the number of the oneof that the member is a case of, from 1 up, and Case the number of the case there.
	Oneof uint8
	Case  uint16
	// Of is the [Codec] of a message, Enum the values of an enum.
	Of   Message
	Enum *Enum
	// Into is the message, one level deeper, that has the field.
	Into    *Into
	Aliases []string // also read
	// Container is how Go has a list of anything but strings and messages, a [List], or a map: a [Map] or [KeyedMap].
	Container containers
	// Hook has the functions of a member of TypeHook, a [Hook] or a [Pair], or of the values of TypeAny.
	Hook hook
	// With is the offset of the second field of a [Pair].
	With uintptr
	// Rewrite puts the value into the shape that the row describes, and back.
	Rewrite *Rewrite
	// Default is the enum value that a missing member is read as.
	Default string
}

// Type is the type of a value. Its Go types are in brackets.
type Type uint8

// The types. Strings are most frequent, so that rows do not say it of them.
const (
	TypeString Type = iota
	TypeBool
	TypeInt32
	TypeInt64   // written as ProtoJSON has it, a string
	TypeInteger // int64, written as a number
	TypeUint32
	TypeUint64
	TypeFloat
	TypeDouble
	TypeBytes
	TypeTimestamp // time.Time
	TypeDuration
	TypeStruct // Object
	TypeEmpty  // Object
	TypeValue
	TypeListValue // Value
	TypeNull
	TypeFieldMask
	TypeEnum    // a string type
	TypeMessage // a pointer
	TypeAny     // *Any; the hook reads and writes it
	TypeHook    // the field is read and written by its hook
	TypeGroup   // the member is one of several that share a field
)

// Shape is how Go has the value of a member.
type Shape uint8

// The shapes.
const (
	One     Shape = iota
	Pointer       // nil is not set
	Listed
	Mapped
	Nested // an object that has more members of the same message
)

// Flags say more about a member.
type Flags uint16

// The flags.
const (
	// MustRead: an object without the member is refused.
	MustRead Flags = 1 << iota
	// MustWrite: the member is written although it is not set.
	MustWrite
	// MustSet: a pointer, enum or timestamp that is not set is refused.
	MustSet
	// NullEmpty: null is an empty list or map that is there.
	NullEmpty
	// NullValue: null is a value as any other.
	NullValue
	// Nilable: bytes or a field mask are set if they are not nil.
	Nilable
	// Implicit: the wire does not tell the zero value from absence, which the pointer does.
	Implicit
	// Filled: a missing message is read as an empty object is, and one that is written as an empty object is left out.
	Filled
	// Created: a missing message is written as an empty object.
	Created
	// Shared: other members have a part of the message, so that it may be there already.
	Shared
	// WriteOnly: the member is not read. ReadOnly: it is not written.
	WriteOnly
	ReadOnly
	// Fallback: the hook says what a missing member is read as.
	Fallback

	// Required is for members that must be there, both ways.
	Required = MustRead | MustWrite
)

// Into is a field with a message that holds the field of a member.
type Into struct {
	At uintptr
	Of Message
}

// Oneof is a Go field with one of several values.
type Oneof struct {
	At uintptr
	// Of is a [Union].
	Of union
	// Open: an unknown member may be a case of it. Needed: one case must be set. Strict: one that this wire does not
	// have is refused, and not left out.
	Open, Needed, Strict bool
}

// Case takes the oneof of message x apart, as [Union] does.
func (o *Oneof) Case(x unsafe.Pointer) (number int, text string, value any) {
	return o.Of.get(at(x, o.At))
}

// CaseOf takes a value apart that may be a case of the oneof.
func (o *Oneof) CaseOf(x any) (number int, text string, value any, ok bool) { return o.Of.apart(x) }

// Set sets the case of the oneof of message x.
func (o *Oneof) Set(x unsafe.Pointer, number int, text string, raw []byte, pointer any) {
	o.Of.set(at(x, o.At), number, text, raw, pointer)
}

// Tagged tells the cases of a oneof by a member, or by their members where that is missing.
type Tagged struct {
	Tag     string
	Aliases []string
	// Cases are those of the table's fields.
	Cases []Tag
}

// Tag is one case: the value of the member, and the members by which it is known without.
type Tag struct {
	Tag   string
	Shape []string
}

// Message is a *[Codec] of any type of message.
type Message interface {
	table() *Table
	fresh() unsafe.Pointer
	single() []unsafe.Pointer
	block(waiting []unsafe.Pointer)
	boxed(p unsafe.Pointer) any
	as(boxed any) (p unsafe.Pointer, ok bool)
}

func (c *Codec[T]) table() *Table { return (*Table)(c) }

func (c *Codec[T]) fresh() unsafe.Pointer { return unsafe.Pointer(new(T)) }

// single makes a list with memory for one message, which waits behind its end.
func (c *Codec[T]) single() []unsafe.Pointer {
	made := new(struct {
		first T
		list  [1]*T
	})
	made.list[0] = &made.first
	return (*[1]unsafe.Pointer)(unsafe.Pointer(&made.list))[:0]
}

// block makes messages that wait behind the end of a list.
func (c *Codec[T]) block(waiting []unsafe.Pointer) {
	block := make([]T, len(waiting))
	for i := range block {
		waiting[i] = unsafe.Pointer(&block[i])
	}
}

func (c *Codec[T]) boxed(p unsafe.Pointer) any { return (*T)(p) }

func (c *Codec[T]) as(boxed any) (p unsafe.Pointer, ok bool) {
	x, ok := boxed.(*T)
	return unsafe.Pointer(x), ok
}

// pointerOf is the pointer to a case that is a message.
func pointerOf(of Message, boxed any) unsafe.Pointer {
	p, _ := of.as(boxed)
	return p
}

// Append appends x. The error, an [*Error], says which member cannot be written.
func (c *Codec[T]) Append(b []byte, x *T) ([]byte, error) {
	return c.table().append(b, unsafe.Pointer(x))
}

// Read reads x, which has to be empty.
func (c *Codec[T]) Read(r *Reader, x *T) { c.table().read(r, unsafe.Pointer(x)) }

// Unmarshal replaces x by what the whole document src holds.
func (c *Codec[T]) Unmarshal(src []byte, x *T) error {
	*x = *new(T)
	return c.table().unmarshal(src, unsafe.Pointer(x))
}

func (t *Table) unmarshal(src []byte, x unsafe.Pointer) error {
	r := readers.Get().(*Reader)
	r.src = src
	t.read(r, x)
	err := r.Done()
	*r = Reader{}
	readers.Put(r)
	return err
}

// Reread reads src, which is what the value at offset stands for.
func (c *Codec[T]) Reread(r *Reader, offset int, src []byte) *T {
	x := new(T)
	r.Reread(offset, src, func(r *Reader) { c.Read(r, x) })
	return x
}

// Union is how a oneof's interface U is taken apart and made: by a list of its cases, if all are messages, or by two functions.
type Union[U any] struct {
	// Messages are nil pointers of the types of the cases, in order, and last of a case that the definition does not know: a struct
	// with its name and its [Value].
	Messages []U
	// Case is the number of the case, from 1 up, and its value: text is that of a string or enum, and value a pointer to a
	// message, bytes and raw JSON as they are, and a pointer to anything else. 0 is none, and [UnknownCase] one with the
	// name text and the [Value] value.
	Case func(U) (number int, text string, value any)
	// Make makes the case: raw is for bytes and raw JSON, pointer for what is no text either.
	Make func(number int, text string, raw []byte, pointer any) U
}

// UnknownCase is the number of a case that the definition does not know.
const UnknownCase = -1

// RawOf are the bytes of a case that has some.
func RawOf(value any) []byte { return reflect.ValueOf(value).Bytes() }

type union interface {
	get(p unsafe.Pointer) (number int, text string, value any)
	apart(x any) (number int, text string, value any, ok bool)
	set(p unsafe.Pointer, number int, text string, raw []byte, pointer any)
}

func (u *Union[U]) get(p unsafe.Pointer) (number int, text string, value any) {
	x := *(*U)(p)
	if u.Case != nil {
		return u.Case(x)
	}
	return caseOf(u.table(), word(p), x)
}

func (u *Union[U]) apart(x any) (number int, text string, value any, ok bool) {
	one, ok := x.(U)
	if ok {
		number, text, value = u.get(unsafe.Pointer(&one))
	}
	return number, text, value, ok
}

func (u *Union[U]) set(p unsafe.Pointer, number int, text string, raw []byte, pointer any) {
	switch {
	case u.Make != nil:
		*(*U)(p) = u.Make(number, text, raw, pointer)
	case number == UnknownCase:
		*(*U)(p) = newUnknown(u.Messages[len(u.Messages)-1], text, raw).(U)
	default:
		*(*U)(p) = pointer.(U)
	}
}

// table are the words of Messages: the first one of an interface tells the type of what is in it.
func (u *Union[U]) table() [][2]uintptr {
	return unsafe.Slice((*[2]uintptr)(unsafe.Pointer(unsafe.SliceData(u.Messages))), len(u.Messages))
}

func word(p unsafe.Pointer) uintptr { return *(*uintptr)(p) }

// unknownCase is a case that the definition does not know.
type unknownCase struct {
	Name  string
	Value Value
}

// caseOf is what [Union] says of Case, for a message x of the given first word.
func caseOf(table [][2]uintptr, word uintptr, x any) (number int, text string, value any) {
	i := slices.IndexFunc(table, func(one [2]uintptr) bool { return one[0] == word })
	switch {
	case i < 0:
		return 0, "", nil
	case i == len(table)-1:
		unknown := (*unknownCase)(unboxed(x))
		return UnknownCase, unknown.Name, unknown.Value
	}
	return i + 1, "", x
}

// newUnknown makes a case of the type of the pointer of.
func newUnknown(of any, name string, value []byte) any {
	made := reflect.New(reflect.TypeOf(of).Elem())
	*(*unknownCase)(made.UnsafePointer()) = unknownCase{name, value}
	return made.Interface()
}

func (t *Table) appendAs(b []byte, x any) (written []byte, ok bool, err error) {
	number, text, value, ok := t.Oneofs[0].CaseOf(x)
	if !ok {
		return b, false, nil
	}
	if t.Tagged != nil {
		b, err = t.appendTagged(b, number, text, value)
		return b, true, err
	}
	start := len(b)
	b, err = t.appendOneof(b, 1, t.ready().caseOf(1, number), number, text, value)
	return EndObject(b, start), true, err
}

// Boxed reads and writes messages that are given as any, by codecs that are a [Message].
type Boxed struct{}

// Append appends x; ok is false if it is of another type.
func (Boxed) Append(of any, b []byte, x any) (written []byte, ok bool, err error) {
	p, ok := of.(Message).as(x)
	if ok {
		b, err = of.(Message).table().append(b, p)
	}
	return b, ok, err
}

// AppendCase appends a message that is nothing but a oneof with the case x; ok is false if x is no case of it.
func (Boxed) AppendCase(of any, b []byte, x any) (written []byte, ok bool, err error) {
	return of.(Message).table().appendAs(b, x)
}

// Read reads the whole document src into the empty message x; ok is false if it is of another type.
func (Boxed) Read(of any, src []byte, x any) (ok bool, err error) {
	p, ok := of.(Message).as(x)
	if ok {
		err = of.(Message).table().unmarshal(src, p)
	}
	return ok, err
}

// New reads the whole document src.
func (Boxed) New(of any, src []byte) (any, error) {
	codec := of.(Message)
	x := codec.fresh()
	if err := codec.table().unmarshal(src, x); err != nil {
		return nil, err
	}
	return codec.boxed(x), nil
}

// Empty is a message without members.
func (Boxed) Empty() string { return "{}" }

// Custom has the functions that read and write a message.
type Custom[T any] struct {
	Append func([]byte, *T) ([]byte, error)
	Read   func(*Reader, *T)
}

type customs interface {
	append(b []byte, x unsafe.Pointer) ([]byte, error)
	read(r *Reader, x unsafe.Pointer)
}

func (c *Custom[T]) append(b []byte, x unsafe.Pointer) ([]byte, error) { return c.Append(b, (*T)(x)) }

func (c *Custom[T]) read(r *Reader, x unsafe.Pointer) { c.Read(r, (*T)(x)) }

// Hook has the functions that read and write a field of type F.
type Hook[F any] struct {
	// Has reports whether the field is written; nil: it always is.
	Has    func(F) bool
	Append func([]byte, F) ([]byte, error)
	Read   func(*Reader) F
	// Absent is what a missing member is read as.
	Absent func() F
}

type hook interface {
	has(p, q unsafe.Pointer) bool
	append(b []byte, p, q unsafe.Pointer) ([]byte, error)
	read(r *Reader, p, q unsafe.Pointer)
	absent(p unsafe.Pointer)
}

func (h *Hook[F]) has(p, _ unsafe.Pointer) bool { return h.Has == nil || h.Has(*(*F)(p)) }

func (h *Hook[F]) append(b []byte, p, _ unsafe.Pointer) ([]byte, error) { return h.Append(b, *(*F)(p)) }

func (h *Hook[F]) read(r *Reader, p, _ unsafe.Pointer) { *(*F)(p) = h.Read(r) }

func (h *Hook[F]) absent(p unsafe.Pointer) { *(*F)(p) = h.Absent() }

// Pair has the functions of a member that holds two fields, which are strings. One that has a member of its own keeps
// what that says.
type Pair struct {
	Has    func(v, w string) bool
	Append func(b []byte, v, w string) []byte
	Read   func(*Reader) (v, w string)
}

func (h *Pair) has(p, q unsafe.Pointer) bool { return h.Has(*(*string)(p), *(*string)(q)) }

func (h *Pair) append(b []byte, p, q unsafe.Pointer) ([]byte, error) {
	return h.Append(b, *(*string)(p), *(*string)(q)), nil
}

func (h *Pair) read(r *Reader, p, q unsafe.Pointer) {
	v, w := h.Read(r)
	first, second := (*string)(p), (*string)(q)
	*first, *second = cmp.Or(*first, v), cmp.Or(*second, w)
}

func (*Pair) absent(unsafe.Pointer) {}

// Rewrite has the functions of a member whose value is another object on the wire: Read makes the plain one of it, Write,
// if there is one, makes it of the plain one.
type Rewrite struct {
	Read  func(*Reader) Object
	Write func(b []byte, plain Object) []byte
}

// Group has the functions of a field of type F that several members hold: S is what they leave while a message is read.
type Group[F, S any] struct {
	Append func([]byte, F) []byte
	Read   func(s *S, r *Reader, member string)
	Make   func(*S) F
}

type group interface {
	append(b []byte, p unsafe.Pointer) []byte
	start() any
	read(s any, r *Reader, member string)
	finish(s any, p unsafe.Pointer)
}

func (g *Group[F, S]) append(b []byte, p unsafe.Pointer) []byte { return g.Append(b, *(*F)(p)) }

func (g *Group[F, S]) start() any { return new(S) }

func (g *Group[F, S]) read(s any, r *Reader, member string) { g.Read(s.(*S), r, member) }

func (g *Group[F, S]) finish(s any, p unsafe.Pointer) { *(*F)(p) = g.Make(s.(*S)) }

// Fresh makes a value of a type other than TypeMessage, TypeHook and TypeGroup.
func (t Type) Fresh() (p unsafe.Pointer, boxed any) {
	switch t {
	case TypeBool:
		return freshOf[bool]()
	case TypeInt32:
		return freshOf[int32]()
	case TypeInt64, TypeInteger:
		return freshOf[int64]()
	case TypeUint32:
		return freshOf[uint32]()
	case TypeUint64:
		return freshOf[uint64]()
	case TypeFloat:
		return freshOf[float32]()
	case TypeDouble:
		return freshOf[float64]()
	case TypeTimestamp:
		return freshOf[time.Time]()
	case TypeDuration:
		return freshOf[Duration]()
	case TypeBytes, TypeStruct, TypeEmpty, TypeValue, TypeListValue:
		return freshOf[[]byte]()
	case TypeFieldMask:
		return freshOf[FieldMask]()
	case TypeNull:
		return freshOf[Null]()
	case TypeAny:
		return freshOf[*Any]()
	}
	return freshOf[string]()
}

// unboxed is the pointer that boxed is.
func unboxed(boxed any) unsafe.Pointer { return reflect.ValueOf(boxed).UnsafePointer() }

func freshOf[T any]() (unsafe.Pointer, any) {
	p := new(T)
	return unsafe.Pointer(p), p
}
