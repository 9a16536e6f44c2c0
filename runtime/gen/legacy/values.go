package legacy

import (
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/a2agen/a2agen/runtime/wire"
)

// The hooks of single members, for JSON.
var (
	// Blocking is always said, as the opposite of returnImmediately (T1). Without a word 0.3 may answer early, but its
	// official servers wait; a request that says nothing is answered at once.
	Blocking = wire.Hook[bool]{Append: appendBlocking, Read: readBlocking, Absent: atOnce}
	// BlockingFlag is Blocking in the proto of 0.3, which has no presence for it, so that false is left out.
	BlockingFlag = wire.Hook[bool]{
		Has: func(returnImmediately bool) bool { return !returnImmediately }, Append: appendBlocking, Read: readBlocking, Absent: atOnce,
	}
	// Schemes is the one scheme of 1.0 as the list of 0.1 to 0.3 (T46).
	Schemes = wire.Hook[string]{Has: notEmpty, Append: appendSchemes, Read: readSchemes}
	// Timestamp is an ISO 8601 time.
	Timestamp = wire.Hook[time.Time]{
		Has: func(t time.Time) bool { return !t.IsZero() }, Append: wire.AppendTimestamp, Read: readTimestamp,
	}
	// Index is the index by which 0.1 knows an artifact, always.
	Index = wire.Hook[string]{Append: appendIndex, Read: readIndex, Absent: func() string { return "0" }}
	// Modes are those of 0.1, which may be names (T48).
	Modes = wire.Hook[[]string]{Has: func(list []string) bool { return len(list) > 0 }, Append: appendModes, Read: readModes}
	// DefaultModes are those of a card: an empty list is not the same as none.
	DefaultModes = wire.Hook[[]string]{Append: appendModes, Read: readModes, Absent: func() []string { return []string{"text/plain"} }}
	// TaskName is the resource name of a task in the proto of 0.3.
	TaskName = wire.Hook[string]{Has: notEmpty, Append: appendTaskName, Read: func(r *wire.Reader) string { return TaskOfName(r.String()) }}
	// ConfigParent is the name of the task that a push config is for, which official agents take from the path, too. It is
	// also read as the name of the collection of the task's configs.
	ConfigParent = wire.Hook[string]{Has: notEmpty, Append: appendTaskName, Read: readConfigParent}
	// ConfigName is the resource name of a push config. The id may be empty: the only config of the task.
	ConfigName = wire.Pair{
		Has:    func(taskID, id string) bool { return taskID != "" || id != "" },
		Append: func(b []byte, taskID, id string) []byte { return wire.AppendString(b, NameOfConfig(taskID, id)) },
		Read:   func(r *wire.Reader) (taskID, id string) { return ConfigOfName(r.String()) },
	}
)

func notEmpty(s string) bool { return s != "" }

func appendBlocking(b []byte, returnImmediately bool) ([]byte, error) {
	return wire.AppendBool(b, !returnImmediately), nil
}

func readBlocking(r *wire.Reader) (returnImmediately bool) { return !r.Bool() }

func atOnce() (returnImmediately bool) { return true }

func appendSchemes(b []byte, scheme string) ([]byte, error) {
	if scheme == "" {
		return append(b, "[]"...), nil
	}
	return append(wire.AppendString(append(b, '['), scheme), ']'), nil
}

// readSchemes reads a list of schemes and returns the first; the others are lost.
func readSchemes(r *wire.Reader) string {
	if list := r.Strings(); len(list) > 0 {
		return list[0]
	}
	return ""
}

// readTimestamp reads an ISO 8601 time. One without a zone, as samples of that time have, is taken as UTC; so are a date
// alone, and a space instead of the T.
func readTimestamp(r *wire.Reader) time.Time {
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

// appendIndex appends the place of an artifact in its task, which is its id where a server writes one (docs/decisions/03); any
// other id gives a number that is always the same for the id.
func appendIndex(b []byte, id string) ([]byte, error) {
	if n, err := strconv.ParseInt(id, 10, 32); err == nil && n >= 0 && strconv.FormatInt(n, 10) == id {
		return append(b, id...), nil
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return strconv.AppendUint(b, uint64(h.Sum32()&math.MaxInt32), 10), nil
}

func readIndex(r *wire.Reader) string { return strconv.Itoa(int(r.Int32())) }

// modes are names of 0.1 that stand for media types (T48).
var modes = map[string]string{"text": "text/plain", "data": "application/json"}

func appendModes(b []byte, list []string) ([]byte, error) {
	return wire.AppendPlainList(b, list, wire.AppendString), nil
}

// readModes reads modes of 0.1 as media types.
func readModes(r *wire.Reader) []string {
	list := r.Strings()
	for i, mode := range list {
		if known := modes[mode]; known != "" {
			list[i] = known
		}
	}
	return slices.Clip(list)
}

func appendTaskName(b []byte, id string) ([]byte, error) {
	return wire.AppendString(b, NameOfTask(id)), nil
}

func readConfigParent(r *wire.Reader) (taskID string) {
	taskID, _ = ConfigOfName(r.String())
	return taskID
}
