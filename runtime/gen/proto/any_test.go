package proto

import (
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/wire"
)

func TestGroupsEndWithTheirTag(t *testing.T) {
	const tag = 1<<3 | 3
	for _, tt := range []struct{ name, src, want string }{
		{"whole", "\x10\x07\x0c", ""},
		{"a group inside that is not known", "\x1b\x08\x01\x1c\x10\x07\x0c", ""},
		{"cut short", "\x10\x07", cutShort},
		{"ended by another", "\x10\x07\x14", "the end of a group that did not begin"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r Reader
			r.Reset([]byte("\x0b" + tt.src))
			r.Tag()
			m, got := r.EnterGroup(tag, 1), int32(0)
			for x := r.Tag(); x != 0; x = r.Tag() {
				if x == 2<<3 {
					got = r.Int32()
				} else {
					r.Skip(x)
				}
			}
			r.Leave(m)
			reason := ""
			if err := r.Done(); err != nil {
				reason = err.Error()
			}
			if reason != tt.want || tt.want == "" && (got != 7 || r.Tag() != 0) {
				t.Errorf("%q, read %d", reason, got)
			}
		})
	}
	var r Reader
	r.Reset([]byte("\x0c"))
	if r.Skip(r.Tag()); r.Done() == nil {
		t.Error("the end of a group was read without its beginning")
	}
}

// pet is a message of a definition.
type pet struct{ name string }

func (p *pet) AppendJSON(b []byte) ([]byte, error) {
	if p.name == "" {
		return append(b, "{}"...), nil
	}
	return append(b, `{"name":"`+p.name+`"}`...), nil
}
func (p *pet) AppendProto(b []byte) ([]byte, error) { return append(b, p.name...), nil }
func (p *pet) UnmarshalProto(src []byte) error      { p.name = string(src); return nil }
func (p *pet) UnmarshalJSON(src []byte) error {
	v, _ := wire.Object(src).Get("name")
	p.name = strings.Trim(string(v), `"`)
	return nil
}

func TestAnyIsKeptAsItCameAndTurnedWhereItsTypeIsKnown(t *testing.T) {
	resolve := func(name string) any {
		if name == "p.Pet" {
			return new(pet)
		}
		return nil
	}
	for _, tt := range []struct{ json, proto string }{
		{`{}`, ""},
		{`{"@type":"x/p.Pet","name":"Rex"}`, "\x0a\x07x/p.Pet\x12\x03Rex"},
		{`{"@type":"x/p.Pet"}`, "\x0a\x07x/p.Pet"},
		{`{"@type":"t/google.protobuf.Duration","value":"1.500s"}`, "\x0a\x1at/google.protobuf.Duration\x12\x08\x08\x01\x10\x80\xca\xb5\xee\x01"},
		{`{"@type":"t/google.protobuf.StringValue","value":""}`, "\x0a\x1dt/google.protobuf.StringValue"},
		{`{"@type":"t/google.protobuf.Int64Value","value":"0"}`, "\x0a\x1ct/google.protobuf.Int64Value"},
		{`{"@type":"t/google.protobuf.FloatValue","value":-0}`, "\x0a\x1ct/google.protobuf.FloatValue\x12\x05\x0d\x00\x00\x00\x80"},
		{`{"@type":"t/google.protobuf.Empty"}`, "\x0a\x17t/google.protobuf.Empty"},
	} {
		var w Writer
		w.Reset(nil)
		if err := w.Any(0, ofJSON(t, tt.json), resolve); err != nil {
			t.Errorf("%s: %v", tt.json, err)
		}
		if b, _ := w.Done(); string(b[1:]) != tt.proto {
			t.Errorf("%s is written as %q", tt.json, b[1:])
		}
		if b, err := AppendAny(nil, ofProto(t, tt.proto), resolve); string(b) != tt.json || err != nil {
			t.Errorf("%q is written as %s, %v", tt.proto, b, err)
		}
	}
	const far = `{"@type":"x/q.Far","a":1}`
	if b, err := AppendAny(nil, ofJSON(t, far), resolve); string(b) != far || err != nil {
		t.Errorf("%s, %v", b, err)
	}
	var w Writer
	w.Reset(nil)
	if err := w.Any(0, ofJSON(t, far), resolve); err == nil || err.Error() != "the type x/q.Far is not of the definition, and its content is known as JSON only" {
		t.Error(err)
	}
	if _, err := AppendAny(nil, ofProto(t, "\x0a\x07x/q.Far\x12\x01a"), resolve); err == nil {
		t.Error("an unknown type was turned into JSON")
	}
	var r wire.Reader
	r.Reset([]byte(`{"a":1}`))
	if ReadAny(&r); r.Done() == nil {
		t.Error("an Any without a type was read")
	}
}

func ofJSON(t *testing.T, src string) *wire.Any {
	t.Helper()
	var r wire.Reader
	r.Reset([]byte(src))
	x := ReadAny(&r)
	if err := r.Done(); err != nil {
		t.Fatal(err)
	}
	return x
}

func ofProto(t *testing.T, src string) *wire.Any {
	t.Helper()
	var r Reader
	r.Reset(append([]byte{10, byte(len(src))}, src...))
	r.Tag()
	x := r.Any(nil)
	if err := r.Done(); err != nil {
		t.Fatal(err)
	}
	return x
}
