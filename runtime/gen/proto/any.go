package proto

import (
	"strings"
	"sync"
	"unsafe"

	"github.com/a2agen/a2agen/runtime/wire"
)

// anyMessage is a generated message that has both codecs.
type anyMessage interface {
	AppendJSON([]byte) ([]byte, error)
	UnmarshalJSON([]byte) error
	AppendProto([]byte) ([]byte, error)
	UnmarshalProto([]byte) error
}

// resolver makes a new message of the definition of the given full name, or nil.
type resolver func(name string) any

// ReadAny reads a google.protobuf.Any as ProtoJSON has it.
func ReadAny(r *wire.Reader) *wire.Any {
	start := r.Offset()
	x := &wire.Any{JSON: r.Struct()}
	if r.Err() != nil {
		return x
	}
	members := 0
	for name, v := range x.JSON.All() {
		if members++; name == "@type" {
			var t wire.Reader
			t.Reset(v)
			x.TypeURL = t.String()
		}
	}
	if x.TypeURL == "" && members > 0 {
		r.FailAt(start, `no type in "@type"`)
	}
	return x
}

// AppendAny appends x as ProtoJSON has it.
func AppendAny(b []byte, x *wire.Any, resolve resolver) ([]byte, error) {
	switch {
	case x == nil:
		return b, wire.NotSet()
	case len(x.JSON) > 0:
		return wire.AppendStruct(b, x.JSON)
	case x.TypeURL == "" && len(x.Proto) == 0:
		return append(b, '{', '}'), nil
	}
	b = wire.AppendString(append(b, `{"@type":`...), x.TypeURL)
	if typeName(x.TypeURL) == emptyName {
		return append(b, '}'), nil
	}
	if known := wellKnown(typeName(x.TypeURL)); known != nil {
		var w Writer
		w.Reset(nil)
		w.Bytes(oneTag, x.Proto)
		src, _ := w.Done()
		var r Reader
		r.Reset(src)
		r.Tag()
		b, err := known.append(append(b, `,"value":`...), &r)
		if err == nil {
			err = r.Done()
		}
		if err != nil {
			return b, wire.In(err, "value")
		}
		return append(b, '}'), nil
	}
	m, _ := resolve(typeName(x.TypeURL)).(anyMessage)
	if m == nil {
		return b, unknownType(x, "protobuf")
	}
	if err := m.UnmarshalProto(x.Proto); err != nil {
		return b, err
	}
	start := len(b)
	b, err := m.AppendJSON(b)
	if err != nil {
		return b, err
	}
	if b[start] = ','; len(b) == start+2 { // {}
		b = append(b[:start], '}')
	}
	return b, nil
}

// Any writes a google.protobuf.Any.
func (w *Writer) Any(tag uint32, x *wire.Any, resolve resolver) error {
	if x == nil {
		return wire.NotSet()
	}
	content, err := contentOf(x, resolve)
	if err != nil {
		return err
	}
	m := w.Begin(tag)
	if x.TypeURL != "" {
		w.String(oneTag, x.TypeURL)
	}
	if len(content) > 0 {
		w.Bytes(entryValue, content)
	}
	w.End(m)
	return nil
}

// content is the message as protobuf.
func contentOf(x *wire.Any, resolve resolver) ([]byte, error) {
	if x.Proto != nil || x.TypeURL == "" || typeName(x.TypeURL) == emptyName {
		return x.Proto, nil
	}
	var rest []byte
	for name, v := range x.JSON.All() {
		if name != "@type" {
			rest = append(wire.AppendKey(rest, name), v...)
		}
	}
	rest = wire.EndObject(rest, 0)
	if known := wellKnown(typeName(x.TypeURL)); known != nil {
		return known.content(rest)
	}
	m, _ := resolve(typeName(x.TypeURL)).(anyMessage)
	if m == nil {
		return nil, unknownType(x, "JSON")
	}
	if err := m.UnmarshalJSON(rest); err != nil {
		return nil, err
	}
	return m.AppendProto(nil)
}

func unknownType(x *wire.Any, form string) error {
	return &wire.Error{Reason: "the type " + x.TypeURL + " is not of the definition, and its content is known as " + form + " only"}
}

// Any reads a google.protobuf.Any. old is as in [Reader.Struct].
func (r *Reader) Any(old *wire.Any) *wire.Any {
	x := &wire.Any{Proto: []byte{}}
	if old != nil {
		*x = *old
	}
	m := r.Enter(0)
	for tag := r.Tag(); tag != 0; tag = r.Tag() {
		switch tag {
		case oneTag:
			x.TypeURL = r.String()
		case entryValue:
			x.Proto = r.Bytes()
		default:
			r.Skip(tag)
		}
	}
	r.Leave(m)
	return x
}

// emptyName is the message without fields; some writers give it a member "value" all the same.
const emptyName = "google.protobuf.Empty"

// typeName is the full name at the end of a type's URL.
func typeName(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }

// known is a message of google's that JSON has a form for: inside of an Any it is the member "value".
type known struct {
	append func([]byte, *Reader) ([]byte, error)
	write  func(*Writer, *wire.Reader) error
}

// content reads the value of an Any and returns it as protobuf.
func (k *known) content(rest wire.Object) ([]byte, error) {
	v, ok := rest.Get("value")
	if !ok {
		return nil, wire.In(&wire.Error{Reason: "required"}, "value")
	}
	var r wire.Reader
	r.Reset(v)
	var w Writer
	w.Reset(nil)
	if err := k.write(&w, &r); err != nil {
		return nil, wire.In(err, "value")
	}
	if err := r.Done(); err != nil {
		return nil, wire.In(err, "value")
	}
	b, err := w.Done()
	if err != nil {
		return nil, err
	}
	var p Reader
	p.Reset(b)
	p.Tag()
	return p.Bytes(), p.Done()
}

// knownOf is a message that both codecs have a function for.
func knownOf[T any](read func(*Reader, T) T, add func([]byte, T) ([]byte, error), take func(*wire.Reader) T, write func(*Writer, uint32, T) error) *known {
	var none T
	return &known{
		append: func(b []byte, r *Reader) ([]byte, error) { return add(b, read(r, none)) },
		write:  func(w *Writer, r *wire.Reader) error { return write(w, oneTag, take(r)) },
	}
}

// wrapperOf is a scalar in a message of its own, which is empty for what is zero.
func wrapperOf[T any](t wire.Type, add func([]byte, T) []byte, take func(*wire.Reader) T) *known {
	f := &Field{Type: t, Form: Wrapped}
	return knownOf(
		func(r *Reader, x T) T {
			f.readWrapped(r, unsafe.Pointer(&x))
			return x
		},
		sure(add), take,
		func(w *Writer, tag uint32, x T) error { return f.writeOne(w, tag, unsafe.Pointer(&x)) })
}

// sure is a function that never fails as one that may.
func sure[T any](add func([]byte, T) []byte) func([]byte, T) ([]byte, error) {
	return func(b []byte, x T) ([]byte, error) { return add(b, x), nil }
}

// wellKnown is the well-known type of a name; nil if there is none. The table is made when it is first asked for: one that
// a variable begins with would link protobuf into agents that do not speak it.
func wellKnown(name string) *known {
	wellKnowns.once.Do(func() { wellKnowns.types = makeWellKnown() })
	return wellKnowns.types[name]
}

var wellKnowns struct {
	once  sync.Once
	types map[string]*known
}

func makeWellKnown() map[string]*known {
	return map[string]*known{
		"google.protobuf.Timestamp": knownOf((*Reader).Timestamp, wire.AppendTimestamp, (*wire.Reader).Timestamp, (*Writer).Timestamp),
		"google.protobuf.Duration":  knownOf((*Reader).Duration, wire.AppendDuration, (*wire.Reader).Duration, (*Writer).Duration),
		"google.protobuf.Struct":    knownOf((*Reader).Struct, wire.AppendStruct, (*wire.Reader).Struct, (*Writer).Struct),
		"google.protobuf.Value":     knownOf((*Reader).Value, wire.AppendValue, (*wire.Reader).Value, (*Writer).Value),
		"google.protobuf.ListValue": knownOf((*Reader).ListValue, wire.AppendListValue, (*wire.Reader).ListValue, (*Writer).ListValue),
		"google.protobuf.FieldMask": knownOf((*Reader).FieldMask, wire.AppendFieldMask, (*wire.Reader).FieldMask, func(w *Writer, tag uint32, m wire.FieldMask) error {
			w.FieldMask(tag, m)
			return nil
		}),
		"google.protobuf.StringValue": wrapperOf(wire.TypeString, wire.AppendString, (*wire.Reader).String),
		"google.protobuf.BytesValue":  wrapperOf(wire.TypeBytes, wire.AppendBytes, (*wire.Reader).Bytes),
		"google.protobuf.BoolValue":   wrapperOf(wire.TypeBool, wire.AppendBool, (*wire.Reader).Bool),
		"google.protobuf.Int32Value":  wrapperOf(wire.TypeInt32, wire.AppendInt32, (*wire.Reader).Int32),
		"google.protobuf.Int64Value":  wrapperOf(wire.TypeInt64, wire.AppendInt64, (*wire.Reader).Int64),
		"google.protobuf.UInt32Value": wrapperOf(wire.TypeUint32, wire.AppendUint32, (*wire.Reader).Uint32),
		"google.protobuf.UInt64Value": wrapperOf(wire.TypeUint64, wire.AppendUint64, (*wire.Reader).Uint64),
		"google.protobuf.FloatValue":  wrapperOf(wire.TypeFloat, wire.AppendFloat32, (*wire.Reader).Float32),
		"google.protobuf.DoubleValue": wrapperOf(wire.TypeDouble, wire.AppendFloat64, (*wire.Reader).Float64),
	}
}
