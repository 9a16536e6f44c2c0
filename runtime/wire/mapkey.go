package wire

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
)

// mapKey is what the keys of a map are besides strings. JSON has them as strings.
type mapKey interface {
	bool | int32 | int64 | uint32 | uint64
}

// SortedKeys returns the keys of a map in the order they are written: numbers by size, false before true.
func SortedKeys[K mapKey, T any](m map[K]T) []K {
	return slices.SortedFunc(maps.Keys(m), func(a, b K) int {
		switch a := any(a).(type) {
		case bool:
			return cmp.Compare(KeyName(a), KeyName(any(b).(bool)))
		case int32:
			return cmp.Compare(a, any(b).(int32))
		case int64:
			return cmp.Compare(a, any(b).(int64))
		case uint32:
			return cmp.Compare(a, any(b).(uint32))
		case uint64:
			return cmp.Compare(a, any(b).(uint64))
		}
		return 0
	})
}

// KeyName is a key as JSON and errors have it, without quotes.
func KeyName[K mapKey](k K) string {
	switch k := any(k).(type) {
	case bool:
		return strconv.FormatBool(k)
	case int32:
		return strconv.FormatInt(int64(k), 10)
	case int64:
		return strconv.FormatInt(k, 10)
	case uint32:
		return strconv.FormatUint(uint64(k), 10)
	case uint64:
		return strconv.FormatUint(k, 10)
	}
	return ""
}

// readKey returns the key that a member's name stands for. Anything but the one way to write it is a failure.
func readKey[K mapKey](r *Reader, name []byte) (k K) {
	text, ok := string(name), false
	switch p := any(&k).(type) {
	case *bool:
		*p = text == "true"
	case *int32:
		n, _ := strconv.ParseInt(text, 10, 32)
		*p = int32(n)
	case *int64:
		*p, _ = strconv.ParseInt(text, 10, 64)
	case *uint32:
		n, _ := strconv.ParseUint(text, 10, 32)
		*p = uint32(n)
	case *uint64:
		*p, _ = strconv.ParseUint(text, 10, 64)
	}
	if ok = KeyName(k) == text; !ok {
		r.Fail("not a key of this map")
	}
	return k
}
