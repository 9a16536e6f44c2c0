package proto

import (
	"cmp"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/a2agen/a2agen/runtime/wire"
)

// Codec is how messages of the Go type T are written as protobuf: a [Table] whose offsets are those of T. It is to protobuf
// what [wire.Codec] is to JSON, and for generated code:
//
//	var codecPoint = proto.Codec[Point]{Fields: []proto.Field{
//		{Number: 1, Name: "x", At: unsafe.Offsetof(Point{}.X), Type: wire.TypeInt32},
//		{Number: 2, Name: "y", At: unsafe.Offsetof(Point{}.Y), Type: wire.TypeInt32},
//	}}
type Codec[T any] Table

// Table is how a message is written. What is written equals the deterministic output of google.golang.org/protobuf byte for
// byte. What a message requires is checked as far as protobuf can tell: messages, enum values, oneofs and lists that must
// not be empty; an absent scalar is its zero value.
type Table struct {
	// Fields are those of no oneof by number, and then the cases of each oneof: the order in which they are written.
	Fields []Field
	Oneofs []wire.Oneof
	// Custom has the functions of a message that no table describes, a [Custom].
	Custom customs
	// Group reads and writes the one Go field that the fields of wire.TypeGroup share, a [Group].
	Group group

	plan atomic.Pointer[plan]
}

// Field is a field of a message. What it does not say itself is said at [wire.Field].
type Field struct {
	Number uint32
	Name   string // in errors
	At     uintptr
	Type   wire.Type
	Form   Form
	Shape  wire.Shape
	// Flags: MustRead is for what is refused when nothing has set it in the end, MustWrite for what is written although it is
	// the zero value.
	Flags wire.Flags
	Least uint8
	Oneof uint8
	Case  uint16
	Of    Message // a [Codec]
	Enum  *wire.Enum
	Into  *Into
	// Container is how Go has a list of anything but strings, enums and messages, a [List], or a map: a [Map] or [KeyedMap].
	Container containers
	// Key and KeyForm are the type and the form of a map's keys.
	Key     wire.Type
	KeyForm Form
	// Hook has the functions of a field of wire.TypeHook or wire.TypeAny, a [Hook] or a [Pair].
	Hook hook
	With uintptr
	// Default is the enum value of number zero, if that is one as any other.
	Default string
}

// Form is how protobuf has the value of a field, of a list or map each, where that is not the plain way.
type Form uint8

// The forms.
const (
	ZigZag    Form = 1 << iota // an integer that is short for small negative numbers
	Fixed                      // an integer of four or eight bytes
	Unchecked                  // a string whose bytes need not be UTF-8
	Delimited                  // a message that is a group, which ends with a tag
	Wrapped                    // a scalar in a message of its own
	Expanded                   // a list with a field for each element
	Varint                     // what a hook reads is an integer, not bytes with their length
)

// Into is a field with a message that holds the field of a row.
type Into struct {
	At uintptr
	Of Message
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

// listSize is the capacity of a list of several messages to start with.
const listSize = 4

// add adds a message, the i-th, to the list at p. Most lists have one, which is allocated with its list; further ones come in
// growing blocks.
func add(of Message, p unsafe.Pointer) (m unsafe.Pointer, i int) {
	list := *(*[]unsafe.Pointer)(p)
	n := len(list)
	switch {
	case n == 0:
		list = of.single()
	case n == cap(list):
		list = append(make([]unsafe.Pointer, 0, max(2*n, listSize)), list...)
	}
	list = list[:n+1]
	if list[n] == nil {
		of.block(list[n : n+min(wire.BlockSize(n), cap(list)-n)])
	}
	*(*[]unsafe.Pointer)(p) = list
	return list[n], n
}

// Readers and writers are shared between documents, as those of JSON are.
var (
	readers = sync.Pool{New: func() any { return new(Reader) }}
	writers = sync.Pool{New: func() any { return new(Writer) }}
)

// Append appends x as a document. The error, a [*wire.Error], says which field cannot be written.
func (c *Codec[T]) Append(b []byte, x *T) ([]byte, error) {
	return c.table().append(b, unsafe.Pointer(x))
}

func (t *Table) append(b []byte, x unsafe.Pointer) ([]byte, error) {
	w := writers.Get().(*Writer) // which was reset
	w.b = b
	err := t.write(w, x)
	if err == nil {
		b, err = w.Done()
	}
	w.Reset(nil)
	writers.Put(w)
	return b, err
}

func (t *Table) appendAs(b []byte, x any) (written []byte, ok bool, err error) {
	number, text, value, ok := t.Oneofs[0].CaseOf(x)
	if !ok {
		return b, false, nil
	}
	w := writers.Get().(*Writer)
	w.b = b
	if err = t.writeOneof(w, 1, t.ready().caseOf(1, number), number, text, value); err == nil {
		b, err = w.Done()
	}
	w.Reset(nil)
	writers.Put(w)
	return b, true, err
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

// Read reads the document src into the empty message x; ok is false if it is of another type.
func (Boxed) Read(of any, src []byte, x any) (ok bool, err error) {
	p, ok := of.(Message).as(x)
	if ok {
		err = of.(Message).table().unmarshal(src, p)
	}
	return ok, err
}

// New reads the document src.
func (Boxed) New(of any, src []byte) (any, error) {
	codec := of.(Message)
	x := codec.fresh()
	if err := codec.table().unmarshal(src, x); err != nil {
		return nil, err
	}
	return codec.boxed(x), nil
}

// Empty is a message without fields.
func (Boxed) Empty() string { return "" }

// Unmarshal replaces x by what the document src holds.
func (c *Codec[T]) Unmarshal(src []byte, x *T) error {
	*x = *new(T)
	return c.table().unmarshal(src, unsafe.Pointer(x))
}

// unmarshal reads a document into the empty message x. Something required that one piece of a message lacks may be in a later
// one, so what lacked it is looked at again in the end: whatever can be written is complete.
func (t *Table) unmarshal(src []byte, x unsafe.Pointer) error {
	r := readers.Get().(*Reader)
	r.Reset(src)
	t.read(r, x)
	complete, err := r.Complete(), r.Done()
	r.Reset(nil)
	readers.Put(r)
	if !complete {
		_, err = t.append(nil, x)
	}
	return err
}

// Custom has the functions that read and write a message.
type Custom[T any] struct {
	Write func(*Writer, *T) error
	Read  func(*Reader, *T)
}

type customs interface {
	write(w *Writer, x unsafe.Pointer) error
	read(r *Reader, x unsafe.Pointer)
}

func (c *Custom[T]) write(w *Writer, x unsafe.Pointer) error { return c.Write(w, (*T)(x)) }

func (c *Custom[T]) read(r *Reader, x unsafe.Pointer) { c.Read(r, (*T)(x)) }

// Hook has the functions that read and write a field of type F. Write writes the tag, too, if there is something to write;
// Read is given the value so far.
type Hook[F any] struct {
	Write func(w *Writer, tag uint32, x F) error
	Read  func(r *Reader, old F) F
	// Absent is what a missing field is read as.
	Absent func() F
}

type hook interface {
	write(w *Writer, tag uint32, p, q unsafe.Pointer) error
	read(r *Reader, p, q unsafe.Pointer)
	absent(p unsafe.Pointer)
}

func (h *Hook[F]) write(w *Writer, tag uint32, p, _ unsafe.Pointer) error {
	return h.Write(w, tag, *(*F)(p))
}

func (h *Hook[F]) read(r *Reader, p, _ unsafe.Pointer) { *(*F)(p) = h.Read(r, *(*F)(p)) }

func (h *Hook[F]) absent(p unsafe.Pointer) { *(*F)(p) = h.Absent() }

// Pair has the functions of a field of the definition that holds two of Go, which are strings. One that has a field of its
// own keeps what that says.
type Pair struct {
	Write func(w *Writer, tag uint32, x, y string)
	Read  func(*Reader) (x, y string)
}

func (h *Pair) write(w *Writer, tag uint32, p, q unsafe.Pointer) error {
	h.Write(w, tag, *(*string)(p), *(*string)(q))
	return nil
}

func (h *Pair) read(r *Reader, p, q unsafe.Pointer) {
	x, y := h.Read(r)
	first, second := (*string)(p), (*string)(q)
	*first, *second = cmp.Or(*first, x), cmp.Or(*second, y)
}

func (*Pair) absent(unsafe.Pointer) {}

// Group has the functions of a Go field of type F that several fields of the definition hold: S is what they leave while a
// message is read.
type Group[F, S any] struct {
	Write func(w *Writer, tag uint32, x F, field string)
	Read  func(s *S, r *Reader, field string)
	Make  func(*S) F
}

type group interface {
	write(w *Writer, tag uint32, p unsafe.Pointer, field string)
	start() any
	read(s any, r *Reader, field string)
	finish(s any, p unsafe.Pointer)
}

func (g *Group[F, S]) write(w *Writer, tag uint32, p unsafe.Pointer, field string) {
	g.Write(w, tag, *(*F)(p), field)
}

func (g *Group[F, S]) start() any { return new(S) }

func (g *Group[F, S]) read(s any, r *Reader, field string) { g.Read(s.(*S), r, field) }

func (g *Group[F, S]) finish(s any, p unsafe.Pointer) { *(*F)(p) = g.Make(s.(*S)) }
