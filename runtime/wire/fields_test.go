package wire

import (
	"fmt"
	"strings"
	"testing"
)

// wide is a message of more members than one Seen holds.
type wide struct{ member [70]string }

func wideFields() Fields[*wide] {
	var f Fields[*wide]
	for i := range 70 {
		f = append(f, Field[*wide]{Name: fmt.Sprintf("m%d", i), Aliases: []string{fmt.Sprintf("alias_%d", i)},
			Required: i == 69, Read: func(r *Reader, x *wide) { x.member[i] = r.String() }})
	}
	f[0].Oneof, f[1].Oneof = 1, 1
	f[2].Null, f[69].Null = NullValue, NullEmpty
	f[2].Read = func(r *Reader, x *wide) { x.member[2] = string(r.Value()) }
	return f
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
		x, err := Decode([]byte(tt.src), wideFields().Read)
		if got := fmt.Sprint(err); tt.err != "" && got != tt.err || tt.err == "" && err != nil {
			t.Errorf("%s: %v, want %q", tt.src, err, tt.err)
			continue
		}
		if err != nil {
			continue
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
