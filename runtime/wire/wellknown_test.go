package wire

import (
	"strings"
	"testing"
	"time"
	"unsafe"
)

func TestTheFirstMomentOfYearOneIsNoAbsence(t *testing.T) {
	x := readTime(t, `"0001-01-01T00:00:00Z"`)
	if x == (time.Time{}) || !x.Equal(time.Time{}) {
		t.Errorf("%v", x)
	}
	if b, err := AppendTimestamp(nil, x); string(b) != `"0001-01-01T00:00:00Z"` || err != nil {
		t.Errorf("%s, %v", b, err)
	}
}

func readTime(t *testing.T, src string) time.Time {
	t.Helper()
	var r Reader
	r.Reset([]byte(src))
	x := r.Timestamp()
	if err := r.Done(); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestFieldMasksAreInCamelCase(t *testing.T) {
	for text, m := range map[string]FieldMask{`""`: {}, `"a"`: {"a"}, `"fooBar.baz,x"`: {"foo_bar.baz", "x"}} {
		if b, err := AppendFieldMask(nil, m); string(b) != text || err != nil {
			t.Errorf("%v: %s, %v", m, b, err)
		}
		if got := readAs(text, func(r *Reader) string { return strings.Join(r.FieldMask(), ",") }); got != strings.Join(m, ",") {
			t.Errorf("%s: %s", text, got)
		}
	}
	for _, m := range []FieldMask{{"fooBar"}, {"a__b"}, {"a_"}, {"a_1"}, {""}, {"a,b"}} {
		if b, err := AppendFieldMask(nil, m); err == nil {
			t.Errorf("%q is written as %s", m, b)
		}
	}
	if got := readAs(`"foo_bar"`, func(r *Reader) string { return strings.Join(r.FieldMask(), ",") }); !strings.HasPrefix(got, "error: ") {
		t.Errorf("read %s", got)
	}
}

func TestKeysOfMapsHaveOneSpelling(t *testing.T) {
	for text, ok := range map[string]bool{"0": true, "-7": true, "2147483647": true, "2147483648": false, "07": false, "+1": false, "1.0": false, "": false, "-0": false} {
		var r Reader
		r.Reset([]byte("{}"))
		if readKey[int32](&r, []byte(text)); (r.err == nil) != ok {
			t.Errorf("%q: %v", text, r.err)
		}
	}
	var r Reader
	r.Reset([]byte("{}"))
	if !readKey[bool](&r, []byte("true")) || readKey[bool](&r, []byte("false")) || r.err != nil {
		t.Error(r.err)
	}
	if readKey[bool](&r, []byte("yes")); r.err == nil {
		t.Error("yes is true")
	}
	m := map[int64]string{10: "b", -2: "c", 9: "a"}
	if got, err := (KeyedMap[int64, string]{}).append(nil, &Field{}, unsafe.Pointer(&m)); string(got) != `{"-2":"c","9":"a","10":"b"}` || err != nil {
		t.Errorf("%s %v", got, err)
	}
}
