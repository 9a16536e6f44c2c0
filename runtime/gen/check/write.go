package check

import (
	"strconv"
	"time"

	"github.com/a2agen/a2agen/runtime/wire"
)

// AppendAny appends a raw value that was checked; null if it is not set.
func AppendAny(b []byte, v wire.Value) []byte {
	out, err := wire.AppendValue(b, v)
	if err != nil {
		return append(b, "null"...)
	}
	return out
}

// AppendTime appends a date-time (RFC 3339) with the fraction of a second that it has.
func AppendTime(b []byte, t time.Time) []byte {
	return append(t.AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
}

// AppendDate appends the date of t.
func AppendDate(b []byte, t time.Time) []byte {
	return append(t.AppendFormat(append(b, '"'), time.DateOnly), '"')
}

// AppendUint appends a whole number.
func AppendUint(b []byte, n uint64) []byte { return strconv.AppendUint(b, n, 10) }
