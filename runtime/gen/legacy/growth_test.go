package legacy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
)

// Whatever an older peer sends takes time linear in its size.
func TestHooksTakeLinearTime(t *testing.T) {
	list := func(n int, item string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(",", min(i, 1)) + strings.ReplaceAll(item, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	for name, src := range map[string]func(n int) string{
		"members":  func(n int) string { return `{"kind":"data","data":{` + list(n, `"k#":#`) + `}}` },
		"metadata": func(n int) string { return `{"kind":"text","text":"x","metadata":{` + list(n, `"k#":#`) + `}}` },
		"wrapped data": func(n int) string {
			return `{"kind":"data","data":{"value":[` + list(n, "#") + `]},"metadata":{"data_part_compat":true}}`
		},
		"an unknown part": func(n int) string { return `{"kind":"beam",` + list(n, `"k#":#`) + `}` },
		"schemes":         func(n int) string { return `{"schemes":[` + list(n, `"s#"`) + `]}` },
		"schemes with flows": func(n int) string {
			return `{` + list(n, `"s#":{"type":"oauth2","flows":{"implicit":{},"password":{}}}`) + `}`
		},
		"schemes without any": func(n int) string { return `{` + list(n, `"s#":{"type":"http","scheme":"s#"}`) + `}` },
		"modes":               func(n int) string { return `[` + list(n, `"text/x#"`) + `]` },
		"a long text":         func(n int) string { return `"` + strings.Repeat("tasks/", n) + `"` },
		"a long number":       func(n int) string { return strings.Repeat("9", n) },
	} {
		t.Run(name, func(t *testing.T) {
			growth.Linear(t, 1000, func(n int) func() {
				text := []byte(src(n))
				return func() {
					for _, h := range hooks {
						_, _ = h.round(text)
					}
					CardVersion(text)
				}
			})
		})
	}
}
