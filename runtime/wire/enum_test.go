package wire

import "testing"

var colors = Enum{Values: []EnumValue{
	{Value: "", Name: "NONE", Number: 0},
	{Value: "RED", Name: "red", Aliases: []string{"rouge"}, Number: 1},
	{Value: "GONE", Name: "red", Number: 7, WriteOnly: true},
}}

// namedColors are those of a wire without numbers.
var namedColors = Enum{Values: colors.Values, Named: true, Otherwise: "other"}

func TestEnumsAreReadByNameAliasAndNumber(t *testing.T) {
	for src, want := range map[string]struct{ any, name string }{
		`"red"`: {"RED", "RED"}, `"rouge"`: {"RED", "RED"}, `"NONE"`: {"", ""}, `"blue"`: {"blue", "blue"},
		`1`: {"RED", ""}, `"1"`: {"RED", "1"}, `7`: {"GONE", ""}, `9`: {"9", ""},
	} {
		var r Reader
		r.Reset([]byte(src))
		if got := colors.read(&r); got != want.any || r.Done() != nil {
			t.Errorf("%s is read as %q, want %q (%v)", src, got, want.any, r.Done())
		}
		r.Reset([]byte(src))
		if got := namedColors.read(&r); got != want.name || (r.Done() == nil) != (src[0] == '"') {
			t.Errorf("%s is read by name as %q, want %q (%v)", src, got, want.name, r.Done())
		}
	}
}

func TestEnumsAreWrittenByNameOrAsTheyWereRead(t *testing.T) {
	for x, want := range map[string]struct{ as, or string }{
		"RED": {`"red"`, `"red"`}, "GONE": {`"red"`, `"red"`}, "": {`"NONE"`, `"NONE"`}, "9": {`9`, `"other"`}, "blue": {`"blue"`, `"other"`},
	} {
		if got := string(colors.append(nil, x)); got != want.as {
			t.Errorf("%q is written as %s, want %s", x, got, want.as)
		}
		if got := string(namedColors.append(nil, x)); got != want.or {
			t.Errorf("%q is written as %s, want %s", x, got, want.or)
		}
	}
}

func TestEnumsHaveNumbers(t *testing.T) {
	for x, want := range map[string]int32{"RED": 1, "GONE": 7, "": 0, "9": 9} {
		if n, err := colors.NumberOf(x); n != want || err != nil {
			t.Errorf("the number of %q is %d (%v), want %d", x, n, err, want)
		}
		if got := colors.Numbered(want); got != x {
			t.Errorf("%d is %q, want %q", want, got, x)
		}
	}
	if n, err := colors.NumberOf("blue"); err == nil {
		t.Errorf("a name without a number has %d", n)
	}
}
