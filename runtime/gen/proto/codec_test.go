package proto

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/a2agen/a2agen/runtime/wire"
)

// node is a message that holds others of its type; its name is required.
type node struct {
	name     *string
	children []*node
}

var codecNode Codec[node]

func init() {
	codecNode.Fields = []Field{
		{Number: 1, Name: "name", At: unsafe.Offsetof(node{}.name), Shape: wire.Pointer, Flags: wire.MustRead | wire.MustSet},
		{Number: 2, Name: "children", At: unsafe.Offsetof(node{}.children), Type: wire.TypeMessage, Of: &codecNode, Shape: wire.Listed},
	}
}

func named(name string, children ...*node) *node { return &node{name: &name, children: children} }

func TestMessagesInMessages(t *testing.T) {
	in := named("a", named("b"), named(strings.Repeat("c", 200), named("d")))
	b, err := codecNode.Append([]byte("x"), in)
	if err != nil {
		t.Fatal(err)
	}
	var out node
	if err := codecNode.Unmarshal(b[1:], &out); err != nil {
		t.Fatal(err)
	}
	if len(out.children) != 2 || *out.children[1].children[0].name != "d" {
		t.Errorf("%+v", out)
	}
	if again, err := codecNode.Append(nil, &out); err != nil || string(again) != string(b[1:]) {
		t.Errorf("%x (%v), want %x", again, err, b[1:])
	}
}

func TestElementsOfAListAreMessagesOfTheirOwn(t *testing.T) {
	in := named("a")
	for i := range 100 {
		in.children = append(in.children, named(strings.Repeat("x", i)))
	}
	b, err := codecNode.Append(nil, in)
	if err != nil {
		t.Fatal(err)
	}
	var out node
	if err := codecNode.Unmarshal(b, &out); err != nil || len(out.children) != 100 {
		t.Fatal(len(out.children), err)
	}
	for i, c := range out.children {
		if len(*c.name) != i {
			t.Errorf("element %d is %q", i, *c.name)
		}
	}
}

func TestWhatIsIncompleteInTheEndIsAnError(t *testing.T) {
	for src, want := range map[string]string{
		"":                        "required, but not set",
		"\n\x01a\x12\x00":         "/children/0/name: required, but not set",
		"\x12\x03\n\x01b\n\x01a":  "",
		"\n\x01a\x12\x7f":         "unexpected end of the message",
		"\n\x01a\x12\x05\x12\x00": "unexpected end of the message",
	} {
		var x node
		got := ""
		if err := codecNode.Unmarshal([]byte(src), &x); err != nil {
			got = err.Error()
		}
		if !strings.HasSuffix(got, want) || (got == "") != (want == "") {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
	if b, err := codecNode.Append([]byte("x"), named("a", &node{})); err == nil || string(b) != "x" {
		t.Errorf("%q %v", b, err)
	}
}
