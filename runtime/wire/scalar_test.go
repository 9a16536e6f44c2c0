package wire

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// readAs reads src by f and renders the result, or the error.
func readAs[T any](src string, f func(*Reader) T) string {
	var v T
	if e := read(src, func(r *Reader) { v = f(r) }); e != nil {
		return "error: " + e.Error()
	}
	return fmt.Sprint(v)
}

func TestIntegers(t *testing.T) {
	tests := []struct {
		name, src string
		f         func(string) string
		want      string
	}{
		{"int32 number", "-7", int32s, "-7"},
		{"int32 integral decimal", "1.0", int32s, "1"},
		{"int32 exponent", "1e2", int32s, "100"},
		{"int32 shifted point", "0.00012e+6", int32s, "120"},
		{"int32 from a string", `"42"`, int32s, "42"},
		{"int32 from an escaped string", `"\u0034.20e1"`, int32s, "42"},
		{"int32 least", "-2147483648", int32s, "-2147483648"},
		{"int32 over", "2147483648", int32s, "error: integer out of range"},
		{"int32 fraction", "1.5", int32s, "error: expected an integer in range"},
		{"int32 empty string", `""`, int32s, "error: expected a number"},
		{"int32 blank in a string", `" 1"`, int32s, "error: expected a number"},
		{"int32 true", "true", int32s, "error: expected a number"},
		{"int32 zero with a huge exponent", "0e999999999999999999999", int32s, "0"},
		{"int32 huge exponent", "1e999999999999999999999", int32s, "error: expected an integer in range"},
		{"int32 tiny", "1e-999999999999999999999", int32s, "error: expected an integer in range"},
		{"int64 beyond float64", `"9007199254740993"`, int64s, "9007199254740993"},
		{"int64 decimal beyond float64", "9007199254740993.0", int64s, "9007199254740993"},
		{"int64 most", "9223372036854775807", int64s, "9223372036854775807"},
		{"int64 least", "-9223372036854775808", int64s, "-9223372036854775808"},
		{"int64 over", "9223372036854775808", int64s, "error: integer out of range"},
		{"uint32 over", "4294967296", uint32s, "error: expected an integer in range"},
		{"uint32 negative", "-1", uint32s, "error: expected an integer in range"},
		{"uint32 minus zero", "-0", uint32s, "0"},
		{"uint64 most", `"18446744073709551615"`, uint64s, "18446744073709551615"},
		{"uint64 over", "18446744073709551616", uint64s, "error: expected an integer in range"},
		{"uint64 21 digits", "100000000000000000000", uint64s, "error: expected an integer in range"},
		{"plain integer", "12.0", integers, "12"},
		{"plain integer from a string", `"12"`, integers, "error: expected a number"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.f(tt.src); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func int32s(s string) string   { return readAs(s, (*Reader).Int32) }
func int64s(s string) string   { return readAs(s, (*Reader).Int64) }
func uint32s(s string) string  { return readAs(s, (*Reader).Uint32) }
func uint64s(s string) string  { return readAs(s, (*Reader).Uint64) }
func integers(s string) string { return readAs(s, (*Reader).Integer) }

func TestFloatsAndBools(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"number", readAs("1.25e1", (*Reader).Float64), "12.5"},
		{"string", readAs(`"2.5"`, (*Reader).Float64), "2.5"},
		{"infinity", readAs(`"-Infinity"`, (*Reader).Float64), "-Inf"},
		{"not a number", readAs(`"NaN"`, (*Reader).Float32), "NaN"},
		{"word", readAs(`"inf"`, (*Reader).Float64), "error: expected a number"},
		{"out of range", readAs("1e400", (*Reader).Float64), "error: number out of range"},
		{"out of range of float32", readAs("1e39", (*Reader).Float32), "error: number out of range"},
		{"plain number", readAs("0.5", (*Reader).Number), "0.5"},
		{"plain number from a string", readAs(`"0.5"`, (*Reader).Number), "error: expected a number"},
		{"number as text", readAs("1.50", func(r *Reader) string { return string(r.NumberText()) }), "1.50"},
		{"true", readAs("true", (*Reader).Bool), "true"},
		{"false", readAs("false", (*Reader).Bool), "false"},
		{"bool from a string", readAs(`"true"`, (*Reader).Bool), "error: expected true or false"},
		{"bool from a number", readAs(`1`, (*Reader).Bool), "error: expected true or false"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("got %q, want %q", tt.got, tt.want)
			}
		})
	}
}

func TestFloatsSurviveWritingAndReading(t *testing.T) {
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -1.5, 1e21, 1e-7, 123456789.125, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1)} {
		var r Reader
		r.Reset(AppendFloat64(nil, x))
		if got := r.Float64(); math.Float64bits(got) != math.Float64bits(x) || r.Done() != nil {
			t.Errorf("%v became %v by %s", x, got, AppendFloat64(nil, x))
		}
	}
}

func TestEnumIsReadByNameOrNumber(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"name", `"A"`, "A 0 true"},
		{"escaped name", `"\u0041"`, "A 0 true"},
		{"number", "3", " 3 false"},
		{"integral decimal", "3.0", " 3 false"},
		{"number in a string", `"3"`, " 3 false"},
		{"name that only begins like a number", `"03"`, "03 0 true"},
		{"negative", "-1", " -1 false"},
		{"fraction", "1.5", "error: expected an integer in range"},
		{"null", "null", "error: expected an enum name or number"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := readAs(tt.src, func(r *Reader) string {
				name, number, byName := r.Enum()
				return fmt.Sprintf("%s %d %v", name, number, byName)
			})
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := string(appendEnum(appendEnum(appendEnum(nil, "NEW"), "17"), "017")); got != `"NEW"17"017"` {
		t.Errorf("written as %s", got)
	}
}

func TestBase64IsReadInAllVariants(t *testing.T) {
	// T59: standard and URL-safe alphabet, padded or not, at every length; after unescaping.
	var x []byte
	for n := range 200 {
		for name, enc := range map[string]*base64.Encoding{"std": base64.StdEncoding, "raw": base64.RawStdEncoding, "url": base64.URLEncoding, "rawurl": base64.RawURLEncoding} {
			src := enc.EncodeToString(x)
			for _, token := range []string{`"` + src + `"`, `"` + strings.ReplaceAll(src, "/", `\/`) + `"`, `"` + strings.ReplaceAll(src, "A", `\u0041`) + `"`} {
				if got := readAs(token, func(r *Reader) string { return string(r.Bytes()) }); got != string(x) {
					t.Fatalf("%s of %d bytes: %q", name, n, got)
				}
			}
		}
		if got, want := string(AppendBytes([]byte("x"), x)), `x"`+base64.StdEncoding.EncodeToString(x)+`"`; got != want {
			t.Fatalf("%d bytes written as %s", n, got)
		}
		x = append(x, byte(n*151+7))
	}
	for _, bad := range []string{`"A"`, `"AA="`, `"AA==="`, `"="`, `"===="`, `"AAAA===="`, `"A A="`, `"AA\n=="`, `"AAA!"`, `"AAAAA"`, "1", "null", `"é"`, `"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA!AAAAAAAAAAAAAAAAAAAAAAAAAAAA"`, `"AA`} {
		if got := readAs(bad, (*Reader).Bytes); !strings.HasPrefix(got, "error: ") {
			t.Errorf("%s read as %s", bad, got)
		}
	}
	if got := readAs(`""`, func(r *Reader) bool { return r.Bytes() != nil }); got != "true" {
		t.Error("an empty string reads as nil")
	}
}

// R97: a time is read and written exactly, whatever its offset and its digits.
func TestTimestamps(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"seconds", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"},
		{"milliseconds", "2026-01-02T03:04:05.120Z", "2026-01-02T03:04:05.120Z"},
		{"one digit becomes three", "2026-01-02T03:04:05.1Z", "2026-01-02T03:04:05.100Z"},
		{"four digits become six", "2026-01-02T03:04:05.0001Z", "2026-01-02T03:04:05.000100Z"},
		{"nine digits", "2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05.123456789Z"},
		{"zero fraction", "2026-01-02T03:04:05.000000000Z", "2026-01-02T03:04:05Z"},
		{"offset east", "2026-01-01T00:30:00+05:45", "2025-12-31T18:45:00Z"},
		{"offset west", "2026-12-31T23:30:00.5-08:00", "2027-01-01T07:30:00.500Z"},
		{"lower case", "2026-01-02t03:04:05z", "2026-01-02T03:04:05Z"},
		{"leap day", "2028-02-29T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"last moment", "9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"},
		{"no leap day", "2026-02-29T00:00:00Z", ""},
		{"no zone", "2026-01-02T03:04:05", ""},
		{"no seconds", "2026-01-02T03:04Z", ""},
		{"ten digits", "2026-01-02T03:04:05.0123456789Z", ""},
		{"point without digits", "2026-01-02T03:04:05.Z", ""},
		{"comma", "2026-01-02T03:04:05,1Z", ""},
		{"blank between", "2026-01-02 03:04:05Z", ""},
		{"hour 24", "2026-01-02T24:00:00Z", ""},
		{"leap second", "2026-06-30T23:59:60Z", ""},
		{"month 13", "2026-13-01T00:00:00Z", ""},
		{"offset without colon", "2026-01-02T03:04:05+0100", ""},
		{"offset out of range", "2026-01-02T03:04:05+24:00", ""},
		{"before the year 1 in UTC", "0001-01-01T00:00:00+01:00", ""},
		{"after the year 9999 in UTC", "9999-12-31T23:59:59-01:00", ""},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := readAs(`"`+tt.src+`"`, func(r *Reader) string {
				b, _ := AppendTimestamp(nil, r.Timestamp())
				s, _ := strconv.Unquote(string(b))
				return s
			})
			if want := tt.want; got != want && (want != "" || got != "error: invalid RFC 3339 timestamp") {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	if _, err := AppendTimestamp(nil, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)); err == nil {
		t.Error("a year of five digits was written")
	}
}

func TestDurations(t *testing.T) {
	for _, d := range []time.Duration{0, 1, -1, time.Second, 1500 * time.Millisecond, -3*time.Second - 25*time.Microsecond, math.MaxInt64, math.MinInt64} {
		text, err := AppendDuration(nil, DurationOf(d))
		if got := readAs(string(text), (*Reader).Duration); got != DurationOf(d).String() || err != nil || DurationOf(d).Std() != d {
			t.Errorf("%v written as %s and read as %s, and then is %v", d, text, got, DurationOf(d).Std())
		}
	}
	for want, d := range map[string]Duration{`"-1.500s"`: {-1, -5e8}, `"-0.000000001s"`: {0, -1}, `"315576000000.999999999s"`: {315576000000, 999999999}} {
		if got, err := AppendDuration(nil, d); string(got) != want || err != nil || readAs(want, (*Reader).Duration) != d.String() {
			t.Errorf("%v written as %s, %v", d, got, err)
		}
	}
	for _, d := range []Duration{{1, -1}, {-1, 1}, {0, 1e9}, {315576000001, 0}} {
		if got, err := AppendDuration(nil, d); err == nil {
			t.Errorf("%d written as %s", d, got)
		}
	}
	for want, d := range map[time.Duration]Duration{math.MaxInt64: {315576000000, 0}, math.MinInt64: {-9223372037, 0}} {
		if d.Std() != want {
			t.Errorf("%v is %v", d, d.Std())
		}
	}
	for _, bad := range []string{`"1"`, `"s"`, `"1.s"`, `".5s"`, `"1m"`, `"315576000001s"`, `"-315576000001s"`, `"99999999999999999999s"`, `1`, `"+1s"`} {
		if got := readAs(bad, (*Reader).Duration); !strings.HasPrefix(got, "error: ") {
			t.Errorf("%s read as %s", bad, got)
		}
	}
}

func TestStringsAreEscapedAsLittleAsPossible(t *testing.T) {
	tests := []struct{ name, s, want string }{
		{"empty", "", `""`},
		{"plain", "abc", `"abc"`},
		{"quote and backslash", `a"b\c`, `"a\"b\\c"`},
		{"controls", "\b\f\n\r\t\x00\x1f", `"\b\f\n\r\t\u0000\u001f"`},
		{"HTML stays", "<a href='x'>&amp;</a>", `"<a href='x'>&amp;</a>"`},
		{"line separators and DEL stay", "\u2028\u2029\x7f", "\"\u2028\u2029\x7f\""},
		{"other planes stay", "é😀", `"é😀"`},
		{"not UTF-8", "a\xffb\xc3", "\"a\ufffdb\ufffd\""},
		{"not UTF-8 after an escape", "\n\xff", "\"\\n\ufffd\""},
		{"encoded surrogate", "\xed\xa0\x80", "\"\ufffd\ufffd\ufffd\""},
	}
	for _, tt := range tests {
		for _, pad := range []int{0, 1, 7, 8, 15, 16, 17, 31, 40, 300} {
			p := strings.Repeat("p", pad)
			want := `"` + p + tt.want[1:len(tt.want)-1] + p + `"`
			if got := string(AppendString(nil, p+tt.s+p)); got != want {
				t.Errorf("%s, padded by %d: got %s, want %s", tt.name, pad, got, want)
			}
		}
	}
}

// R239: text is UTF-8.
func TestUTF8IsCheckedAsTheStandardLibraryDoes(t *testing.T) {
	// Every pair of bytes, alone and as the last two of three and of four, in text and at its end.
	for _, lead := range []string{"", "é", "\xe0", "\xe1", "\xed", "\xef", "\xf0\x90", "\xf4\x8f", "\xf4", "plain text", "text of é and 日本"} {
		for c := range 1 << 16 {
			b := append([]byte(lead), byte(c>>8), byte(c))
			if got, want := validUTF8(b), utf8.Valid(b); got != want {
				t.Fatalf("%q: got %v, want %v", b, got, want)
			}
			b = append(b, "and more text"...)
			if got, want := validUTF8(b), utf8.Valid(b); got != want {
				t.Fatalf("%q: got %v, want %v", b, got, want)
			}
		}
	}
}
