package check

import (
	"encoding/base64"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime/wire"
)

// Reader reads one JSON document into emitted types. A value of the wrong type is a violation at its pointer, after which
// reading goes on; malformed JSON ends it.
type Reader struct {
	Checker
	in      wire.Reader
	ignored int // members that no property is for
	trials  map[trialKey]trial
}

var kindNames = map[wire.Kind]string{
	wire.KindNull: "null", wire.KindBool: "a boolean", wire.KindNumber: "a number", wire.KindString: "a string",
	wire.KindObject: "an object", wire.KindArray: "an array",
}

// want reports whether the next value is of the kind; otherwise it records that and skips the value.
func (r *Reader) want(kind wire.Kind) bool {
	got := r.in.Kind()
	if got == kind {
		return true
	}
	if got != wire.KindNone {
		r.unreadf("must be %s, not %s", kindNames[kind], kindNames[got])
	}
	r.in.Skip()
	return false
}

// IsObject reports whether the next value is an object; otherwise that is a violation and the value is skipped.
func (r *Reader) IsObject() bool { return r.want(wire.KindObject) }

// Object enters the object that follows and returns the name of its first member. The place is then that member.
func (r *Reader) Object() (key []byte, ok bool) {
	if key, ok = r.in.Object(); ok {
		r.path = append(r.path, step{key: key, index: -1})
	}
	return key, ok
}

// Next returns the name of the next member.
func (r *Reader) Next() (key []byte, ok bool) {
	r.Leave()
	if key, ok = r.in.Next(); ok {
		r.path = append(r.path, step{key: key, index: -1})
	}
	return key, ok
}

// Field notes that a known member was met, and reports whether it is to be read: a second one is malformed.
func (r *Reader) Field(seen *bool) bool {
	if *seen {
		r.in.Fail("member given more than once")
		return false
	}
	*seen = true
	return true
}

// Null reads the next value if it is null.
func (r *Reader) Null() bool { return r.in.Null() }

// Bool reads true or false.
func (r *Reader) Bool() bool { return r.want(wire.KindBool) && r.in.Bool() }

// String reads a string.
func (r *Reader) String() string {
	if !r.want(wire.KindString) {
		return ""
	}
	return r.in.String()
}

// Any reads any value and keeps it as it is.
func (r *Reader) Any() wire.Value { return r.in.Value() }

// Number reads a number that a float64 can hold.
func (r *Reader) Number() float64 {
	if !r.want(wire.KindNumber) {
		return 0
	}
	f, err := strconv.ParseFloat(string(r.in.NumberText()), 64)
	if err != nil && r.in.Err() == nil {
		r.unreadf("number out of range")
		return 0
	}
	return f
}

// Int32 reads a whole number of 32 bits.
func (r *Reader) Int32() int32 { return int32(r.signed(math.MinInt32, math.MaxInt32)) }

// Int64 reads a whole number of 64 bits.
func (r *Reader) Int64() int64 { return r.signed(math.MinInt64, math.MaxInt64) }

// Uint32 reads a whole number from 0 to 2³²-1.
func (r *Reader) Uint32() uint32 { return uint32(r.unsigned(math.MaxUint32)) }

// Uint64 reads a whole number from 0 to 2⁶⁴-1.
func (r *Reader) Uint64() uint64 { return r.unsigned(math.MaxUint64) }

func (r *Reader) signed(low, high int64) int64 {
	if !r.want(wire.KindNumber) {
		return 0
	}
	text := string(r.in.NumberText())
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		n64, ok := r.whole(text)
		if !ok {
			return 0
		}
		if !n64.IsInt64() {
			r.unreadf("must be a whole number from %d to %d", low, high)
			return 0
		}
		n = n64.Int64()
	}
	if n < low || n > high {
		r.unreadf("must be a whole number from %d to %d", low, high)
		return 0
	}
	return n
}

func (r *Reader) unsigned(high uint64) uint64 {
	if !r.want(wire.KindNumber) {
		return 0
	}
	text := string(r.in.NumberText())
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		n64, ok := r.whole(text)
		if !ok {
			return 0
		}
		if !n64.IsUint64() {
			r.unreadf("must be a whole number from 0 to %d", high)
			return 0
		}
		n = n64.Uint64()
	}
	if n > high {
		r.unreadf("must be a whole number from 0 to %d", high)
		return 0
	}
	return n
}

// whole reads the number text exactly; 1.0 and 1e3 are whole numbers too (JSON Schema 2020-12 §6.1.1).
func (r *Reader) whole(text string) (*big.Int, bool) {
	if r.in.Err() != nil {
		return nil, false
	}
	x, ok := parseRat(text)
	if !ok {
		r.unreadf("number out of range")
		return nil, false
	}
	if !x.IsInt() {
		r.unreadf("must be a whole number")
		return nil, false
	}
	return x.Num(), true
}

// Bytes reads base64 of either alphabet, padded or not.
func (r *Reader) Bytes() []byte {
	if !r.want(wire.KindString) {
		return nil
	}
	b, ok := ParseBase64(r.in.String())
	if !ok && r.in.Err() == nil {
		r.unreadf("must be base64")
	}
	return b
}

func ParseBase64(s string) ([]byte, bool) {
	s = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(s), "=")
	b, err := base64.RawStdEncoding.DecodeString(s)
	return b, err == nil
}

// Time reads a date-time (RFC 3339). A leap second cannot be represented and is a violation.
func (r *Reader) Time() (t time.Time) {
	if !r.want(wire.KindString) {
		return t
	}
	t, ok := ParseTime(r.in.String())
	if !ok && r.in.Err() == nil {
		r.unreadf("must be a date-time such as 2006-01-02T15:04:05Z")
	}
	return t
}

func ParseTime(s string) (t time.Time, ok bool) {
	err := t.UnmarshalText([]byte(strings.ToUpper(s)))
	return t, err == nil && validOffset(s)
}

// validOffset checks the hours and minutes of a zone offset, which package time does not.
func validOffset(s string) bool {
	i := len(s) - len("+00:00")
	return i < 0 || s[i] != '+' && s[i] != '-' || s[i+1:i+3] < "24" && s[i+4:] < "60"
}

// Date reads a full date (RFC 3339), as midnight UTC.
func (r *Reader) Date() (t time.Time) {
	if !r.want(wire.KindString) {
		return t
	}
	t, ok := ParseDate(r.in.String())
	if !ok && r.in.Err() == nil {
		r.unreadf("must be a date such as 2006-01-02")
	}
	return t
}

func ParseDate(s string) (time.Time, bool) {
	t, err := time.Parse(time.DateOnly, s)
	return t, err == nil && len(s) == len(time.DateOnly)
}
