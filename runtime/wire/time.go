package wire

import "time"

// Timestamp reads an RFC 3339 time with any offset and up to nine digits of a second; the result is in UTC and within
// the years 1 to 9999.
func (r *Reader) Timestamp() time.Time {
	start := r.Offset()
	if r.token() != '"' {
		r.expected("a timestamp")
		return time.Time{}
	}
	text := r.Text()
	if r.err != nil {
		return time.Time{}
	}
	t, ok := parseTime(text)
	if !ok {
		r.fail(start, "invalid RFC 3339 timestamp")
	}
	return t
}

// FirstMoment is the first moment of year 1 as a time that was given. The zero value of [time.Time] is the same moment, and stands for one that
// was not: the two differ in their location.
var FirstMoment = time.Time{}.In(time.FixedZone("UTC", 0))

// Moment returns t, which is in UTC, as a time that was given.
func Moment(t time.Time) time.Time {
	if t == (time.Time{}) {
		return FirstMoment
	}
	return t
}

// parseTime reads YYYY-MM-DDThh:mm:ss[.fraction](Z|±hh:mm). Lower-case t and z are RFC 3339 too; a leap second is not accepted.
func parseTime(s []byte) (time.Time, bool) {
	const shape = "0000-00-00T00:00:00"
	if len(s) < len(shape)+1 {
		return time.Time{}, false
	}
	for i := range len(shape) {
		c := s[i]
		if shape[i] == '0' && c-'0' > 9 || shape[i] != '0' && c != shape[i] && (i != 10 || c != 't') {
			return time.Time{}, false
		}
	}
	year, month, day := two(s)*100+two(s[2:]), two(s[5:]), two(s[8:])
	hour, minute, second := two(s[11:]), two(s[14:]), two(s[17:])
	nanos, rest, ok := fraction(s[len(shape):])
	if !ok || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	offset, ok := zone(rest)
	if !ok {
		return time.Time{}, false
	}
	t := Moment(time.Date(year, time.Month(month), day, hour, minute, second-offset, nanos, time.UTC))
	return t, t.Year() >= 1 && t.Year() <= 9999
}

// two reads two digits.
func two(s []byte) int { return int(s[0]-'0')*10 + int(s[1]-'0') }

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// fraction reads a point and one to nine digits, if there is a point, as nanoseconds.
func fraction(s []byte) (nanos int, rest []byte, ok bool) {
	if len(s) == 0 || s[0] != '.' {
		return 0, s, true
	}
	end := digits(s, 1)
	if end < 0 || end > 10 {
		return 0, nil, false
	}
	for i := 1; i < 10; i++ {
		nanos *= 10
		if i < end {
			nanos += int(s[i] - '0')
		}
	}
	return nanos, s[end:], true
}

// zone reads Z or an offset, in seconds east of UTC.
func zone(s []byte) (offset int, ok bool) {
	if len(s) == 1 {
		return 0, s[0]|0x20 == 'z'
	}
	if len(s) != 6 || s[3] != ':' || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	for _, i := range [...]int{1, 2, 4, 5} {
		if s[i]-'0' > 9 {
			return 0, false
		}
	}
	hours, minutes := two(s[1:]), two(s[4:])
	if hours > 23 || minutes > 59 {
		return 0, false
	}
	offset = hours*3600 + minutes*60
	if s[0] == '-' {
		offset = -offset
	}
	return offset, true
}

// AppendTimestamp appends t in UTC with a Z and 0, 3, 6 or 9 digits of a second, as few as say it exactly (T60). A year
// outside 1 to 9999 is an error.
func AppendTimestamp(b []byte, t time.Time) ([]byte, error) {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 1 || year > 9999 {
		return b, &Error{Reason: "year outside 1 to 9999"}
	}
	hour, minute, second := t.Clock()
	b = appendTwo(appendTwo(append(b, '"'), year/100), year%100)
	b = appendTwo(append(b, '-'), int(month))
	b = appendTwo(append(b, '-'), day)
	b = appendTwo(append(b, 'T'), hour)
	b = appendTwo(append(b, ':'), minute)
	b = appendTwo(append(b, ':'), second)
	return append(appendFraction(b, t.Nanosecond()), 'Z', '"'), nil
}

func appendTwo(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

// appendFraction appends a point and 3, 6 or 9 digits, or nothing for no nanoseconds.
func appendFraction(b []byte, nanos int) []byte {
	size := 9
	switch {
	case nanos == 0:
		return b
	case nanos%1e6 == 0:
		nanos, size = nanos/1e6, 3
	case nanos%1e3 == 0:
		nanos, size = nanos/1e3, 6
	}
	b = append(b, ".000000000"[:1+size]...)
	for i := len(b) - 1; nanos > 0; i-- {
		b[i] = byte('0' + nanos%10)
		nanos /= 10
	}
	return b
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}
