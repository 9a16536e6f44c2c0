package check

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/wire"
)

// place is a type as emitted code has it: a required name, an optional count of at least 1, notes, and other numbers.
type place struct {
	Name  string
	Count *int64
	Notes []string
	Extra map[string]float64
}

var placeKeys = Keys{Names: []string{"name", "count", "notes"}, Required: []bool{true, false, false}, Max: 4}

func readPlace(r *Reader) (v place) {
	if !r.IsObject() {
		return v
	}
	var seen [3]bool
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		switch string(key) {
		case "name":
			if r.Field(&seen[0]) {
				v.Name = r.String()
			}
		case "count":
			if r.Field(&seen[1]) {
				v.Count = Ptr(r, (*Reader).Int64)
			}
		case "notes":
			if r.Field(&seen[2]) {
				v.Notes = List(r, (*Reader).String)
			}
		default:
			Extra(r, &v.Extra, key, (*Reader).Number)
		}
	}
	r.Keys(&placeKeys, seen[:], len(v.Extra), Has(v.Extra))
	return v
}

func checkPlace(c *Checker, v *place) {
	c.Keys(&placeKeys, []bool{true, v.Count != nil, v.Notes != nil}, len(v.Extra), Has(v.Extra))
	c.Enter("name")
	c.Text(v.Name)
	c.MinLength(v.Name, 2)
	c.Leave()
	if v.Count != nil {
		c.Enter("count")
		Minimum(c, *v.Count, 1)
		c.Leave()
	}
	c.Enter("notes")
	c.MaxItems(len(v.Notes), 200)
	for i, s := range v.Notes {
		c.Index(i)
		c.MinLength(s, 1)
		c.Leave()
	}
	c.Leave()
	EachName(c, &placeKeys, v.Extra)
}

func writePlace(b []byte, v *place) []byte {
	start := len(b)
	b = wire.AppendString(wire.AppendKey(b, "name"), v.Name)
	return wire.EndObject(b, start)
}

func violations(err error) []check.Violation {
	var e *check.Error
	if errors.As(err, &e) {
		return e.Violations
	}
	return nil
}

func TestDecodeReportsEveryViolationWithItsPointer(t *testing.T) {
	for _, test := range []struct {
		name, json string
		want       []check.Violation
	}{
		{"valid", `{"name":"ab","count":1,"notes":["x"],"z":1.5}`, nil},
		{"all at once", `{"name":"a","count":0,"notes":["",1],"z":"q"}`, []check.Violation{
			{Pointer: "/notes/1", Message: "must be a string, not a number"}, {Pointer: "/z", Message: "must be a number, not a string"},
			{Pointer: "/name", Message: "must be at least 2 characters long"}, {Pointer: "/count", Message: "must be at least 1"}, {Pointer: "/notes/0", Message: "must be at least 1 character long"},
		}},
		{"nothing more is said of what could not be read", `{"name":[],"count":"x","notes":{}}`, []check.Violation{
			{Pointer: "/name", Message: "must be a string, not an array"}, {Pointer: "/count", Message: "must be a number, not a string"}, {Pointer: "/notes", Message: "must be an array, not an object"},
		}},
		{"missing", `{}`, []check.Violation{{Pointer: "/name", Message: "required, but missing"}}},
		{"not an object", `[1]`, []check.Violation{{Pointer: "", Message: "must be an object, not an array"}}},
		{"too many properties", `{"name":"ab","a":1,"b":2,"c":3,"d":4}`, []check.Violation{{Pointer: "", Message: "must have at most 4 properties"}}},
		{"escaped key", `{"name":"ab","a/b~c":""}`, []check.Violation{{Pointer: "/a~1b~0c", Message: "must be a number, not a string"}}},
		{"empty key", `{"name":"ab","":""}`, []check.Violation{{Pointer: "/", Message: "must be a number, not a string"}}},
		{"malformed", `{"name":"a`, []check.Violation{{Pointer: "/name", Message: "unexpected end of input in a string"}}},
		{"trailing data", `{"name":"ab"} x`, []check.Violation{{Pointer: "", Message: "unexpected data after the value"}}},
		{"known member twice", `{"name":"ab","name":"cd"}`, []check.Violation{{Pointer: "/name", Message: "member given more than once"}}},
		{"unknown member twice", `{"name":"ab","z":1,"z":2}`, []check.Violation{{Pointer: "/z", Message: "member given more than once"}}},
		{"empty input", ``, []check.Violation{{Pointer: "", Message: "unexpected end of input, expected a value"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var v place
			err := Decode([]byte(test.json), &v, readPlace, checkPlace)
			if diff := cmp.Diff(test.want, violations(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestErrorListsAtMostOneHundredViolations(t *testing.T) {
	src := `{"name":"ab","notes":[` + strings.Repeat(`"",`, 150) + `""]}`
	var v place
	if got := len(violations(Decode([]byte(src), &v, readPlace, checkPlace))); got != MaxViolations {
		t.Errorf("%d violations, want %d", got, MaxViolations)
	}
	src = `{"name":"ab","notes":[` + strings.Repeat(`1,`, 5000) + `1]}`
	if got := len(violations(Decode([]byte(src), &v, readPlace, checkPlace))); got != MaxViolations {
		t.Errorf("%d violations, want %d", got, MaxViolations)
	}
}

func TestLongKeysAreNotEchoedInFull(t *testing.T) {
	var v place
	got := violations(Decode([]byte(`{"name":"ab","`+strings.Repeat("é", 5000)+`":"x"}`), &v, readPlace, checkPlace))
	if len(got) != 1 || len(got[0].Pointer) > maxText+len("…") || !utf8.ValidString(got[0].Pointer) {
		t.Errorf("got %v", got)
	}
}

func TestErrorTextNamesPointerAndReason(t *testing.T) {
	err := &check.Error{Violations: []check.Violation{{Pointer: "", Message: "must be an object"}, {Pointer: "/a/0", Message: "must be at least 1"}}}
	if got, want := err.Error(), "must be an object; /a/0: must be at least 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAppendRefusesWhatIsNotValidAndLeavesTheBuffer(t *testing.T) {
	dst := []byte("x")
	out, err := Append(dst, &place{Name: "\xff\xff"}, checkPlace, writePlace)
	if got := violations(err); len(got) != 1 || got[0] != (check.Violation{Pointer: "/name", Message: "must be valid UTF-8"}) || string(out) != "x" {
		t.Errorf("got %v, buffer %q", got, out)
	}
	if out, err = Append(dst, &place{Name: "ab"}, checkPlace, writePlace); err != nil || string(out) != `x{"name":"ab"}` {
		t.Errorf("got %s, %v", out, err)
	}
	if _, err = Append(dst, nil, checkPlace, writePlace); len(violations(err)) != 1 {
		t.Errorf("a nil value: %v", err)
	}
}

func TestAdditionalPropertyMayNotShadowAField(t *testing.T) {
	err := Validate(&place{Name: "ab", Extra: map[string]float64{"count": 1}}, checkPlace)
	if got := violations(err); len(got) != 1 || got[0].Pointer != "/count" {
		t.Errorf("got %v", got)
	}
}

func TestIntegersAreReadExactly(t *testing.T) {
	for _, test := range []struct {
		json string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"-0", 0, true}, {"1.0", 1, true}, {"1e3", 1000, true}, {"12.5e1", 125, true}, {"9223372036854775807", math.MaxInt64, true}, {"-9223372036854775808", math.MinInt64, true},
		{"9223372036854775807.0", math.MaxInt64, true}, {"9223372036854775808", 0, false}, {"1.5", 0, false}, {"1e-1", 0, false}, {"1e999999999", 0, false}, {`"1"`, 0, false}, {"null", 0, false}, {"true", 0, false},
	} {
		r := Reader{}
		r.in.Reset([]byte(test.json))
		if got := r.Int64(); got != test.want || (r.err() == nil) != test.ok || r.in.Done() != nil {
			t.Errorf("%s: %d, %v, %v", test.json, got, r.err(), r.in.Done())
		}
	}
}

func TestNarrowIntegersAreRanged(t *testing.T) {
	for _, test := range []struct {
		name string
		read func(*Reader) uint64
		json string
		want string
	}{
		{"int32", func(r *Reader) uint64 { return uint64(r.Int32()) }, "2147483648", "must be a whole number from -2147483648 to 2147483647"},
		{"uint32", func(r *Reader) uint64 { return uint64(r.Uint32()) }, "4294967296", "must be a whole number from 0 to 4294967295"},
		{"negative uint32", func(r *Reader) uint64 { return uint64(r.Uint32()) }, "-1", "must be a whole number from 0 to 4294967295"},
		{"uint64", (*Reader).Uint64, "18446744073709551616", "must be a whole number from 0 to 18446744073709551615"},
		{"fraction", (*Reader).Uint64, "1.5", "must be a whole number"},
	} {
		r := Reader{}
		r.in.Reset([]byte(test.json))
		if got := test.read(&r); got != 0 || len(r.list) != 1 || r.list[0].Message != test.want {
			t.Errorf("%s: %d, %v", test.name, got, r.list)
		}
	}
}

func TestMultipleOfIsExactOnDecimals(t *testing.T) {
	for _, test := range []struct {
		v  float64
		of string
		ok bool
	}{{0.3, "0.1", true}, {0.07, "0.01", true}, {0.075, "0.01", false}, {1e20, "0.01", true}, {-4.5, "1.5", true}, {1e308, "0.123456789", false}, {0, "7", true}} {
		c := Checker{}
		if MultipleOf(&c, test.v, test.of); (c.err() == nil) != test.ok {
			t.Errorf("%v of %s: %v", test.v, test.of, c.err())
		}
	}
}

func TestCanonicalSpellsEqualValuesAlike(t *testing.T) {
	for _, group := range [][]string{
		{`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1e0}`}, {`"a"`, `"\u0061"`}, {`100`, `1e2`, `1.00E+2`}, {`0.5`, `5e-1`}, {`0`, `-0`, `0.0`}, {`[]`}, {`{}`}, {`null`}, {`false`}, {`1e400`, `10e399`, `0.01E+402`}, {`"1"`}, {`1e-399`, `0.1e-398`}, {`2e-399`},
		{`-1e400`}, {`1e39`, `1` + strings.Repeat("0", 39)}, {`1e38`, `1` + strings.Repeat("0", 38)}, {`0.1`, `1.0e-1`}, {`1e999999999999999999999`}, {`12e4`, `120000`, `1.2e5`},
	} {
		want := string(canonical(nil, wire.Value(group[0])))
		for _, text := range group {
			if got := string(canonical(nil, wire.Value(text))); got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
		}
	}
}

func TestCanonicalTellsDifferentNumbersApart(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{`0`, `1e-399`, `2e-399`, `-1e-399`, `1e399`, `1e400`, `1e401`, `-1e400`, `1e39`, `1` + strings.Repeat("0", 38) + "1", `1e308`, `0.1`, `0.2`, `1`, `10`} {
		got := canonicalNumber(text)
		if before, ok := seen[got]; ok {
			t.Errorf("%s and %s are both %s", before, text, got)
		}
		seen[got] = text
	}
}

func TestUnknownPropertySuggestsTheNearestOne(t *testing.T) {
	k := Keys{Names: []string{"city", "days", "units"}, Closed: true}
	for name, want := range map[string]string{"citty": `unknown property, did you mean "city"?`, "UNITS": `unknown property, did you mean "units"?`, "zzz": "unknown property", strings.Repeat("x", 1000): "unknown property"} {
		r := Reader{}
		r.in.Reset([]byte(`{"` + name + `":1}`))
		for key, ok := r.Object(); ok; key, ok = r.Next() {
			r.Unknown(key, &k)
		}
		if len(r.list) != 1 || r.list[0].Message != want {
			t.Errorf("%s: %v", name, r.list)
		}
	}
}

func TestGroupsAndDependents(t *testing.T) {
	k := Keys{
		Names: []string{"a", "b", "c"}, Dependents: []Dependent{{If: "a", Then: []string{"c"}}},
		Groups: []Group{{Sets: [][]string{{"a"}, {"b", "c"}}, One: true}},
	}
	for _, test := range []struct {
		present []bool
		want    []check.Violation
	}{
		{[]bool{false, true, true}, nil},
		{[]bool{true, false, true}, nil},
		{[]bool{true, false, false}, []check.Violation{{Pointer: "/c", Message: `required because of "a", but missing`}}},
		{[]bool{true, true, true}, []check.Violation{{Pointer: "", Message: "only one of these properties may be given: a, or b and c"}}},
		{[]bool{false, true, false}, []check.Violation{{Pointer: "", Message: "one of these properties is required: a, or b and c"}}},
	} {
		c := Checker{}
		c.Keys(&k, test.present, 0, nil)
		if diff := cmp.Diff(test.want, c.list); diff != "" {
			t.Errorf("%v: %s", test.present, diff)
		}
	}
}

func TestTimesThatCannotBeWrittenAreViolations(t *testing.T) {
	c := Checker{}
	c.Time(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))
	c.Date(time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC))
	c.Finite(math.NaN())
	c.Finite(math.Inf(-1))
	c.Any(nil)
	c.Any(wire.Value(`{"a":`))
	if len(c.list) != 6 {
		t.Errorf("got %v", c.list)
	}
	c = Checker{}
	c.Time(time.Date(2024, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)))
	c.Date(time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC))
	c.Any(wire.Value(`null`))
	if len(c.list) != 0 {
		t.Errorf("got %v", c.list)
	}
}

func TestKeyLooksAheadWithoutReading(t *testing.T) {
	for src, want := range map[string]string{
		`{"a":{"kind":1},"kind":"x"}`: `"x"`, `{"kind":1.0}`: `1`, `{"kind":null}`: `null`, `{"kind":{}}`: ``, `{}`: ``, `{"b":1}`: ``, `{"kind":"\u0078"}`: `"x"`, `{"kind":`: ``, `{"a":tru,"kind":1}`: ``,
	} {
		r := Reader{}
		r.in.Reset([]byte(src))
		if got := r.Key("kind"); got != want || r.in.Offset() != 0 {
			t.Errorf("%s: %q at %d, want %q", src, got, r.in.Offset(), want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"name":"ab","count":1,"notes":["x"],"z":1.5}`, `{"name":1,"name":2}`, `{"notes":[[[`, `{"a":1e999}`, `{"count":1e400}`, `[`, `null`, "\"\xff\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		var v place
		err := Decode([]byte(src), &v, readPlace, checkPlace)
		if err != nil {
			if n := len(violations(err)); n == 0 || n > MaxViolations {
				t.Fatalf("%d violations: %v", n, err)
			}
			return
		}
		if _, err := wire.ParseValue([]byte(src)); err != nil {
			t.Fatalf("accepted what is no JSON: %v", err)
		}
		if err := Validate(&v, checkPlace); err != nil {
			t.Fatalf("what was decoded is not valid: %v", err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	src := []byte(`{"name":"Kyoto","count":12,"notes":["rain","wind","a little longer note about the weather"]}`)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		var v place
		if err := Decode(src, &v, readPlace, checkPlace); err != nil {
			b.Fatal(err)
		}
	}
}
