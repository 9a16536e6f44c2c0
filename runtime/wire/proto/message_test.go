package proto

import (
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/wire"
)

// node is a message that holds others of its type; its name is required.
type node struct {
	name     string
	children []*node
}

func writeNode(w *Writer, x *node) error {
	if x == nil || x.name == "" {
		return wire.NotSet()
	}
	w.String(10, x.name)
	for i, c := range x.children {
		if err := WriteInner(w, 18, c, writeNode); err != nil {
			return wire.At(err, i)
		}
	}
	return nil
}

func readNode(r *Reader, x *node) {
	var block []node
	for tag := r.Tag(); tag != 0; tag = r.Tag() {
		switch tag {
		case 10:
			x.name = r.String()
		case 18:
			x.children = ReadElem(r, x.children, &block, readNode)
		default:
			r.Skip(tag)
		}
	}
	if x.name == "" {
		r.Incomplete()
	}
}

func TestMessagesInMessages(t *testing.T) {
	in := &node{name: "a", children: []*node{{name: "b"}, {name: strings.Repeat("c", 200), children: []*node{{name: "d"}}}}}
	b, err := Append([]byte("x"), in, writeNode)
	if err != nil {
		t.Fatal(err)
	}
	var out node
	if err := Decode(b[1:], &out, readNode, writeNode); err != nil {
		t.Fatal(err)
	}
	if len(out.children) != 2 || out.children[1].children[0].name != "d" {
		t.Errorf("%+v", out)
	}
	if again, err := Append(nil, &out, writeNode); err != nil || string(again) != string(b[1:]) {
		t.Errorf("%x (%v), want %x", again, err, b[1:])
	}
}

func TestWhatIsIncompleteInTheEndIsAnError(t *testing.T) {
	for src, want := range map[string]string{
		"":                        "required, but not set",
		"\n\x01a\x12\x00":         "/0: required, but not set",
		"\x12\x03\n\x01b\n\x01a":  "",
		"\n\x01a\x12\x7f":         "unexpected end of the message",
		"\n\x01a\x12\x05\x12\x00": "unexpected end of the message",
	} {
		var x node
		got := ""
		if err := Decode([]byte(src), &x, readNode, writeNode); err != nil {
			got = err.Error()
		}
		if !strings.HasSuffix(got, want) || (got == "") != (want == "") {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
	if b, err := Append([]byte("x"), &node{name: "a", children: []*node{{}}}, writeNode); err == nil || string(b) != "x" {
		t.Errorf("%q %v", b, err)
	}
}
