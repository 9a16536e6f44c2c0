package stored_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// What a newer program wrote is refused, with an error that passes, and not read as if it were something older; what an
// older one wrote is read, also when its version is no longer spoken.
func TestWhatANewerProgramWroteIsNotGuessed(t *testing.T) {
	p := a2a.Protocol()
	k := stored.NewCodec(p)
	for n, name := range []string{k.Newest(), "0.3", "1.1", "2.0", "10.0", "1.1-mine"} {
		k.Name(int64(n), name)
	}
	message := p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m"}, Parts: []runtime.Part{runtime.Text("hi")}})
	doc, err := k.Append(nil, message)
	if err != nil {
		t.Fatal(err)
	}
	request, err := k.Request(&runtime.SendRequest{Message: message})
	if err != nil {
		t.Fatal(err)
	}
	for n := range int64(6) {
		refused := n >= 2
		_, readErr := k.Read(n, doc)
		_, requestErr := k.ReadRequest(n, request)
		for what, err := range map[string]error{"an event": readErr, "a request": requestErr} {
			if (err != nil) != refused || refused && !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%s of wire %d: %v", what, n, err)
			}
		}
		if !k.Knows(n) {
			t.Errorf("wire %d has no name", n)
		}
	}
	if got := k.Foreign(); !slices.Equal(got, []int64{2, 3, 4, 5}) {
		t.Errorf("wires of newer programs are %v", got)
	}
	if _, err := k.Read(9, doc); err == nil || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("of a wire without a name: %v", err)
	}
}
