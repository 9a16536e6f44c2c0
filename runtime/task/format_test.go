package task

import (
	"fmt"
	"testing"
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
