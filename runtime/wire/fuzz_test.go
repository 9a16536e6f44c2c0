package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// documents are seeds that reach most of the reader.
var documents = []string{
	`{"a":[1,-0.5e+10,true,false,null,"x\n\u00e9\ud83d\ude00"],"b":{"c":{}}}`, ` [ ] `, `"abc`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`,
	`[01]`, `[1.]`, "\xef\xbb\xbf1", "\"\xff\"", `"\ud800"`, `{"k":"` + strings.Repeat("long ", 20) + `\"end"}`, `1 2`, `[,]`, `{"a"}`, `[1,]`,
	"[\"\x00\"]", `"` + strings.Repeat("é", 20) + `"`, `{"` + strings.Repeat("k", 40) + `":0}`, "\"0123456789abcdef\x1f\"", `"\u12G4"`,
}

// nesting returns how deep brackets open in src, strings aside or not: an upper bound.
func nesting(src []byte) int { return bytes.Count(src, []byte("[")) + bytes.Count(src, []byte("{")) }

// FuzzReaderAgainstJSONText checks that the reader accepts exactly what jsontext accepts, and reads the same value.
func FuzzReaderAgainstJSONText(f *testing.F) {
	for _, src := range documents {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if nesting(src) > MaxDepth {
			return
		}
		theirs := jsontext.Value(bytes.Clone(src))
		theirErr := theirs.Compact(jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false))
		if theirErr == nil && !jsontext.Value(src).IsValid() {
			theirErr = &Error{Reason: "not valid"} // Compact alone is more tolerant
		}
		ours, ourErr := ParseValue(src)
		if (ourErr == nil) != (theirErr == nil) {
			t.Fatalf("%q: we say %v, jsontext says %v", src, ourErr, theirErr)
		}
		if ourErr != nil {
			e := ourErr.(*Error)
			if e.Offset < 0 || e.Offset > len(src) || e.Pointer != "" && e.Pointer[0] != '/' {
				t.Fatalf("%q: %+v", src, e)
			}
			return
		}
		if !bytes.Equal(ours, theirs) {
			t.Fatalf("%q: we read %s, jsontext reads %s", src, ours, theirs)
		}
		checkDeferred(t, src)
		checkTokens(t, src)
	})
}

// checkDeferred checks that a valid value has the same extent when it is only looked at.
func checkDeferred(t *testing.T, src []byte) {
	var r Reader
	r.Reset(src)
	strict := string(r.Raw())
	r.Reset(src)
	if deferred := string(r.Deferred()); deferred != strict {
		t.Fatalf("%q: deferred %q, strict %q", src, deferred, strict)
	}
}

// checkTokens reads src token by token by both readers and compares the strings and numbers.
func checkTokens(t *testing.T, src []byte) {
	d := jsontext.NewDecoder(bytes.NewReader(src))
	var r Reader
	r.Reset(src)
	next := func() jsontext.Token {
		token, err := d.ReadToken()
		if err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		return token
	}
	var value func()
	value = func() {
		switch r.Kind() {
		case KindObject:
			next()
			for key, ok := r.Object(); ok; key, ok = r.Next() {
				if want := next().String(); string(key) != want {
					t.Fatalf("%q: name %q, want %q", src, key, want)
				}
				value()
			}
			next()
		case KindArray:
			next()
			for ok := r.Array(); ok; ok = r.Elem() {
				value()
			}
			next()
		case KindString:
			got, want := r.String(), next().String()
			if got != want {
				t.Fatalf("%q: string %q, want %q", src, got, want)
			}
			checkQuote(t, got)
		case KindNumber:
			if got, want := string(r.NumberText()), next().String(); got != want {
				t.Fatalf("%q: number %q, want %q", src, got, want)
			}
		default:
			next()
			r.Skip()
		}
	}
	value()
	if err := r.Done(); err != nil {
		t.Fatalf("%q: %v", src, err)
	}
}

// checkQuote checks a string as we write it against jsontext.
func checkQuote(t *testing.T, s string) {
	want, err := jsontext.AppendQuote(nil, s)
	if got := AppendString(nil, s); err == nil && !bytes.Equal(got, want) {
		t.Fatalf("%q is written as %s, want %s", s, got, want)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain text of more than one word", "\"\\\b\f\n\r\t\x00\x7f", "\xff\xc3(", "é😀\u2028", strings.Repeat("0123456789\n", 30),
		"\x050\x18\"\xb00\xaf0\x8c\xc30\xda\xc500\xe80\xf7\x1b000\xf100\"\x010\xd2\xe9\x990\xf5\x1d0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := AppendString([]byte("x"), s)
		var r Reader
		r.Reset(b[1:])
		got := r.String()
		if err := r.Done(); err != nil {
			t.Fatalf("%q written as %s: %v", s, b, err)
		}
		if want := string([]rune(s)); got != want {
			t.Fatalf("%q came back as %q", s, got)
		}
		if utf8.ValidString(s) != validUTF8([]byte(s)) {
			t.Fatalf("%q: valid UTF-8 is %v", s, utf8.ValidString(s))
		}
		if utf8.ValidString(s) {
			checkQuote(t, s)
		}
	})
}

func FuzzBase64AgainstStd(f *testing.F) {
	for _, s := range []string{"", "AA==", "AAA", "_-8=", "+/A", "AAAA====", strings.Repeat("QUJD", 20) + "QQ", "A", "AB\n=="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := decodeBase64([]byte(s))
		enc := base64.StdEncoding
		if !strings.Contains(s, "=") {
			enc = base64.RawStdEncoding
		}
		// The standard decoder knows one alphabet at a time and skips line breaks, which we refuse.
		want, err := enc.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(s))
		if wantOK := err == nil && !strings.ContainsAny(s, "\r\n"); ok != wantOK || ok && !bytes.Equal(got, want) {
			t.Fatalf("%q: got %q %v, want %q %v", s, got, ok, want, err)
		}
		if b, want := AppendBytes(nil, []byte(s)), `"`+base64.StdEncoding.EncodeToString([]byte(s))+`"`; string(b) != want {
			t.Fatalf("%q: got %s, want %s", s, b, want)
		}
	})
}

func FuzzTimestampAgainstStd(f *testing.F) {
	for _, s := range []string{"2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123456789+05:45", "0001-01-01T00:00:00-00:01", "9999-12-31T23:59:59.9-23:59", "2026-02-30T00:00:00Z", "0001-01-01T0:00:00Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := parseTime([]byte(s))
		want, err := time.Parse(time.RFC3339Nano, strings.ToUpper(s))
		switch {
		case ok && (err != nil || !got.Equal(want)):
			t.Fatalf("%q read as %v, want %v %v", s, got, want, err)
		case !ok && err == nil && len(s) <= 35 && s[13] == ':' && // the standard parser takes an hour of one digit
			!strings.Contains(s, ",") && want.UTC().Year() >= 1 && want.UTC().Year() <= 9999:
			t.Fatalf("%q refused, want %v", s, want)
		case !ok:
			return
		}
		b, err := AppendTimestamp(nil, got)
		if err != nil {
			t.Fatal(err)
		}
		if back, ok := parseTime(b[1 : len(b)-1]); !ok || !back.Equal(got) {
			t.Fatalf("%v written as %s", got, b)
		}
	})
}

// FuzzScalars checks that no scalar method panics or hangs, and that a number it reads is the one that is written.
func FuzzScalars(f *testing.F) {
	for _, src := range append(documents, "1", "-2.50e1", `"12"`, `"1.5s"`, `"NaN"`, "1e400", "9223372036854775807", "0.1e1000000000000000000000") {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		readers := []func(*Reader){
			func(r *Reader) { r.Float32() }, func(r *Reader) { r.Uint32() }, func(r *Reader) { r.Bytes() }, func(r *Reader) { r.Timestamp() },
			func(r *Reader) { r.Duration() }, func(r *Reader) { r.Enum() }, func(r *Reader) { r.Struct() }, func(r *Reader) { r.Strings() }, func(r *Reader) { r.Number() },
		}
		for _, f := range readers {
			read(string(src), f)
		}
		var r Reader
		r.Reset(src)
		if x := r.Int64(); r.Done() == nil && r.Err() == nil {
			if back := readAs(string(AppendInt64(nil, x)), (*Reader).Int64); back != json.Number(AppendInteger(nil, x)).String() {
				t.Fatalf("%q read as %d, then as %s", src, x, back)
			}
		}
	})
}
