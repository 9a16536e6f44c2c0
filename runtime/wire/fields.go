package wire

// NonZero is a pointer to x, nil for the zero value.
func NonZero[T comparable](x T) *T {
	if x == *new(T) {
		return nil
	}
	return &x
}

// OrZero is what p points to, the zero value if it is nil.
func OrZero[T any](p *T) (x T) {
	if p != nil {
		x = *p
	}
	return x
}

// ReadPlainList reads a list of scalars or enums.
func ReadPlainList[T any](r *Reader, read func(*Reader) T) (list []T) {
	for ok := r.Array(); ok; ok = r.Elem() {
		list = append(list, read(r))
	}
	return list
}

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
