package wire

import (
	"maps"
	"slices"
	"unsafe"
)

// containers is how Go has a list or a map.
type containers interface {
	length(p unsafe.Pointer) int
	append(b []byte, f *Field, p unsafe.Pointer) ([]byte, error)
	read(r *Reader, f *Field, p unsafe.Pointer) (n int)
}

// List is a []V.
type List[V any] struct{}

func (List[V]) length(p unsafe.Pointer) int { return len(*(*[]V)(p)) }

func (List[V]) append(b []byte, f *Field, p unsafe.Pointer) ([]byte, error) {
	start, list := len(b), *(*[]V)(p)
	var err error
	for i := range list {
		if b, err = f.appendOne(append(b, ','), unsafe.Pointer(&list[i])); err != nil {
			return b, At(err, i)
		}
	}
	return EndArray(b, start), nil
}

func (List[V]) read(r *Reader, f *Field, p unsafe.Pointer) int {
	var list []V
	for ok := r.Array(); ok; ok = r.Elem() {
		list = append(list, *new(V))
		f.readOne(r, unsafe.Pointer(&list[len(list)-1]))
	}
	*(*[]V)(p) = list
	return len(list)
}

// Map is a map[string]V.
type Map[V any] struct{}

func (Map[V]) length(p unsafe.Pointer) int { return len(*(*map[string]V)(p)) }

func (Map[V]) append(b []byte, f *Field, p unsafe.Pointer) ([]byte, error) {
	m := *(*map[string]V)(p)
	return appendMap(b, f, m, slices.Sorted(maps.Keys(m)), func(name string) string { return name })
}

func (Map[V]) read(r *Reader, f *Field, p unsafe.Pointer) int {
	return readMap(r, f, (*map[string]V)(p), (*Reader).Keep)
}

// KeyedMap is a map[K]V whose keys are not strings.
type KeyedMap[K mapKey, V any] struct{}

func (KeyedMap[K, V]) length(p unsafe.Pointer) int { return len(*(*map[K]V)(p)) }

func (KeyedMap[K, V]) append(b []byte, f *Field, p unsafe.Pointer) ([]byte, error) {
	m := *(*map[K]V)(p)
	return appendMap(b, f, m, SortedKeys(m), KeyName[K])
}

func (KeyedMap[K, V]) read(r *Reader, f *Field, p unsafe.Pointer) int {
	return readMap(r, f, (*map[K]V)(p), readKey[K])
}

// appendMap appends a map with the given keys in their order, but for messages that the wire does not have.
func appendMap[K comparable, V any](b []byte, f *Field, m map[K]V, keys []K, name func(K) string) ([]byte, error) {
	start := len(b)
	var err error
	var value V
	for _, k := range keys {
		value = m[k]
		if f.Type == TypeMessage && !f.Of.table().writable(*(*unsafe.Pointer)(unsafe.Pointer(&value))) {
			continue
		}
		if b, err = f.appendOne(AppendKey(b, name(k)), unsafe.Pointer(&value)); err != nil {
			return b, In(err, name(k))
		}
	}
	return EndObject(b, start), nil
}

// readMap reads a map; an empty one is nil. A name met twice is refused, and so is null where it is no value.
func readMap[K comparable, V any](r *Reader, f *Field, to *map[K]V, key func(*Reader, []byte) K) int {
	nulls := f.Type == TypeValue || f.Type == TypeNull || f.Type == TypeMessage && f.Of.table().OrBare
	var m map[K]V
	var value V
	for name, ok := r.Object(); ok; name, ok = r.Next() {
		if nulls && !r.entryOrNull(name) || !nulls && !r.entry(name) {
			continue
		}
		if m == nil {
			m = map[K]V{}
		}
		k := key(r, name)
		f.readOne(r, unsafe.Pointer(&value))
		m[k] = value
	}
	*to = m
	return len(m)
}
