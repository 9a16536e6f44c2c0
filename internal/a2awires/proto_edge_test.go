package a2awires

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/a2agen/a2agen/runtime/wire"
)

// field builds a length-delimited field out of strings, one after the other.
func field(number protowire.Number, content ...string) string {
	return string(protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), strings.Join(content, "")))
}

func varint(number protowire.Number, x uint64) string {
	return string(protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), x))
}

func double(number protowire.Number, bits uint64) string {
	return string(protowire.AppendFixed64(protowire.AppendTag(nil, number, protowire.Fixed64Type), bits))
}

// entry is a google.protobuf.Struct's entry.
func entry(key string, value ...string) string { return field(1, field(1, key), field(2, value...)) }

const (
	working = "\x08\x02" // TaskStatus.state
	one     = 0x3ff0000000000000
	nan     = 0x7ff8000000000001
)

func TestProtoMessagesAreReadAsProtobufSays(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	tests := []struct {
		name string
		src  string
		want protoMessage
	}{
		{"last scalar counts", field(2, "a") + field(2, "b"), &GetTaskRequest{ID: "b"}},
		{"explicit zero is kept", field(2, "a") + varint(3, 0), &GetTaskRequest{ID: "a", HistoryLength: new(int32)}},
		{"absent scalar is zero though required", "", &GetTaskRequest{}},
		{"unknown fields are skipped", varint(50, 1) + double(51, 1) + field(52, "x") + "\x9b\x03\x08\x01\x9c\x03" + "\xa5\x03aaaa" + field(2, "a"), &GetTaskRequest{ID: "a"}},
		{"known field of another wire type is unknown", varint(2, 7) + field(2, "a"), &GetTaskRequest{ID: "a"}},
		{"int32 of ten bytes is negative", field(2, "a") + varint(3, 0xfffffffffffffffe), &GetTaskRequest{ID: "a", HistoryLength: ptr(int32(-2))}},
		{"tag of more bytes than needed", "\x92\x00\x01a", &GetTaskRequest{ID: "a"}},
		{"pieces of a message are merged", field(1, "t") + field(3, varint(1, 2)) + field(3, field(3, varint(1, uint64(at.Unix())))),
			&Task{ID: "t", Status: &TaskStatus{State: TaskStateWorking, Timestamp: at}}},
		{"what one piece lacks another may bring", field(3, field(3, varint(1, uint64(at.Unix())))) + field(3, working),
			&Task{Status: &TaskStatus{State: TaskStateWorking, Timestamp: at}}},
		{"pieces of a timestamp are merged", field(3, working, field(3, varint(1, uint64(at.Unix()))), field(3, varint(2, 5))),
			&Task{Status: &TaskStatus{State: TaskStateWorking, Timestamp: at.Add(5)}}},
		{"pieces of a struct are merged", field(3, working) + field(6, entry("a", varint(4, 1)), entry("b", field(3, "x"))) + field(6, entry("a", double(2, one))),
			&Task{Status: &TaskStatus{State: TaskStateWorking}, Metadata: wire.Object(`{"a":1,"b":"x"}`)}},
		{"last entry of a key counts", field(3, working) + field(6, entry("a", varint(4, 1)), entry("b"), entry("a", varint(4, 0))),
			&Task{Status: &TaskStatus{State: TaskStateWorking}, Metadata: wire.Object(`{"a":false,"b":null}`)}},
		{"empty struct is set", field(3, working) + field(6), &Task{Status: &TaskStatus{State: TaskStateWorking}, Metadata: wire.Object(`{}`)}},
		{"unknown number of an enum is kept", field(3, varint(1, 77)), &Task{Status: &TaskStatus{State: "77"}}},
		{"last case of a oneof counts", field(1, "text") + field(3, "url"), &Part{Content: PartURL("url")}},
		{"zero case of a oneof is set", field(1), &Part{Content: PartText("")}},
		{"empty bytes of a oneof are set", field(2), &Part{Content: PartRaw{}}},
		{"empty value is null", field(4), &Part{Content: PartData("null")}},
		{"last kind of a value counts", field(4, field(3, "x"), varint(1, 0), field(6)), &Part{Content: PartData("[]")}},
		{"pieces of a list are merged", field(4, field(6, field(1, varint(4, 1)))) + field(4, field(6, field(1, double(2, one)))), &Part{Content: PartData("[true,1]")}},
		{"pieces of a list within a value are merged", field(4, field(6, field(1, varint(4, 1))), field(6, field(1)), field(6, field(1, field(3, "s")))), &Part{Content: PartData(`[true,null,"s"]`)}},
		{"value between pieces starts anew", field(4, field(6, field(1))) + field(1, "t") + field(4, field(6)), &Part{Content: PartData("[]")}},
		{"pieces of a case are merged", field(1, field(2, "header")) + field(1, field(3, "X-Key")),
			&SecurityScheme{Scheme: &APIKeySecurityScheme{Location: "header", Name: "X-Key"}}},
		{"another case between pieces starts anew", field(1, field(2, "header")) + field(5) + field(1, field(3, "X-Key")),
			&SecurityScheme{Scheme: &APIKeySecurityScheme{Name: "X-Key"}}},
		{"unknown field where a oneof is missing is kept as its case", varint(99, 1), &Part{Content: &UnknownPartContent{Name: "99", Value: wire.Value(`"mAYB"`)}}},
		{"unknown field beside a case is skipped", varint(99, 1) + field(1, "t"), &Part{Content: PartText("t")}},
		{"map entry without key or value", field(1), &SecurityRequirement{Schemes: map[string]*StringList{"": {}}}},
		{"last map entry of a key counts", field(1, field(1, "k"), field(2, field(1, "a"))) + field(1, field(2, field(1, "b")), field(1, "k")),
			&SecurityRequirement{Schemes: map[string]*StringList{"k": {List: []string{"b"}}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := emptyLike(tt.want)
			if err := got.UnmarshalProto([]byte(tt.src)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			sameAsTheirs(t, got, []byte(tt.src))
		})
	}
}

func ptr[T any](x T) *T { return &x }

// emptyLike returns an empty message of the type of x.
func emptyLike(x protoMessage) protoMessage {
	return reflect.New(reflect.TypeOf(x).Elem()).Interface().(protoMessage)
}

// sameAsTheirs checks that what we write after reading src is what google.golang.org/protobuf has read from it, unknown fields
// aside.
func sameAsTheirs(t *testing.T, x protoMessage, src []byte) {
	t.Helper()
	ours, err := x.AppendProto(nil)
	if err != nil {
		t.Fatal(err)
	}
	discard := proto.UnmarshalOptions{DiscardUnknown: true}
	want, got := dynamicpb.NewMessage(descriptor(t, messageName(x))), dynamicpb.NewMessage(descriptor(t, messageName(x)))
	if err := discard.Unmarshal(src, want); err != nil {
		t.Fatal(err)
	}
	if err := discard.Unmarshal(ours, got); err != nil {
		t.Fatal(err)
	}
	normalize(want)
	if !proto.Equal(want, got) {
		t.Errorf("they read %v, we wrote %v", want, got)
	}
}

func TestProtoFailuresNameTheMember(t *testing.T) {
	part := field(1, "hello")
	deep := func(n int) string { // a list in a list …
		s := ""
		for range n {
			s = field(6, field(1, s))
		}
		return field(4, s)
	}
	tests := []struct {
		name, src string
		into      protoMessage
		want      string
	}{
		{"message missing", field(1, "t"), &Task{}, "/status: required, but not set"},
		{"enum missing", field(3), &Task{}, "/status/state: required, but not set"},
		{"enum unspecified", field(3, varint(1, 0)), &Task{}, "/status/state: required, but not set"},
		{"list too short", field(3, working) + field(5, varint(4, 1)), &Task{}, "/history/0/parts: at least 1 needed"},
		{"no case", "", &StreamResponse{}, "exactly one of task, message, statusUpdate, artifactUpdate is required"},
		{"no case in a list", varint(4, 1) + field(5, part) + field(5, field(7, "text/plain")), &Message{}, "/parts/1: exactly one of text, raw, url, data is required"},
		{"several unknown fields are no case", varint(98, 1) + varint(99, 1), &Part{}, "exactly one of text, raw, url, data is required"},
		{"required in a map", field(8, field(1, "a/b~"), field(2, field(1, field(2, "x"))), varint(5, 1)) + field(8, field(1, "c")), &AgentCard{}, "/supportedInterfaces: at least 1 needed"},
		{"cut short", field(1, "t")[:2], &Task{}, "/id: unexpected end of the message"},
		{"cut short in a message", "\x1a\x05\x08", &Task{}, "/status: unexpected end of the message"},
		{"message longer than the one around it", field(3, "\x12\x7f\x00"), &Task{}, "/status/message: unexpected end of the message"},
		{"no length", "\x0a", &Task{}, "/id: unexpected end of the message"},
		{"field number 0", "\x02\x00", &Task{}, "invalid field number"},
		{"field number too large", "\x80\x80\x80\x80\x10\x00", &Task{}, "invalid field number"},
		{"integer of more than 64 bits", "\x18" + strings.Repeat("\xff", 10) + "\x01", &GetTaskRequest{}, "/historyLength: integer of more than 64 bits"},
		{"wire type 6", "\x0e", &Task{}, "/id: invalid wire type"},
		{"end of a group without its start", "\x0c", &Task{}, "/id: the end of a group that did not begin"},
		{"group without an end", "\x9b\x06\x08\x01", &Task{}, "unexpected end of the message"},
		{"group ended by another", "\x9b\x06\xa4\x06", &Task{}, "the end of a group that did not begin"},
		{"groups nested too deeply", strings.Repeat("\x9b\x06", 200), &Task{}, "nested too deeply"},
		{"not UTF-8", field(3, working) + field(5, field(7, "ok"), field(7, "\xff")), &Task{}, "/history/0/extensions/1: invalid UTF-8"},
		{"not UTF-8 in data", field(4, field(5, entry("k", field(6, field(1, field(3, "\xff")))))), &Part{}, "/data/k/0: invalid UTF-8"},
		{"not UTF-8 as a key of data", field(4, field(5, entry("\xff"))), &Part{}, "/data: invalid UTF-8"},
		{"NaN in data", field(4, field(5, entry("k", double(2, nan)))), &Part{}, "/data/k: not a number that JSON can express"},
		{"time after the year 9999", field(3, working, field(3, varint(1, 253402300800))), &Task{}, "/status/timestamp: not a time within the years 1 to 9999"},
		{"nanoseconds below zero", field(3, working, field(3, varint(2, ^uint64(0)))), &Task{}, "/status/timestamp: not a time within the years 1 to 9999"},
		{"data nested too deeply", deep(wire.MaxDepth), &Part{}, "/data" + strings.Repeat("/0", wire.MaxDepth-1) + ": nested too deeply"},
		{"empty messages without end", strings.Repeat(field(4), 1<<20), &Task{}, "/artifacts/100: required members are missing in many places"},
		{"messages without end", strings.Repeat(field(8), 1<<20+1), &AgentSkill{}, "/securityRequirements/1048576: too many messages in one"},
		{"merged too often", strings.Repeat(field(6, entry("key", field(3, strings.Repeat("x", 4000)))), 300), &Task{}, "/metadata: given too many times"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.into.UnmarshalProto([]byte(tt.src))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if err != nil {
				wireError(t, err)
			}
		})
	}
	if err := new(Part).UnmarshalProto([]byte(deep(wire.MaxDepth - 1))); err != nil {
		t.Errorf("data of the largest depth: %v", err)
	}
}

func TestWhatProtobufCannotSayIsAnErrorOfWriting(t *testing.T) {
	message := func(parts ...*Part) *Message {
		return &Message{Role: RoleUser, Parts: parts}
	}
	text := &Part{Content: PartText("t")}
	unknown := func(name, value string) *Message {
		return message(&Part{Content: &UnknownPartContent{Name: name, Value: wire.Value(value)}})
	}
	const noNumber = "this alternative has no number in protobuf"
	tests := []struct {
		name string
		x    protoMessage
		want string
	}{
		{"no message", &Task{}, "/status: required, but not set"},
		{"no enum value", &Message{Parts: []*Part{text}}, "/role: required, but not set"},
		{"enum value without a number", &Message{Role: "ROLE_NEW", Parts: []*Part{text}}, `/role: protobuf has no number for "ROLE_NEW"`},
		{"too few parts", message(), "/parts: at least 1 needed"},
		{"no case", message(text, &Part{}), "/parts/1: exactly one of text, raw, url, data is required"},
		{"nil in a list", message(text, nil), "/parts/1: required, but not set"},
		{"nil as a case", &StreamResponse{Payload: (*Task)(nil)}, "/task: required, but not set"},
		{"unknown case", unknown("video", `{"a":1}`), "/parts/0/video: " + noNumber},
		{"unknown case of a number that is no field", unknown("99", `"AAAA"`), "/parts/0/99: " + noNumber},
		{"unknown case of another number", unknown("98", `"mAYB"`), "/parts/0/98: " + noNumber},
		{"unknown case of two fields", unknown("99", `"mAYBmAYB"`), "/parts/0/99: " + noNumber},
		{"data that is not JSON", message(&Part{Content: PartData(`{"a":tru}`)}), "/parts/0/data/a: invalid literal"},
		{"data with something after it", message(&Part{Content: PartData(`{} {}`)}), "/parts/0/data: unexpected data after the value"},
		{"a member twice", message(&Part{Content: PartData(`{"b":1,"a":[],"b":2}`)}), "/parts/0/data/b: member given more than once"},
		{"number that no double is near", message(&Part{Content: PartData(`[1,1e400]`)}), "/parts/0/data/1: number out of range"},
		{"metadata that is no object", &Message{Role: RoleUser, Parts: []*Part{text}, Metadata: wire.Object(`[]`)}, "/metadata: expected an object"},
		{"brackets that do not match", &Message{Role: RoleUser, Parts: []*Part{text}, Metadata: wire.Object(`{"a":{]}`)}, "/metadata/a: expected a member name"},
		{"two values without a comma", &Message{Role: RoleUser, Parts: []*Part{text}, Metadata: wire.Object(`{"a":12b}`)}, "/metadata/a: expected ',' or '}'"},
		{"year 10000", &TaskStatus{State: TaskStateWorking, Timestamp: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, "/timestamp: year outside 1 to 9999"},
		{"in a map", &SecurityRequirement{Schemes: map[string]*StringList{"b": {}, "a/b": nil}}, "/schemes/a~1b: required, but not set"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := tt.x.AppendProto([]byte("x"))
			if err == nil || err.Error() != tt.want || string(b) != "x" {
				t.Errorf("got %q, %v, want %s", b, err, tt.want)
			}
		})
	}
}

func TestProtoLosesOnlyHowNumbersAreWritten(t *testing.T) {
	tests := []struct{ name, in, out string }{
		{"trailing zeros", `1.50`, `1.5`},
		{"exponent", `12e2`, `1200`},
		{"large exponent", `1e300`, `1e+300`},
		{"integer of more than 53 bits", `9007199254740993`, `9007199254740992`},
		{"negative zero", `-0`, `-0`},
		{"order of members", `{"b":{"z":1,"y":[{"d":1,"c":2}]},"a":null}`, `{"a":null,"b":{"y":[{"c":2,"d":1}],"z":1}}`},
		{"escapes", `{"\u00e9\n":"\ud83d\ude00\/"}`, `{"é\n":"😀/"}`},
		{"blanks", "{ \"a\" : [ 1 , true ] }", `{"a":[1,true]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := (&Part{Content: PartData(tt.in)}).AppendProto(nil)
			if err != nil {
				t.Fatal(err)
			}
			var back Part
			if err := back.UnmarshalProto(b); err != nil {
				t.Fatal(err)
			}
			if got, ok := back.Content.(PartData); !ok || string(got) != tt.out {
				t.Errorf("got %s, want %s", got, tt.out)
			}
		})
	}
}

func TestTextThatIsNotUTF8IsWrittenAsInJSON(t *testing.T) {
	b, err := (&Part{Content: PartText("a\xff\xfeb")}).AppendProto(nil)
	if err != nil || string(b) != field(1, "a\ufffd\ufffdb") {
		t.Errorf("got %q, %v", b, err)
	}
}

func TestProtoKeepsNothingOfItsSource(t *testing.T) {
	src := []byte(field(1, "t") + field(3, working) + field(6, entry("key", field(3, "value"))) + field(4, field(4, field(2, "raw"))))
	var x Task
	if err := x.UnmarshalProto(src); err != nil {
		t.Fatal(err)
	}
	before, err := x.AppendProto(nil)
	if err != nil {
		t.Fatal(err)
	}
	clear(src)
	after, err := x.AppendProto(nil)
	if err != nil || string(before) != string(after) {
		t.Errorf("after the source was cleared: %q, %v, want %q", after, err, before)
	}
}

func TestUnknownCaseIsBase64OfItsField(t *testing.T) {
	src := field(77, "content of a case to come")
	var x Part
	if err := x.UnmarshalProto([]byte(src)); err != nil {
		t.Fatal(err)
	}
	want := &UnknownPartContent{Name: "77", Value: wire.Value(`"` + base64.StdEncoding.EncodeToString([]byte(src)) + `"`)}
	if diff := cmp.Diff(PartContent(want), x.Content); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	b, err := x.AppendProto(nil)
	if err != nil || string(b) != src {
		t.Errorf("written again: %q, %v, want %q", b, err, src)
	}
}
