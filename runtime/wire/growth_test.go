package wire_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
	"github.com/a2agen/a2agen/runtime/wire"
)

// list is n pieces with commas between them.
func list(n int, piece func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(piece(i))
	}
	return b.String()
}

// Reading takes time linear in the bytes, whatever they are.
func TestReadingTakesLinearTime(t *testing.T) {
	digits := func(n int) string { return "1" + strings.Repeat("0", n) }
	for _, tt := range []struct {
		name string
		n    int
		text func(n int) string
	}{
		{"different keys", 8 << 10, func(n int) string {
			return "{" + list(n, func(i int) string { return `"k` + strconv.Itoa(i) + `":0` }) + "}"
		}},
		{"escaped keys", 8 << 10, func(n int) string {
			return "{" + list(n, func(i int) string { return `"\u006b` + strconv.Itoa(i) + `":0` }) + "}"
		}},
		{"keys that begin alike", 512, func(n int) string {
			return "{" + list(n, func(i int) string { return `"` + strings.Repeat("k", 200) + strconv.Itoa(i) + `":0` }) + "}"
		}},
		{"objects side by side", 32 << 10, func(n int) string { return "[" + list(n, func(int) string { return `{"a":1,"b":[]}` }) + "]" }},
		{"a long string", 512 << 10, func(n int) string { return `"` + strings.Repeat("x", n) + `"` }},
		{"a string of escapes", 128 << 10, func(n int) string { return `"` + strings.Repeat(`\u00e9\n`, n) + `"` }},
		{"a string of backslashes", 256 << 10, func(n int) string { return `"` + strings.Repeat(`\\`, n) + `"` }},
		{"a long number", 128 << 10, digits},
		{"a long fraction", 128 << 10, func(n int) string { return "0." + strings.Repeat("1", n) }},
		{"white space", 512 << 10, func(n int) string { return strings.Repeat(" \n", n) + "0" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			growth.Linear(t, tt.n, func(n int) func() {
				text := []byte(tt.text(n))
				return func() {
					if _, err := wire.ParseValue(text); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}
