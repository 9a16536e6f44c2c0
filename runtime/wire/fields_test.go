package wire

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

// wide is a message of more members than one Seen holds.
type wide struct {
	member [70]string
	one    any
}

type wideCase struct {
	number int
	text   string
}

func wideCodec() *Codec[wide] {
	var c Codec[wide]
	for i := range 70 {
		f := Field{Name: fmt.Sprintf("m%d", i), Aliases: []string{fmt.Sprintf("alias_%d", i)}, At: uintptr(i) * unsafe.Sizeof("")}
		switch i {
		case 0, 1:
			f.Oneof, f.Case = 1, uint16(i+1)
		case 2:
			f.Type, f.Hook, f.Flags = TypeHook, &Hook[string]{Read: func(r *Reader) string { return string(r.Value()) }}, NullValue
		case 69:
			f.Flags = Required | NullEmpty
		}
		c.Fields = append(c.Fields, f)
	}
	c.Oneofs = []Oneof{{At: 70 * unsafe.Sizeof(""), Of: &Union[any]{
		Case: func(x any) (number int, text string, value any) {
			one, _ := x.(wideCase)
			return one.number, one.text, nil
		},
		Make: func(number int, text string, _ []byte, _ any) any { return wideCase{number, text} },
	}}}
	return &c
}

func TestFieldsReadMembersInAnyOrder(t *testing.T) {
	for _, tt := range []struct{ src, want, err string }{
		{`{"m0":"a","m68":"b","m69":"c"}`, "0=a 68=b 69=c", ""},
		{`{"m69":"c","alias_68":"b","other":[{}],"m1":"a"}`, "1=a 68=b 69=c", ""},
		{`{"m2":null,"m69":null,"m0":null,"m1":"a"}`, "1=a 2=null", ""},
		{`{"m68":"b"}`, "", "/m69: required, but missing"},
		{`{"m69":"a","alias_69":"b"}`, "", "/alias_69: member given more than once"},
		{`{"m0":"a","m1":"b","m69":"c"}`, "", "/m1: only one of the alternatives may be given"},
		{`{"x":1,"x":2,"m69":"c"}`, "", "/x: member given more than once"},
	} {
		x, err := Decode([]byte(tt.src), wideCodec().Read)
		if got := fmt.Sprint(err); tt.err != "" && got != tt.err || tt.err == "" && err != nil {
			t.Errorf("%s: %v, want %q", tt.src, err, tt.err)
			continue
		}
		if err != nil {
			continue
		}
		if c, ok := x.one.(wideCase); ok {
			x.member[c.number-1] = c.text
		}
		var got []string
		for i, v := range x.member {
			if v != "" {
				got = append(got, fmt.Sprintf("%d=%s", i, v))
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: read %q, want %q", tt.src, got, tt.want)
		}
	}
}
