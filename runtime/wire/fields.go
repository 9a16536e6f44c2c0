package wire

// ReadPlainMap reads a map; an empty one is nil. A name met twice is refused, and null unless nulls is set.
func ReadPlainMap[T any](r *Reader, nulls bool, read func(*Reader) T) (m map[string]T) {
	for name, ok := r.Object(); ok; name, ok = r.Next() {
		if nulls && !r.entryOrNull(name) || !nulls && !r.entry(name) {
			continue
		}
		if m == nil {
			m = map[string]T{}
		}
		k := r.Keep(name)
		m[k] = read(r)
	}
	return m
}
