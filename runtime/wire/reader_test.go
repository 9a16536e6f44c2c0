package wire

import (
	"errors"
	"strings"
	"testing"
	"unsafe"
)

// read runs f over src to the end.
func read(src string, f func(r *Reader)) *Error {
	var r Reader
	r.Reset([]byte(src))
	f(&r)
	var e *Error
	if err := r.Done(); err != nil && !errors.As(err, &e) {
		panic(err)
	}
	return e
}

func TestReaderRefusesWhatIsNotStrictJSON(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := []struct {
		name, src, pointer, reason string
		offset                     int
	}{
		{"empty input", "", "", "unexpected end of input, expected a value", 0},
		{"only blanks", " \n", "", "unexpected end of input, expected a value", 2},
		{"byte order mark", "\xef\xbb\xbf{}", "", "expected a value", 0},
		{"two values", "1 2", "", "unexpected data after the value", 2},
		{"comma after the last member", `{"a":1,}`, "", "expected a member name", 7},
		{"comma after the last element", `[1,]`, "/1", "expected a value", 3},
		{"missing colon", `{"a" 1}`, "", "expected ':'", 5},
		{"missing comma", `{"a":1 "b":2}`, "", "expected ',' or '}'", 7},
		{"missing comma in an array", `{"x":[1 2]}`, "/x", "expected ',' or ']'", 8},
		{"single quotes", `{'a':1}`, "", "expected a member name", 1},
		{"wrong literal", `{"a":tru}`, "/a", "invalid literal", 5},
		{"capital literal", `[True]`, "/0", "expected a value", 1},
		{"leading zero", `{"a":[01]}`, "/a/0", "expected ',' or ']'", 7},
		{"plus sign", `[+1]`, "/0", "expected a value", 1},
		{"lone minus", `[-]`, "/0", "invalid number", 1},
		{"point without digits", `[1.]`, "/0", "invalid number", 1},
		{"exponent without digits", `[1e+]`, "/0", "invalid number", 1},
		{"not a number", `[NaN]`, "/0", "expected a value", 1},
		{"comment", "[1/*x*/]", "/0", "expected ',' or ']'", 2},
		{"form feed as a blank", "[\f1]", "/0", "expected a value", 1},
		{"unclosed object", `{"a":{"b":1}`, "", "unexpected end of input, expected ',' or '}'", 12},
		{"unclosed string", `{"a":"x`, "/a", "unexpected end of input in a string", 7},
		{"tab in a string", "{\"a\":[\"x\ty\"]}", "/a/0", "control character in a string", 8},
		{"unknown escape", `["\x41"]`, "/0", "invalid escape in a string", 2},
		{"short unicode escape", `["\u12"]`, "/0", "invalid escape in a string", 2},
		{"lone high surrogate", `{"a":"\ud800"}`, "/a", "invalid escape in a string", 6},
		{"lone low surrogate", `["\udc00"]`, "/0", "invalid escape in a string", 2},
		{"high surrogate before a letter", `["\ud800\u0041"]`, "/0", "invalid escape in a string", 2},
		{"bytes that are not UTF-8", "{\"a\":\"ok\xff\"}", "/a", "invalid UTF-8 in a string", 8},
		{"encoded surrogate", "[\"\xed\xa0\x80\"]", "/0", "invalid UTF-8 in a string", 2},
		{"overlong UTF-8", "[\"\xc0\xaf\"]", "/0", "invalid UTF-8 in a string", 2},
		{"name that is not UTF-8", "{\"a\xff\":1}", "", "invalid UTF-8 in a string", 3},
		{"repeated member", `{"a":1,"b":2,"a":3}`, "/a", "member given more than once", 17},
		{"repeated member, deep inside", `{"x":[{"y":{"a":1,"a":2}}]}`, "/x/0/y/a", "member given more than once", 22},
		{"repeated member, once escaped", `{"a":1,"\u0061":2}`, "/a", "member given more than once", 16},
		{"repeated empty name", `{"":1,"":2}`, "/", "member given more than once", 9},
		{"pointer tokens are escaped", `{"a/b":{"m~n":[tru]}}`, "/a~1b/m~0n/0", "invalid literal", 15},
		{"escapes in a pointer's names", `{"\u00e9\"":nul}`, "/é\"", "invalid literal", 12},
		{"too deep", deep(MaxDepth + 1), strings.Repeat("/0", MaxDepth), "nested too deeply", MaxDepth},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := read(tt.src, (*Reader).Skip)
			if e == nil {
				t.Fatal("accepted")
			}
			if want := (Error{tt.pointer, tt.reason, tt.offset}); *e != want {
				t.Errorf("got  %+v\nwant %+v", *e, want)
			}
		})
	}
	if e := read(deep(MaxDepth), (*Reader).Skip); e != nil {
		t.Errorf("depth %d: %v", MaxDepth, e)
	}
}

func TestReaderAcceptsStrictJSON(t *testing.T) {
	for _, src := range []string{
		"null", " true ", "\t[\r\n]", "{}", `{"a":{}}`, `[[],{},"",0,-0,1.5e+10,1E-2,false]`, `"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"`,
		`{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}`, "\"\u2028\u007f\U0010ffff\"", `{"a":1,"A":2,"":3}`,
	} {
		if e := read(src, (*Reader).Skip); e != nil {
			t.Errorf("%s: %v", src, e)
		}
	}
}

func TestRepeatedMembersAreFoundInLargeObjects(t *testing.T) {
	object := func(n int, last string) string {
		var b strings.Builder
		b.WriteByte('{')
		for i := range n {
			b.WriteString(`"k` + strings.Repeat("x", i%7) + string(rune('0'+i%10)) + string(rune(0x100+i)) + `":{"id":` + "1" + `},`)
		}
		return b.String() + `"` + last + `":0}`
	}
	for _, n := range []int{1, 7, 8, 9, largeObject - 1, largeObject, largeObject + 1, 500} {
		if e := read("["+object(n, "last")+","+object(n, "last")+"]", (*Reader).Skip); e != nil {
			t.Errorf("%d members, all different: %v", n, e)
		}
		first := "k0" + string(rune(0x100))
		if e := read(object(n, first), (*Reader).Skip); e == nil || e.Pointer != "/"+first {
			t.Errorf("%d members, first repeated: %v", n, e)
		}
	}
}

func TestTimeToFindRepeatedMembersIsLinear(t *testing.T) {
	// Quadratic comparison of these names would take minutes; this is over in well under a second.
	var b strings.Builder
	for i := range 100_000 {
		b.WriteString(`,"same-prefix-` + string(rune('a'+i%26)) + string(rune(0x4e00+i/26%20000)) + string(rune(0x4e00+i/520000)) + `-same-suffix":0`)
	}
	if e := read("{"+b.String()[1:]+"}", (*Reader).Skip); e != nil {
		t.Fatal(e)
	}
}

// point is a hand-written codec of the kind the generator emits.
type point struct {
	x, y int32
	name string
	tags []string
}

var pointCodec = Codec[point]{Fields: []Field{
	{Name: "x", At: unsafe.Offsetof(point{}.x), Type: TypeInt32, Flags: Required},
	{Name: "yAxis", Aliases: []string{"y_axis"}, At: unsafe.Offsetof(point{}.y), Type: TypeInt32, Flags: Required},
	{Name: "name", At: unsafe.Offsetof(point{}.name)},
	{Name: "tags", At: unsafe.Offsetof(point{}.tags), Shape: Listed, Least: 1},
}}

func readPoint(r *Reader, p *point) { pointCodec.Read(r, p) }

func TestObjectCodec(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"known members", `{"x":1,"yAxis":2}`, ""},
		{"alias", `{"x":1,"y_axis":2}`, ""},
		{"null is absent", `{"x":1,"yAxis":2,"name":null}`, ""},
		{"unknown members are dropped", `{"z":[{"x":1}],"x":1,"yAxis":2,"w":null}`, ""},
		{"names are case-sensitive", `{"X":1,"x":1,"yAxis":2,"Name":3}`, ""},
		{"required, missing", `{"x":1}`, "/yAxis: required, but missing"},
		{"required, null", `{"x":null,"yAxis":2}`, "/x: required, but missing"},
		{"empty object", `{}`, "/x: required, but missing"},
		{"not an object", `[]`, "expected an object"},
		{"member twice", `{"x":1,"x":2,"yAxis":2}`, "/x: member given more than once"},
		{"member and its alias", `{"x":1,"y_axis":1,"yAxis":2}`, "/yAxis: member given more than once"},
		{"null and then a value", `{"name":null,"name":"a","x":1,"yAxis":2}`, "/name: member given more than once"},
		{"unknown member twice", `{"z":1,"x":1,"z":1,"yAxis":2}`, "/z: member given more than once"},
		{"unknown member, not JSON", `{"x":1,"yAxis":2,"z":{"a":[1,]}}`, "/z/a/1: expected a value"},
		{"wrong type", `{"x":"a","yAxis":2}`, "/x: expected a number"},
		{"too few elements", `{"x":1,"yAxis":2,"tags":[]}`, "/tags: at least 1 needed"},
		{"null element", `{"x":1,"yAxis":2,"tags":["a",null]}`, "/tags/1: expected a string"},
		{"the first failure is kept", `{"x":{},"yAxis":[]}`, "/x: expected a number"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p point
			got := ""
			if e := read(tt.src, func(r *Reader) { readPoint(r, &p) }); e != nil {
				got = e.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if tt.want == "" && (p.x != 1 || p.y != 2) {
				t.Errorf("got %+v", p)
			}
		})
	}
}

func TestRewindForgetsWhatWasReadSince(t *testing.T) {
	var members strings.Builder
	for i := range 2 * largeObject {
		members.WriteString(`,"m` + string(rune(0x100+i)) + `":1`)
	}
	src := `{"first":0,"value":{"a":1,"b":2` + members.String() + `},"last":0}`
	e := read(src, func(r *Reader) {
		for key, ok := r.Object(); ok; key, ok = r.Next() {
			if string(key) != "value" {
				r.Unknown(key)
				continue
			}
			m := r.Mark()
			r.Skip()
			r.Rewind(m)
			if r.Bool(); r.Err() == nil {
				t.Error("an object was read as true or false")
			}
			r.Rewind(m)
			r.Skip()
		}
	})
	if e != nil {
		t.Error(e)
	}
}

func TestRawAndDeferredReferToTheSource(t *testing.T) {
	src := `{"id": "a\"]" ,"params":{"s":"}\\","n":[1,{}]} ,"bad":{"x":tru,"x":[1,]} }`
	got := map[string]string{}
	e := read(src, func(r *Reader) {
		for key, ok := r.Object(); ok; key, ok = r.Next() {
			if name := string(key); name == "id" {
				got[name] = string(r.Raw())
			} else {
				got[name] = string(r.Deferred())
			}
		}
	})
	if e != nil {
		t.Fatal(e)
	}
	if got["id"] != `"a\"]"` || got["params"] != `{"s":"}\\","n":[1,{}]}` || got["bad"] != `{"x":tru,"x":[1,]}` {
		t.Errorf("got %q", got)
	}
	for _, src := range []string{"", "}", "[1", `"a`, `{"a":"`, ","} {
		if e := read(src, func(r *Reader) { r.Deferred() }); e == nil {
			t.Errorf("%q deferred", src)
		}
	}
}

func TestUnknownCaseKeepsASingleMember(t *testing.T) {
	tests := []struct {
		name, src, member, value string
		ok                       bool
	}{
		{"one", `{"new":{"a": [1, 2]}}`, "new", `{"a":[1,2]}`, true},
		{"none", `{}`, "", "", false},
		{"null is absent", `{"new":null}`, "", "", false},
		{"two are ambiguous", `{"new":1,"other":2}`, "new", "1", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var x Extra
			e := read(tt.src, func(r *Reader) {
				for key, ok := r.Object(); ok; key, ok = r.Next() {
					r.UnknownCase(key, &x)
				}
			})
			name, value, ok := x.Case()
			if e != nil || name != tt.member || string(value) != tt.value || ok != tt.ok {
				t.Errorf("got %q %q %v %v", name, value, ok, e)
			}
		})
	}
}

func TestValuesDoNotReferToTheSource(t *testing.T) {
	src := []byte(`{"short":"abc","escaped":"a\nb","long":"` + strings.Repeat("x", ownString) + `","value":{"a":1},"bytes":"AQID"}`)
	var r Reader
	r.Reset(src)
	got := map[string]string{}
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		switch name := r.Keep(key); name {
		case "value":
			got[name] = string(r.Value())
		case "bytes":
			got[name] = string(r.Bytes())
		default:
			got[name] = r.String()
		}
	}
	if err := r.Done(); err != nil {
		t.Fatal(err)
	}
	for i := range src {
		src[i] = '!'
	}
	want := map[string]string{"short": "abc", "escaped": "a\nb", "long": strings.Repeat("x", ownString), "value": `{"a":1}`, "bytes": "\x01\x02\x03"}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %q", name, got[name])
		}
	}
}
