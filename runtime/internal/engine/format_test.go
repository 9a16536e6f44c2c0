package engine

import (
	"context"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/task"
)

// TestHandlersFormatWhatTheyEndWith: as progress.
func TestHandlersFormatWhatTheyEndWith(t *testing.T) {
	reason := "at 100%d" // go vet lets a text be no constant, as it was before there were arguments
	a := newAgent(t, Options{}, skillOf("chat", func(_ context.Context, c *task.Task) (string, error) {
		switch c.Text() {
		case "ask":
			return "", c.Ask("How many of %d?", 3, map[string]int{"most": 3})
		case "reject":
			return "", c.Reject("not on %s", "Sundays")
		case "plain":
			return "", c.Fail(reason)
		}
		return "", c.Fail("%d of %d", 1, 3)
	}))
	for text, want := range map[string]string{
		"ask": "How many of 3?", "reject": "not on Sundays", "plain": reason, "fail": "1 of 3",
	} {
		turns := runtime.Turns(a.says(store.Owner{}, "", "", text))
		last := turns[len(turns)-1]
		var data map[string]int
		if found, err := last.Data(&data); last.Text() != want || found != (text == "ask") || err != nil || found && data["most"] != 3 {
			t.Errorf("%s: %q, %v, %v", text, last.Text(), data, err)
		}
	}
}
