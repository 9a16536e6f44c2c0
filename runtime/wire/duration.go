package wire

import (
	"math"
	"strconv"
	"time"
)

// Duration is a google.protobuf.Duration: up to 10,000 years in either direction, which is more than a [time.Duration] holds. Both
// members have the same sign, or one of them is zero.
type Duration struct {
	Seconds int64
	Nanos   int32 // less than a second
}

// DurationOf returns d as protobuf has it.
func DurationOf(d time.Duration) Duration {
	return Duration{Seconds: int64(d / time.Second), Nanos: int32(d % time.Second)}
}

// Std returns d as the time package has it, or the longest that it has.
func (d Duration) Std() time.Duration {
	const most, rest = math.MaxInt64 / int64(time.Second), math.MaxInt64 % int64(time.Second)
	switch {
	case d.Seconds > most || d.Seconds == most && int64(d.Nanos) > rest:
		return math.MaxInt64
	case d.Seconds < -most || d.Seconds == -most && int64(d.Nanos) < -rest:
		return math.MinInt64
	}
	return time.Duration(d.Seconds)*time.Second + time.Duration(d.Nanos)
}

// String returns d as JSON has it: "1.5s".
func (d Duration) String() string { return string(d.append(nil)) }

// maxDurationSeconds is the longest duration of protobuf.
const maxDurationSeconds = 315_576_000_000

// Valid reports whether protobuf has such a duration.
func (d Duration) Valid() bool {
	return d.Seconds >= -maxDurationSeconds && d.Seconds <= maxDurationSeconds && d.Nanos > -1e9 && d.Nanos < 1e9 &&
		(d.Seconds <= 0 || d.Nanos >= 0) && (d.Seconds >= 0 || d.Nanos <= 0)
}

func (d Duration) append(b []byte) []byte {
	if d.Seconds < 0 || d.Nanos < 0 {
		b = append(b, '-')
	}
	b = strconv.AppendUint(b, magnitude(d.Seconds), 10)
	return append(appendFraction(b, int(magnitude(int64(d.Nanos)))), 's')
}

const notADuration = "not a duration within 10,000 years"

// Duration reads seconds as a string with up to nine digits after the point: "1.5s".
func (r *Reader) Duration() Duration {
	start := r.Offset()
	if r.token() != '"' {
		r.expected("a duration")
		return Duration{}
	}
	text := r.Text()
	if r.err != nil {
		return Duration{}
	}
	d, ok := parseDuration(text)
	if !ok {
		r.fail(start, "invalid duration")
	}
	return d
}

func parseDuration(s []byte) (Duration, bool) {
	negative := len(s) > 0 && s[0] == '-'
	if negative {
		s = s[1:]
	}
	end := digits(s, 0)
	if end < 0 {
		return Duration{}, false
	}
	seconds, err := strconv.ParseInt(string(s[:end]), 10, 64)
	nanos, rest, ok := fraction(s[end:])
	d := Duration{Seconds: seconds, Nanos: int32(nanos)}
	if negative {
		d = Duration{Seconds: -seconds, Nanos: -int32(nanos)}
	}
	return d, err == nil && ok && string(rest) == "s" && d.Valid()
}

// AppendDuration appends seconds as a string with 0, 3, 6 or 9 digits after the point. One that protobuf does not have is an error.
func AppendDuration(b []byte, d Duration) ([]byte, error) {
	if !d.Valid() {
		return b, &Error{Reason: notADuration}
	}
	return append(d.append(append(b, '"')), '"'), nil
}
