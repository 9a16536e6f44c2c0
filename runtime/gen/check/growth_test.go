package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Whatever values a client sends, to read and to check them takes time linear in their size.
func TestChecksTakeLinearTime(t *testing.T) {
	items := func(n int, item string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(",", min(i, 1)) + strings.ReplaceAll(item, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	any := func(r *Reader) wire.Value { return r.Any() }
	unique := func(src string) {
		var list []wire.Value
		_ = Decode([]byte(src), &list, func(r *Reader) []wire.Value { return List(r, any) }, func(c *Checker, list *[]wire.Value) { Unique(c, *list, AppendAny) })
	}
	closed := Keys{Names: []string{"city", "days"}, Closed: true}
	object := func(src string) {
		var m map[string]wire.Value
		read := func(r *Reader) (m map[string]wire.Value) {
			for key, ok := r.Object(); ok; key, ok = r.Next() {
				r.Unknown(key, &closed)
			}
			return nil
		}
		_ = Decode([]byte(src), &m, read, func(*Checker, *map[string]wire.Value) {})
	}
	table := func(src string) {
		var m map[string]wire.Value
		_ = Decode([]byte(src), &m, func(r *Reader) map[string]wire.Value { return Map(r, any) }, func(*Checker, *map[string]wire.Value) {})
	}
	for _, tt := range []struct {
		name string
		n    int
		read func(src string)
		src  func(n int) string
	}{
		{"different numbers", 4 << 10, unique, func(n int) string { return "[" + items(n, "1#e399") + "]" }},
		{"small numbers", 4 << 10, unique, func(n int) string { return "[" + items(n, "1#e-399") + "]" }},
		{"long numbers", 8 << 10, unique, func(n int) string { return "[" + strings.Repeat("7", n) + "," + strings.Repeat("7", n) + ".5]" }},
		{"objects", 2 << 10, unique, func(n int) string { return "[" + items(n, `{"b":#,"a":[#]}`) + "]" }},
		{"an object of many members", 2 << 10, unique, func(n int) string { return "[{" + items(n, `"k#":#`) + "},1]" }},
		{"a deep value", 12, unique, func(n int) string { return "[" + strings.Repeat("[", n) + strings.Repeat("]", n) + ",1]" }},
		{"texts", 4 << 10, unique, func(n int) string { return "[" + items(n, `"\\u00e9#"`) + "]" }},
		{"unknown members", 2 << 10, object, func(n int) string { return "{" + items(n, `"cit#":1`) + "}" }},
		{"a long unknown member", 8 << 10, object, func(n int) string { return `{"` + strings.Repeat("c", n) + `":1}` }},
		{"a map", 4 << 10, table, func(n int) string { return "{" + items(n, `"k#":#`) + "}" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			growth.Linear(t, tt.n, func(n int) func() {
				src := tt.src(n)
				return func() { tt.read(src) }
			})
		})
	}
}
