package engine

import (
	"context"
	"fmt"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// TestAPromptIsFilledAndTheRestSentAlong: prose with percent signs stays as it is.
func TestAPromptIsFilledAndTheRestSentAlong(t *testing.T) {
	for _, c := range []struct {
		text string
		args []any
		want string
	}{
		{"Which?", nil, "Which? []"},
		{"100%s", nil, "100%s []"},
		{"Which day in %s?", []any{"Rome", 7}, "Which day in Rome? [7]"},
		{"%d of %q, %.1f, %v", []any{1, "a", 2.25}, `1 of "a", 2.2, %v []`},
		{"Is 50% of it ok?", []any{7}, "Is 50% of it ok? [7]"},
		{"50%, 100%", []any{7}, "50%, 100% [7]"},
		{"50%% of %s", []any{"x"}, "50% of x []"},
		{"%-5s|%05d|%+d|%#x", []any{"a", 42, 1, 255}, "a    |00042|+1|0xff []"},
		{"%", []any{7}, "% [7]"},
		{"%5", []any{7}, "%5 [7]"},
		{"%[1]s", []any{7}, "%[1]s [7]"},
	} {
		if text, left := fill(c.text, c.args); fmt.Sprint(text, " ", append([]any{}, left...)) != c.want {
			t.Errorf("%q with %v: %q, %v", c.text, c.args, text, left)
		}
	}
}

// TestHandlersFormatWhatTheyEndWith: as progress.
func TestHandlersFormatWhatTheyEndWith(t *testing.T) {
	reason := "at 100%d" // go vet lets a text be no constant, as it was before there were arguments
	a := newAgent(t, Options{}, skillOf("chat", func(_ context.Context, c *Task) (string, error) {
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
