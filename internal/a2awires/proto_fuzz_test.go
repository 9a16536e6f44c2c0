package a2awires

import (
	"bytes"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

func messageName(x protoMessage) protoreflect.Name {
	return protoreflect.Name(reflect.TypeOf(x).Elem().Name())
}

// normalize sets what is absent and means a default: the null of a Value without content.
func normalize(m protoreflect.Message) {
	if fields := m.Descriptor().Fields(); m.Descriptor().FullName() == "google.protobuf.Value" && m.WhichOneof(m.Descriptor().Oneofs().Get(0)) == nil {
		m.Set(fields.ByName("null_value"), protoreflect.ValueOfEnum(0))
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				normalize(v.List().Get(i).Message())
			}
		case f.IsMap():
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				if f.MapValue().Message() != nil {
					normalize(v.Message())
				}
				return true
			})
		default:
			normalize(m.Mutable(f).Message())
		}
		return true
	})
}

// unfaithful reports whether a timestamp of m is the first moment of year 1, which is "not set" in our types, or a Value's
// null has another number than 0, which our types do not keep.
func unfaithful(m protoreflect.Message) (found bool) {
	name := m.Descriptor().FullName()
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case name == "google.protobuf.Timestamp" && f.Number() == 1 && v.Int() == -62135596800:
			found = true
		case name == "google.protobuf.Value" && f.Number() == 1 && v.Enum() != 0:
			found = true
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				found = found || unfaithful(v.List().Get(i).Message())
			}
		case f.IsMap():
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				found = found || f.MapValue().Message() != nil && unfaithful(v.Message())
				return true
			})
		default:
			found = found || unfaithful(v.Message())
		}
		return !found
	})
	return found
}

// FuzzProtoAgainstGoogle checks that what we accept google.golang.org/protobuf accepts, as the same message, and that what
// we write is canonical.
func FuzzProtoAgainstGoogle(f *testing.F) {
	for _, x := range []encoderOf{benchMessage(), &Task{ID: "t", Status: &TaskStatus{State: "77", Message: benchMessage()}}} {
		b, err := x.AppendProto(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, len(b) > 900)
	}
	for _, s := range []string{
		field(1, "t") + field(3, working) + field(6, entry("a", varint(4, 1)), entry("a", field(6, field(1)))) + field(6, entry("b")),
		field(3, varint(1, 1), field(3, varint(1, 7)), field(3, varint(2, 9))) + field(3, field(2, varint(4, 1), field(5, varint(99, 1)))),
		field(3, working) + field(5, varint(4, 2), field(5, field(4, field(5, entry("x", double(2, nan)))))),
		"\x9b\x06\x08\x01\x9c\x06" + field(3, working), "\x1a\x05\x08", "\xff\xff\xff\xff\xff\xff",
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, src []byte, task bool) {
		var x protoMessage = new(Message)
		if task {
			x = new(Task)
		}
		if x.UnmarshalProto(src) != nil {
			return
		}
		theirs := dynamicpb.NewMessage(descriptor(t, messageName(x)))
		if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(src, theirs); err != nil {
			t.Skip("an overwritten or unknown piece is not valid: we do not look at it")
		}
		ours, err := x.AppendProto(nil)
		if err != nil {
			t.Fatalf("read, but not written: %v", err)
		}
		again := dynamicpb.NewMessage(theirs.Descriptor())
		if err := proto.Unmarshal(ours, again); err != nil {
			t.Fatal(err)
		}
		if want := canonical(t, again); !bytes.Equal(ours, want) {
			t.Fatalf("got  %x\nwant %x", ours, want)
		}
		if unfaithful(theirs) {
			return
		}
		normalize(theirs)
		if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(ours, again); err != nil {
			t.Fatal(err)
		}
		if got, want := canonical(t, again), canonical(t, theirs); !bytes.Equal(got, want) {
			t.Fatalf("%x: we read  %x\nthey read %x", src, got, want)
		}
	})
}

type encoderOf interface {
	AppendProto([]byte) ([]byte, error)
}
