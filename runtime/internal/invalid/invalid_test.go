package invalid

import (
	"errors"
	"slices"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/wire"
)

func TestFieldPathsComeFromPointers(t *testing.T) {
	for _, c := range []struct{ root, pointer, want string }{
		{"", "", ""}, {"", "/message/parts/0/raw", "message.parts[0].raw"}, {"input", "", "input"}, {"input", "/a~1b/c~0d", "input.a/b.c~d"}, {"input", "/3/x", "input[3].x"},
	} {
		if got := Path(c.root, c.pointer); got != c.want {
			t.Errorf("Path(%q, %q) is %q, want %q", c.root, c.pointer, got, c.want)
		}
	}
}

func TestEveryFindingIsAViolation(t *testing.T) {
	found := &check.Error{Violations: []check.Violation{{Pointer: "/a", Message: "is bad"}, {Pointer: "/b/0", Message: "is worse"}}}
	for _, c := range []struct {
		err  error
		note string
		want []runtime.Violation
	}{
		{Input(found), "the input does not fit the skill: input.a is bad", []runtime.Violation{{Field: "input.a", Description: "is bad"}, {Field: "input.b[0]", Description: "is worse"}}},
		{Input(errors.New("secret")), "the input does not fit the skill", nil},
		{Params(&wire.Error{Pointer: "/message", Reason: "is null"}), "message is null", []runtime.Violation{{Field: "message", Description: "is null"}}},
		{Below("message.parts[1]", &wire.Error{Pointer: "/data", Reason: "is deep"}), "message.parts[1].data is deep", []runtime.Violation{{Field: "message.parts[1].data", Description: "is deep"}}},
		{Field("id", "is required"), "id is required", []runtime.Violation{{Field: "id", Description: "is required"}}},
	} {
		e := runtime.Made(c.err)
		if e == nil || e.Code != runtime.ErrInvalidParams.Code || e.Note != c.note || !slices.Equal(e.Violations(), c.want) {
			t.Errorf("%v has the note %q and the violations %v", c.err, e.Note, e.Violations())
		}
	}
	if err := Input(nil); err != nil {
		t.Errorf("nothing wrong is %v", err)
	}
}
