package legacy

import (
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/a2agen/a2agen/runtime/wire"
)

// HasBlocking is true: whether to wait is always said, as the opposite of returnImmediately (T1). Without a word 0.3
// may answer early, but its official servers wait.
func HasBlocking(bool) bool { return true }

// AppendBlocking appends the value of blocking.
func AppendBlocking(b []byte, returnImmediately bool) ([]byte, error) {
	return wire.AppendBool(b, !returnImmediately), nil
}

// ReadBlocking reads the value of blocking.
func ReadBlocking(r *wire.Reader) (returnImmediately bool) { return !r.Bool() }

// AbsentBlocking is what no blocking means: answer at once.
func AbsentBlocking() (returnImmediately bool) { return true }

// HasSchemes reports whether there is a scheme.
func HasSchemes(scheme string) bool { return scheme != "" }

// AppendSchemes appends the one scheme of 1.0 as the list of 0.1 to 0.3 (T46).
func AppendSchemes(b []byte, scheme string) ([]byte, error) {
	if scheme == "" {
		return append(b, "[]"...), nil
	}
	return append(wire.AppendString(append(b, '['), scheme), ']'), nil
}

// ReadSchemes reads a list of schemes and returns the first; the others are lost.
func ReadSchemes(r *wire.Reader) string {
	if list := r.Strings(); len(list) > 0 {
		return list[0]
	}
	return ""
}

// HasTimestamp reports whether the time is set.
func HasTimestamp(t time.Time) bool { return !t.IsZero() }

// AppendTimestamp appends a time in UTC.
func AppendTimestamp(b []byte, t time.Time) ([]byte, error) { return wire.AppendTimestamp(b, t) }

// ReadTimestamp reads an ISO 8601 time. One without a zone, as samples of that time have, is taken as UTC; so are a date
// alone, and a space instead of the T.
func ReadTimestamp(r *wire.Reader) time.Time {
	start, mark := r.Offset(), r.Mark()
	if r.Kind() != wire.KindString {
		return r.Timestamp()
	}
	t := r.Timestamp()
	if r.Err() == nil {
		return t
	}
	r.Rewind(mark)
	text := r.String()
	for _, layout := range []string{"2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05.999999999", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, text, time.UTC); err == nil && t.Year() >= 1 {
			return t
		}
	}
	r.FailAt(start, "invalid ISO 8601 timestamp")
	return time.Time{}
}

// HasIndex is true: an artifact of 0.1 always has its index.
func HasIndex(string) bool { return true }

// AppendIndex appends the index by which 0.1 knows an artifact. That is its place in its task, which is its id where a server writes one
// (decision 012); any other id gives a number that is always the same for the id.
func AppendIndex(b []byte, id string) ([]byte, error) {
	if n, err := strconv.ParseInt(id, 10, 32); err == nil && n >= 0 && strconv.FormatInt(n, 10) == id {
		return append(b, id...), nil
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return strconv.AppendUint(b, uint64(h.Sum32()&math.MaxInt32), 10), nil
}

// ReadIndex reads an index as the artifact's id.
func ReadIndex(r *wire.Reader) string { return strconv.Itoa(int(r.Int32())) }

// AbsentIndex is the index that is meant when there is none.
func AbsentIndex() string { return "0" }

// modes are names of 0.1 that stand for media types (T48).
var modes = map[string]string{"text": "text/plain", "data": "application/json"}

// HasModes reports whether the list is written.
func HasModes(list []string) bool { return len(list) > 0 }

// AppendModes appends media types as they are.
func AppendModes(b []byte, list []string) ([]byte, error) {
	return wire.AppendPlainList(b, list, wire.AppendString), nil
}

// ReadModes reads modes of 0.1, which may be names, as media types.
func ReadModes(r *wire.Reader) []string {
	list := r.Strings()
	for i, mode := range list {
		if known := modes[mode]; known != "" {
			list[i] = known
		}
	}
	return slices.Clip(list)
}

// HasDefaultModes is true: an empty list is not the same as none.
func HasDefaultModes([]string) bool { return true }

// AppendDefaultModes appends the modes of a card.
func AppendDefaultModes(b []byte, list []string) ([]byte, error) { return AppendModes(b, list) }

// ReadDefaultModes reads the modes of a card.
func ReadDefaultModes(r *wire.Reader) []string { return ReadModes(r) }

// AbsentDefaultModes is what a card without modes takes and gives.
func AbsentDefaultModes() []string { return []string{"text/plain"} }
