package prototest

import (
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"pgregory.net/rapid"
)

// notEmpty are the lists that must have an element (T20).
var notEmpty = []string{"Message.parts", "Message.content", "Artifact.parts", "AgentCard.supported_interfaces"}

// maxDepth is how deep messages nest that need not be there.
const maxDepth = 5

// Random draws a message of type d that has everything that A2A requires and nothing that JSON cannot say.
func Random(t *rapid.T, d protoreflect.MessageDescriptor) *dynamicpb.Message {
	m := dynamicpb.NewMessage(d)
	fill(t, m, 0)
	return m
}

// fill sets the fields of m.
func fill(t *rapid.T, m protoreflect.Message, depth int) {
	d := m.Descriptor()
	if wellKnown(t, m, depth) {
		return
	}
	for i := range d.Oneofs().Len() {
		o := d.Oneofs().Get(i)
		if o.IsSynthetic() {
			continue
		}
		f := o.Fields().Get(0)
		if depth < maxDepth {
			f = o.Fields().Get(rapid.IntRange(0, o.Fields().Len()-1).Draw(t, "case"))
		}
		set(t, m, f, depth)
	}
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if o := f.ContainingOneof(); o == nil || o.IsSynthetic() {
			draw(t, m, f, depth)
		}
	}
}

// draw sets an ordinary field, if it is drawn or has to be there.
func draw(t *rapid.T, m protoreflect.Message, f protoreflect.FieldDescriptor, depth int) {
	most := 3
	if depth >= maxDepth {
		most = 0
	}
	switch {
	case f.IsList():
		least := 0
		if slices.Contains(notEmpty, string(f.Parent().Name())+"."+string(f.Name())) {
			least = 1
		}
		for range rapid.IntRange(least, max(least, most)).Draw(t, "length") {
			list := m.Mutable(f).List()
			if f.Message() != nil {
				fill(t, list.AppendMutable().Message(), depth+1)
			} else {
				list.Append(scalar(t, f))
			}
		}
	case f.IsMap():
		for range rapid.IntRange(0, most).Draw(t, "entries") {
			key := scalar(t, f.MapKey()).MapKey()
			if f.MapValue().Message() != nil {
				fill(t, m.Mutable(f).Map().Mutable(key).Message(), depth+1)
			} else {
				m.Mutable(f).Map().Set(key, scalar(t, f.MapValue()))
			}
		}
	case f.Cardinality() == protoreflect.Required, required(f) && (f.Message() != nil || f.Enum() != nil):
		set(t, m, f, depth)
	case (f.Message() == nil || most > 0) && rapid.Bool().Draw(t, "set"):
		set(t, m, f, depth)
	}
}

// set sets a field that is no list and no map.
func set(t *rapid.T, m protoreflect.Message, f protoreflect.FieldDescriptor, depth int) {
	if f.Message() != nil {
		fill(t, m.Mutable(f).Message(), depth+1)
		return
	}
	m.Set(f, scalar(t, f))
}

func scalar(t *rapid.T, f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(text(t))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(rapid.Bool().Draw(t, "bool"))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(rapid.Int32().Draw(t, "int32"))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(rapid.Int64().Draw(t, "int64"))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(rapid.Uint32().Draw(t, "uint32"))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(rapid.Uint64().Draw(t, "uint64"))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(rapid.Float32().Draw(t, "float") + 0)
	case protoreflect.DoubleKind:
		// Our JSON leaves negative zero out as it does zero; adding zero makes one of the other.
		return protoreflect.ValueOfFloat64(rapid.Float64().Draw(t, "double") + 0)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	case protoreflect.EnumKind:
		if f.Enum().FullName() == "google.protobuf.NullValue" {
			return protoreflect.ValueOfEnum(0)
		}
		if f.Enum().Values().ByNumber(0) == nil {
			return protoreflect.ValueOfEnum(protoreflect.EnumNumber(rapid.SampledFrom([]int32{1, 2}).Draw(t, "enum")))
		}
		numbers := []int32{1, 2, 42, -7, 0}
		if required(f) {
			numbers = numbers[:4] // zero is "not set"
		}
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(rapid.SampledFrom(numbers).Draw(t, "enum")))
	}
	t.Fatalf("no random %s", f.Kind())
	return protoreflect.Value{}
}

// text draws a string: mostly short, sometimes so long that lengths take two or three bytes.
func text(t *rapid.T) string {
	s := rapid.String().Draw(t, "string")
	return s + strings.Repeat("é and more", rapid.SampledFrom([]int{0, 0, 0, 0, 20, 400}).Draw(t, "times"))
}

// wellKnown fills a message of google's.
func wellKnown(t *rapid.T, m protoreflect.Message, depth int) bool {
	field := m.Descriptor().Fields().ByName
	whole := func(name protoreflect.Name, x int64) {
		if f := field(name); f.Kind() == protoreflect.Int32Kind {
			m.Set(f, protoreflect.ValueOfInt32(int32(x)))
		} else {
			m.Set(f, protoreflect.ValueOfInt64(x))
		}
	}
	switch m.Descriptor().FullName() {
	case "google.protobuf.Timestamp":
		whole("seconds", rapid.OneOf(rapid.Just(int64(-62135596800)), rapid.Int64Range(-62135596800, 253402300799)).Draw(t, "seconds"))
		whole("nanos", rapid.Int64Range(0, 999999999).Draw(t, "nanos"))
	case "google.protobuf.Duration":
		sign := rapid.SampledFrom([]int64{1, -1, 0}).Draw(t, "sign")
		whole("seconds", sign*rapid.Int64Range(0, 315576000000).Draw(t, "seconds"))
		whole("nanos", sign*rapid.Int64Range(0, 999999999).Draw(t, "nanos"))
	case "google.protobuf.FieldMask":
		list := m.Mutable(field("paths")).List()
		for range rapid.IntRange(0, 3).Draw(t, "paths") {
			list.Append(protoreflect.ValueOfString(rapid.StringMatching(`[a-z]{1,3}(_[a-z]{1,3})?(\.[a-z]{1,3})?`).Draw(t, "path")))
		}
	case "google.protobuf.Any":
		anyMessage(t, m)
	case "google.protobuf.Value":
		anyValue(t, m, depth)
	case "google.protobuf.Struct", "google.protobuf.ListValue":
		draw(t, m, m.Descriptor().Fields().Get(0), depth)
	case "google.protobuf.Empty":
	default:
		return false
	}
	return true
}

func anyValue(t *rapid.T, m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	most := 6
	if depth >= maxDepth {
		most = 4
	}
	f := fields.ByNumber(protoreflect.FieldNumber(rapid.IntRange(1, most).Draw(t, "kind")))
	if f.Name() == "null_value" {
		m.Set(f, protoreflect.ValueOfEnum(0))
		return
	}
	set(t, m, f, depth)
}

// anyMessage fills an Any with a message that JSON has a form for.
func anyMessage(t *rapid.T, m protoreflect.Message) {
	inside := rapid.SampledFrom([]proto.Message{
		&timestamppb.Timestamp{Seconds: 7}, &durationpb.Duration{Seconds: -3, Nanos: -5e8}, &structpb.ListValue{Values: []*structpb.Value{structpb.NewStringValue("x")}},
		&wrapperspb.BytesValue{Value: []byte("abc")}, &wrapperspb.Int64Value{Value: 12}, &wrapperspb.DoubleValue{Value: 0.5}, &wrapperspb.UInt32Value{}, &wrapperspb.FloatValue{Value: float32(math.Copysign(0, -1))},
		&fieldmaskpb.FieldMask{Paths: []string{"a_b", "c"}}, &emptypb.Empty{}, nil,
	}).Draw(t, "any")
	fields := m.Descriptor().Fields()
	m.Clear(fields.ByName("value")) // the value of a map's key that is drawn twice is filled twice
	if inside == nil {
		return
	}
	content, err := proto.MarshalOptions{Deterministic: true}.Marshal(inside)
	if err != nil {
		t.Fatal(err)
	}
	m.Set(fields.ByName("type_url"), protoreflect.ValueOfString("type.googleapis.com/"+string(inside.ProtoReflect().Descriptor().FullName())))
	if len(content) > 0 {
		m.Set(fields.ByName("value"), protoreflect.ValueOfBytes(content))
	}
}
