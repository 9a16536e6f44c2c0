package wire

import (
	"strings"
	"testing"
)

func BenchmarkScan(b *testing.B) {
	object := `{"city":"Porto","days":3,"units":"metric","nested":{"a":[1,2,3,true,null],"b":"text of some length"},"when":"2026-01-02T03:04:05Z"}`
	list := "[" + strings.Repeat(object+",", 63) + object + "]"
	for name, src := range map[string]string{
		"objects": list,
		"string":  `"` + strings.Repeat("plain text ", 10000) + `"`,
		"utf8":    `"` + strings.Repeat("текст как текст ", 10000) + `"`,
		"escapes": `"` + strings.Repeat(`some \"text\" here\n`, 10000) + `"`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			data := []byte(src)
			var r Reader
			for b.Loop() {
				r.Reset(data)
				r.Skip()
				if err := r.Done(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendString(b *testing.B) {
	for name, s := range map[string]string{
		"short":   "message-0001",
		"long":    strings.Repeat("plain text ", 100),
		"utf8":    strings.Repeat("текст как текст ", 100),
		"escapes": strings.Repeat("a line of some ordinary text, as models write it,\n and \"quotes\"", 30),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			var dst []byte
			for b.Loop() {
				dst = AppendString(dst[:0], s)
			}
		})
	}
}

func BenchmarkBase64(b *testing.B) {
	x := make([]byte, 5<<20)
	for i := range x {
		x[i] = byte(i * 7)
	}
	b.Run("append", func(b *testing.B) {
		b.SetBytes(int64(len(x)))
		var dst []byte
		for b.Loop() {
			dst = AppendBytes(dst[:0], x)
		}
	})
	src := AppendBytes(nil, x)
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		var r Reader
		for b.Loop() {
			r.Reset(src)
			r.Bytes()
		}
	})
}

func BenchmarkTimestamp(b *testing.B) {
	src := []byte(`"2026-01-02T03:04:05.123Z"`)
	var r Reader
	r.Reset(src)
	t := r.Timestamp()
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			r.Reset(src)
			r.Timestamp()
		}
	})
	b.Run("append", func(b *testing.B) {
		var dst []byte
		for b.Loop() {
			dst, _ = AppendTimestamp(dst[:0], t)
		}
	})
}
