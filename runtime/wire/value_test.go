package wire

import (
	"encoding/json"
	"reflect"
	"testing"
	"unsafe"
)

func TestValueOf(t *testing.T) {
	tests := []struct {
		name string
		v    any
		want string
	}{
		{"nil", nil, "null"},
		{"struct", struct {
			A int `json:"a"`
		}{1}, `{"a":1}`},
		{"HTML is not escaped", "<a>&", `"<a>&"`},
		{"raw JSON is compacted", json.RawMessage(" { \"a\" : [ 1 , \"x y\" ] }\n"), `{"a":[1,"x y"]}`},
		{"value is copied", Value(`1.50`), `1.50`},
		{"raw JSON is checked", Value(`{"a":1,"a":2}`), "error: /a: member given more than once"},
		{"what JSON cannot express", func() {}, "error: json: unsupported type: func()"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := ValueOf(tt.v)
			got := string(v)
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if o, err := ObjectOf([]int{1}); err == nil {
		t.Errorf("a list became the object %s", o)
	}
	if o, err := ObjectOf(map[string]int(nil)); err != nil || o != nil {
		t.Errorf("a nil map became %s, %v", o, err)
	}
}

func TestDecodeKeepsTheDigitsOfNumbers(t *testing.T) {
	// T54: an integer above 2^53 stays what it is.
	var got any
	if err := (Object(`{"n":9007199254740993}`)).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if want := map[string]any{"n": json.Number("9007199254740993")}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v", got)
	}
}

func TestObjectMembers(t *testing.T) {
	var o Object
	for _, m := range []struct {
		name string
		v    any
	}{{"b", 1}, {"a", []string{"x"}}, {"c/\"", nil}, {"b", Value(`{"n": 1}`)}} {
		if err := o.Set(m.name, m.v); err != nil {
			t.Fatal(err)
		}
	}
	if want := `{"b":{"n":1},"a":["x"],"c/\"":null}`; string(o) != want {
		t.Errorf("got %s, want %s", o, want)
	}
	if v, ok := o.Get(`c/"`); !ok || string(v) != "null" {
		t.Errorf("got %s, %v", v, ok)
	}
	if v, ok := o.Get("missing"); ok {
		t.Errorf("got %s", v)
	}
	before := o
	o.Delete("a")
	o.Delete("b")
	if string(o) != `{"c/\"":null}` || string(before) != `{"b":{"n":1},"a":["x"],"c/\"":null}` {
		t.Errorf("now %s, before %s", o, before)
	}
	if o.Delete(`c/"`); o != nil {
		t.Errorf("without members: %q", o)
	}
	if o = Object("[1]"); o.Set("a", 1) == nil {
		t.Errorf("a member was set in a list: %s", o)
	}
	if v, ok := Object(`{"a":`).Get("a"); ok {
		t.Errorf("a member of half an object: %q", v)
	}
}

func TestRawValuesAreCheckedWhenWritten(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"compact", `{"a":[1,"b c"]}`, `{"a":[1,"b c"]}`},
		{"line breaks go", "{\n\t\"a\" : \"b c\"\r\n}", `{"a":"b c"}`},
		{"not set", "", "null"},
		{"not JSON", "{oops}", "error: expected a member name"},
		{"two values", "1 2", "error: unexpected data after the value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := Value(tt.src).MarshalJSON()
			got := string(b)
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if b, err := Object("[1]").MarshalJSON(); err == nil {
		t.Errorf("a list was written as an object: %s", b)
	}
}

func TestValuesInEncodingJSON(t *testing.T) {
	type box struct {
		V Value
		O Object
	}
	var got box
	if err := json.Unmarshal([]byte(`{"V": null, "O": {"a": 1}}`), &got); err != nil {
		t.Fatal(err)
	}
	if string(got.V) != "null" || string(got.O) != `{"a":1}` {
		t.Errorf("got %s and %s", got.V, got.O)
	}
	if b, err := json.Marshal(got); err != nil || string(b) != `{"V":null,"O":{"a":1}}` {
		t.Errorf("got %s, %v", b, err)
	}
	if err := json.Unmarshal([]byte(`{"O": null}`), &got); err != nil || got.O != nil {
		t.Errorf("got %s, %v", got.O, err)
	}
}

func TestErrorsOfWritingSayWhere(t *testing.T) {
	type holder struct {
		list []Value
		maps map[string]*holder
	}
	var codec Codec[holder]
	codec.Fields = []Field{
		{Name: "l~", At: unsafe.Offsetof(holder{}.list), Type: TypeValue, Shape: Listed, Container: List[Value]{}},
		{Name: "m", At: unsafe.Offsetof(holder{}.maps), Type: TypeMessage, Of: &codec, Shape: Mapped, Container: Map[*holder]{}},
	}
	bad := &holder{maps: map[string]*holder{"a/b": {list: []Value{Value("1"), Value("{")}}}}
	if _, err := codec.Append(nil, bad); err.Error() != "/m/a~1b/l~0/1: unexpected end of input, expected a member name" {
		t.Errorf("got %q", err)
	}
	if _, err := codec.Append(nil, &holder{maps: map[string]*holder{"a": nil}}); err.Error() != "/m/a: required, but not set" {
		t.Errorf("got %q", err)
	}
	if got := In(json.Unmarshal([]byte("{"), new(int)), "x").Error(); got != "/x: unexpected end of JSON input" {
		t.Errorf("got %q", got)
	}
}
