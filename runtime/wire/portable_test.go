package wire

import (
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
)

func TestPortableKnowsWhatOthersCannotRead(t *testing.T) {
	nested := func(objects, lists int) string {
		return strings.Repeat(`{"a":`, objects) + strings.Repeat("[", lists) + "1" + strings.Repeat("]", lists) + strings.Repeat("}", objects)
	}
	for _, tt := range []struct{ raw, pointer string }{
		{``, "good"}, {`null`, "good"}, {`"1e400"`, "good"}, {`{"1e400":"\"1e400"}`, "good"},
		{`[0,-0,1.5,1e308,1.7976931348623157e308,-1e308,1e-400,0.` + strings.Repeat("0", 400) + `1]`, "good"},
		{`1e400`, ""}, {`-1e400`, ""}, {`[1,1E+999]`, "/1"}, {`{"a":{"b/c":[true,1.8e308]}}`, "/a/b~1c/1"},
		{strings.Repeat("9", 308), "good"}, {strings.Repeat("9", 309), ""}, {"1" + strings.Repeat("0", 308), "good"},
		{nested(30, 1), "good"}, {nested(31, 0), strings.Repeat("/a", 30)},
		{nested(0, 46), "good"}, {nested(0, 47), strings.Repeat("/0", 46)},
		{`[` + strings.Repeat(nested(30, 0)+",", 3) + nested(30, 0) + `]`, "good"},
	} {
		got := "good"
		if err := Portable([]byte(tt.raw), MaxNesting); err != nil {
			got = err.(*Error).Pointer
		}
		if got != tt.pointer {
			t.Errorf("%.60s: %q, want %q", tt.raw, got, tt.pointer)
		}
	}
	if err := Portable([]byte(nested(90, 0)), 0); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}

func TestPortableTakesLinearTime(t *testing.T) {
	for name, src := range map[string]func(n int) string{
		"numbers": func(n int) string { return "[" + strings.Repeat("1e300,", n) + "1e400]" },
		"texts":   func(n int) string { return `["` + strings.Repeat(`\\\"`, n) + `",1e400]` },
		"names":   func(n int) string { return "{" + strings.Repeat(`"a":1,`, n) + `"b":1e400}` },
		"digits":  func(n int) string { return strings.Repeat("9", n) },
	} {
		t.Run(name, func(t *testing.T) {
			growth.Linear(t, 64<<10, func(n int) func() {
				raw := []byte(src(n))
				return func() {
					if Portable(raw, MaxNesting) == nil {
						t.Error("it is taken")
					}
				}
			})
		})
	}
}
