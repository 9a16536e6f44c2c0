package proto

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	"github.com/a2agen/a2agen/runtime/wire"
)

// tree is a message of strings and messages, to try the writer's lengths.
type tree struct {
	text     string
	children []*tree
}

func randomTree(t *rapid.T, depth int) *tree {
	x := &tree{text: strings.Repeat("0123456789", rapid.SampledFrom([]int{0, 1, 12, 13, 90, 103, 500, 1700}).Draw(t, "length"))}
	for range rapid.IntRange(0, max(0, 4-depth)).Draw(t, "children") {
		x.children = append(x.children, randomTree(t, depth+1))
	}
	return x
}

// append is the plain way: inside out.
func (x *tree) append(b []byte) []byte {
	b = protowire.AppendString(protowire.AppendTag(b, 1, protowire.BytesType), x.text)
	for _, c := range x.children {
		b = protowire.AppendBytes(protowire.AppendTag(b, 200, protowire.BytesType), c.append(nil))
	}
	return b
}

func (x *tree) write(w *Writer) {
	w.String(1<<3|2, x.text)
	for _, c := range x.children {
		m := w.Begin(200<<3 | 2)
		c.write(w)
		w.End(m)
	}
}

func TestLengthsOfEverySizeAreRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := randomTree(t, 0)
		var w Writer
		w.Reset([]byte("before"))
		x.write(&w)
		got, err := w.Done()
		if err != nil {
			t.Fatal(err)
		}
		if want := x.append([]byte("before")); !bytes.Equal(got, want) {
			t.Fatalf("got %d bytes, want %d", len(got), len(want))
		}
	})
}

// pairField is field 1, a message of two varints.
func pairField(first, second int64) string {
	b := protowire.AppendVarint([]byte{1 << 3}, uint64(first))
	b = protowire.AppendVarint(append(b, 2<<3), uint64(second))
	return string(protowire.AppendBytes([]byte{1<<3 | 2}, b))
}

func TestScalars(t *testing.T) {
	tests := []struct {
		name  string
		write func(w *Writer)
		want  string
		read  func(r *Reader) any
		back  any
	}{
		{"bool", func(w *Writer) { w.Bool(8, true) }, "\x08\x01", func(r *Reader) any { return r.Bool() }, true},
		{"false", func(w *Writer) { w.Bool(8, false) }, "\x08\x00", func(r *Reader) any { return r.Bool() }, false},
		{"negative int32 takes ten bytes", func(w *Writer) { w.Int32(8, -1) }, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", func(r *Reader) any { return r.Int32() }, int32(-1)},
		{"int64", func(w *Writer) { put(w, 8, wire.TypeInt64, 0, int64(math.MaxInt64)) }, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f", func(r *Reader) any { return take[int64](r, wire.TypeInt64, 0) }, int64(math.MaxInt64)},
		{"uint32", func(w *Writer) { put(w, 8, wire.TypeUint32, 0, uint32(math.MaxUint32)) }, "\x08\xff\xff\xff\xff\x0f", func(r *Reader) any { return take[uint32](r, wire.TypeUint32, 0) }, uint32(math.MaxUint32)},
		{"uint64", func(w *Writer) { put(w, 8, wire.TypeUint64, 0, uint64(300)) }, "\x08\xac\x02", func(r *Reader) any { return take[uint64](r, wire.TypeUint64, 0) }, uint64(300)},
		{"float", func(w *Writer) { put(w, 13, wire.TypeFloat, 0, float32(1.5)) }, "\x0d\x00\x00\xc0\x3f", func(r *Reader) any { return take[float32](r, wire.TypeFloat, 0) }, float32(1.5)},
		{"double", func(w *Writer) { w.Float64(9, -2) }, "\x09\x00\x00\x00\x00\x00\x00\x00\xc0", func(r *Reader) any { return r.Float64() }, -2.0},
		{"string", func(w *Writer) { w.String(10, "é") }, "\x0a\x02é", func(r *Reader) any { return r.String() }, "é"},
		{"bytes", func(w *Writer) { w.Bytes(10, []byte("\xff")) }, "\x0a\x01\xff", func(r *Reader) any { return string(r.Bytes()) }, "\xff"},
		{"duration", func(w *Writer) { _ = w.Duration(10, wire.Duration{Seconds: 1, Nanos: 5e8}) }, pairField(1, 500000000), func(r *Reader) any { return r.Duration(wire.Duration{}) }, wire.Duration{Seconds: 1, Nanos: 5e8}},
		{"longest negative duration", func(w *Writer) { _ = w.Duration(10, wire.Duration{Seconds: -315576000000, Nanos: -999999999}) }, pairField(-315576000000, -999999999),
			func(r *Reader) any { return r.Duration(wire.Duration{}) }, wire.Duration{Seconds: -315576000000, Nanos: -999999999}},
		{"sint32", func(w *Writer) { put(w, 8, wire.TypeInt32, ZigZag, int32(-2)) }, "\x08\x03", func(r *Reader) any { return take[int32](r, wire.TypeInt32, ZigZag) }, int32(-2)},
		{"least sint32", func(w *Writer) { put(w, 8, wire.TypeInt32, ZigZag, int32(math.MinInt32)) }, "\x08\xff\xff\xff\xff\x0f", func(r *Reader) any { return take[int32](r, wire.TypeInt32, ZigZag) }, int32(math.MinInt32)},
		{"sint64", func(w *Writer) { put(w, 8, wire.TypeInt64, ZigZag, int64(150)) }, "\x08\xac\x02", func(r *Reader) any { return take[int64](r, wire.TypeInt64, ZigZag) }, int64(150)},
		{"least sint64", func(w *Writer) { put(w, 8, wire.TypeInt64, ZigZag, int64(math.MinInt64)) }, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", func(r *Reader) any { return take[int64](r, wire.TypeInt64, ZigZag) }, int64(math.MinInt64)},
		{"fixed32", func(w *Writer) { put(w, 13, wire.TypeUint32, Fixed, uint32(1)) }, "\x0d\x01\x00\x00\x00", func(r *Reader) any { return take[uint32](r, wire.TypeUint32, Fixed) }, uint32(1)},
		{"sfixed64", func(w *Writer) { put(w, 9, wire.TypeInt64, Fixed, int64(-1)) }, "\x09\xff\xff\xff\xff\xff\xff\xff\xff", func(r *Reader) any { return take[int64](r, wire.TypeInt64, Fixed) }, int64(-1)},
		{"raw string", func(w *Writer) { put(w, 10, wire.TypeString, Unchecked, string("\xff")) }, "\x0a\x01\xff", func(r *Reader) any { return take[string](r, wire.TypeString, Unchecked) }, "\xff"},
		{"null", func(w *Writer) { put(w, 8, wire.TypeNull, 0, wire.Null{}) }, "\x08\x00", func(r *Reader) any { return take[wire.Null](r, wire.TypeNull, 0) }, wire.Null{}},
		{"empty", func(w *Writer) { _ = w.Empty(10, wire.Object("{}")) }, "\x0a\x00", func(r *Reader) any { return string(r.Empty()) }, "{}"},
		{"tag of several bytes", func(w *Writer) { w.Bool(536870911<<3, true) }, "\xf8\xff\xff\xff\x0f\x01", func(r *Reader) any { return r.Bool() }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w Writer
			w.Reset(nil)
			tt.write(&w)
			b, err := w.Done()
			if err != nil {
				t.Fatal(err)
			}
			var r Reader
			r.Reset(b)
			r.Tag()
			if string(b) != tt.want {
				t.Errorf("wrote %x, want %x", b, tt.want)
			}
			if back := tt.read(&r); back != tt.back || r.Done() != nil || r.Tag() != 0 {
				t.Errorf("read %v, %v, want %v", back, r.Done(), tt.back)
			}
		})
	}
}

// put and take write and read a scalar in one of its forms.
func put[T any](w *Writer, tag uint32, t wire.Type, form Form, x T) {
	w.scalar(tag, t, form, unsafe.Pointer(&x))
}

func take[T any](r *Reader, t wire.Type, form Form) (x T) {
	r.scalar(t, form, unsafe.Pointer(&x))
	return x
}

func TestDurationsOutOfRangeAreFailures(t *testing.T) {
	const maxDurationSeconds = 315_576_000_000
	pair := func(seconds, nanos int64) []byte {
		var w Writer
		w.Reset(nil)
		w.pair(10, seconds, nanos)
		b, _ := w.Done()
		return b[1:]
	}
	for name, src := range map[string][]byte{
		"beyond 10,000 years": pair(maxDurationSeconds+1, 0), "signs differ": pair(1, -1),
		"signs differ the other way": pair(-1, 1), "a second of nanoseconds": pair(0, 1e9), "the least seconds": pair(math.MinInt64, 0),
		"below -10,000 years": pair(-maxDurationSeconds-1, 0),
	} {
		t.Run(name, func(t *testing.T) {
			var r Reader
			r.Reset(src)
			if d := r.Duration(wire.Duration{}); r.Done() == nil || r.Done().Error() != notADuration || d != (wire.Duration{}) {
				t.Errorf("read %v, %v", d, r.Done())
			}
		})
	}
}

func TestEmptyHasNoRoomForMembers(t *testing.T) {
	for _, tt := range []struct{ name, o, want string }{
		{"a member", `{"a/b":1}`, "/a~1b: protobuf cannot say it here"}, {"no object", `1`, "expected an object"}, {"not JSON", `{}x`, "unexpected data after the value"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var w Writer
			w.Reset(nil)
			if err := w.Empty(10, wire.Object(tt.o)); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// structBytes writes JSON as a Struct's content.
func structBytes(t testing.TB, o string) []byte {
	t.Helper()
	var w Writer
	w.Reset(nil)
	var r wire.Reader
	r.Reset([]byte(o))
	w.jsonObject(&r)
	b, err := w.Done()
	if err != nil || r.Done() != nil {
		t.Fatal(err, r.Done())
	}
	return b
}

// entryOf is an entry of a Struct's content; value is the content of its value.
func entryOf(key, value string) string {
	b := protowire.AppendString([]byte{oneTag}, key)
	b = protowire.AppendString(append(b, entryValue), value)
	return string(protowire.AppendBytes([]byte{oneTag}, b))
}

// TestProtoAttacksTakeLinearTime reads what would take minutes if repeated keys, pieces or nesting cost more than their length.
func TestAttacksTakeLinearTime(t *testing.T) {
	var many strings.Builder
	for range 100_000 {
		many.WriteString(entryOf("k", ""))
		many.WriteString(entryOf(strconv.Itoa(many.Len()), ""))
	}
	object := func(content string) string { return string(protowire.AppendString([]byte{valueStruct}, content)) }
	nested := ""
	for range wire.MaxDepth - 2 { // each level has its key twice
		nested = entryOf("k", "") + entryOf("k", object(nested))
	}
	pieces := strings.Repeat("\x32\x02\x0a\x00", 200_000) // of one list
	for name, src := range map[string]string{"repeated keys": many.String(), "nested repeated keys": nested, "pieces of a list": entryOf("k", pieces)} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			var r Reader
			r.Reset(protowire.AppendString(nil, src))
			if o := r.Struct(nil); r.Done() != nil || len(o) < 2 {
				t.Fatalf("%s, %v", o[:min(len(o), 40)], r.Done())
			}
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

// overwritten are contents of a Struct in which a malformed piece is replaced by a later one.
var overwritten = []string{
	entryOf("k", "\x2a\x01\x0a\x20\x01"),                    // an object without its content, then true
	entryOf("k", "\x32\x01\x0a\x20\x01"),                    // a list likewise
	entryOf("k", "\x2a\x01\x0a\x32\x00"),                    // an object, then a list
	entryOf("k", "\x2a\x01\x0a") + entryOf("k", "\x20\x01"), // an entry, then another one with its key
}

func TestWhatIsOverwrittenHasToBeWellFormed(t *testing.T) {
	for _, src := range overwritten {
		var r Reader
		r.Reset(protowire.AppendString(nil, src))
		if o := r.Struct(nil); r.Done() == nil {
			t.Errorf("%x is read as %s", src, o)
		}
	}
}

// FuzzProtoStruct checks reading and writing of raw JSON against structpb.
func FuzzProtoStruct(f *testing.F) {
	for _, o := range []string{`{}`, `{"b":[1,null,true,"x",{}],"a":{"z":1e-7,"y":-0}}`, `{"":{"":""}}`} {
		f.Add(structBytes(f, o))
	}
	for _, src := range overwritten {
		f.Add([]byte(src))
	}
	f.Add([]byte("\x0a\x03\x0a\x01k\x0a\x07\x0a\x01k\x12\x02\x20\x01"))
	f.Add([]byte("\x0a\x0e\x0a\x01k\x12\x09\x11\x00\x00\x00\x00\x00\x00\xf8\x7f"))
	f.Fuzz(func(t *testing.T, src []byte) {
		var r Reader
		r.Reset(protowire.AppendBytes(nil, src))
		ours := r.Struct(nil)
		if r.Done() != nil {
			return
		}
		if _, err := wire.ParseObject(ours); err != nil {
			t.Fatalf("%s: %v", ours, err)
		}
		b := structBytes(t, string(ours))
		var again structpb.Struct
		if err := proto.Unmarshal(b, &again); err != nil {
			t.Fatal(err)
		}
		if want, err := (proto.MarshalOptions{Deterministic: true}).Marshal(&again); err != nil || !bytes.Equal(b, want) {
			t.Fatalf("%s: got %x, want %x, %v", ours, b, want, err)
		}
		var theirs structpb.Struct
		if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(src, &theirs); err != nil {
			t.Fatalf("we read %s, they %v", ours, err)
		}
		if !equalStructs(&theirs, &again) {
			t.Fatalf("we read %s, they read %v", ours, &theirs)
		}
	})
}

// equalStructs compares; a value without content is null.
func equalStructs(a, b *structpb.Struct) bool {
	if len(a.GetFields()) != len(b.GetFields()) {
		return false
	}
	for key, x := range a.GetFields() {
		if y, ok := b.GetFields()[key]; !ok || !equalValues(x, y) {
			return false
		}
	}
	return true
}

func equalValues(a, b *structpb.Value) bool {
	switch x := a.GetKind().(type) {
	case *structpb.Value_StructValue:
		_, ok := b.GetKind().(*structpb.Value_StructValue)
		return ok && equalStructs(x.StructValue, b.GetStructValue())
	case *structpb.Value_ListValue:
		list, other := x.ListValue.GetValues(), b.GetListValue().GetValues()
		_, ok := b.GetKind().(*structpb.Value_ListValue)
		for i := 0; ok && i < len(list); i++ {
			ok = len(list) == len(other) && equalValues(list[i], other[i])
		}
		return ok && len(list) == len(other)
	case nil, *structpb.Value_NullValue:
		_, ok := b.GetKind().(*structpb.Value_NullValue)
		return ok
	}
	return proto.Equal(a, b)
}
