package proto

import (
	"slices"
	"time"
	"unsafe"

	"github.com/a2agen/a2agen/runtime/wire"
)

// containers is how Go has a list or a map.
type containers interface {
	length(p unsafe.Pointer) int
	write(w *Writer, f *Field, tag uint32, p unsafe.Pointer) error
	// read reads one element or one entry.
	read(r *Reader, f *Field, tag uint32, p unsafe.Pointer)
}

// List is a []V.
type List[V any] struct{}

func (List[V]) length(p unsafe.Pointer) int { return len(*(*[]V)(p)) }

func (List[V]) write(w *Writer, f *Field, tag uint32, p unsafe.Pointer) error {
	list := *(*[]V)(p)
	for i := range list {
		if err := f.writeOne(w, tag, unsafe.Pointer(&list[i])); err != nil {
			return wire.At(err, i)
		}
	}
	return nil
}

func (List[V]) read(r *Reader, f *Field, tag uint32, p unsafe.Pointer) {
	list := append(*(*[]V)(p), *new(V))
	f.readOne(r, tag, unsafe.Pointer(&list[len(list)-1]))
	r.elem(len(list) - 1)
	*(*[]V)(p) = list
}

// Map is a map[string]V.
type Map[V any] struct{}

func (Map[V]) length(p unsafe.Pointer) int { return len(*(*map[string]V)(p)) }

func (Map[V]) write(w *Writer, f *Field, tag uint32, p unsafe.Pointer) error {
	m := *(*map[string]V)(p)
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return writeMap(w, f, tag, m, names, func(name string) string { return name })
}

func (Map[V]) read(r *Reader, f *Field, _ uint32, p unsafe.Pointer) {
	readEntry(r, f, (*map[string]V)(p), func(name string) string { return name })
}

// KeyedMap is a map[K]V whose keys are not strings.
type KeyedMap[K bool | int32 | int64 | uint32 | uint64, V any] struct{}

func (KeyedMap[K, V]) length(p unsafe.Pointer) int { return len(*(*map[K]V)(p)) }

func (KeyedMap[K, V]) write(w *Writer, f *Field, tag uint32, p unsafe.Pointer) error {
	m := *(*map[K]V)(p)
	return writeMap(w, f, tag, m, wire.SortedKeys(m), wire.KeyName[K])
}

func (KeyedMap[K, V]) read(r *Reader, f *Field, _ uint32, p unsafe.Pointer) {
	readEntry(r, f, (*map[K]V)(p), wire.KeyName[K])
}

// The tags of an entry are those of its key, which has number 1, and its value, which has 2.
func (f *Field) keyTag() uint32 { return 1<<3 | wireType(f.Key, f.KeyForm) }

func (f *Field) valueTag() uint32 { return 2<<3 | f.wireType() }

// entry is a key and its value, which are allocated together.
type entry[K, V any] struct {
	key   K
	value V
}

// writeMap writes a map with the given keys in their order: an entry each, with key and value always there.
func writeMap[K comparable, V any](w *Writer, f *Field, tag uint32, m map[K]V, keys []K, name func(K) string) error {
	keyTag, valueTag := f.keyTag(), f.valueTag()
	var e entry[K, V]
	for _, e.key = range keys {
		e.value = m[e.key]
		begun := w.Begin(tag)
		w.scalar(keyTag, f.Key, f.KeyForm, unsafe.Pointer(&e.key))
		if err := f.writeOne(w, valueTag, unsafe.Pointer(&e.value)); err != nil {
			return wire.In(err, name(e.key))
		}
		w.End(begun)
	}
	return nil
}

// readEntry reads an entry of a map. What is missing in it is the zero value; a later entry replaces an earlier one.
func readEntry[K comparable, V any](r *Reader, f *Field, to *map[K]V, name func(K) string) {
	var e entry[K, V]
	f.readEntry(r, unsafe.Pointer(&e.key), unsafe.Pointer(&e.value))
	r.In(name(e.key))
	if *to == nil {
		*to = map[K]V{}
	}
	(*to)[e.key] = e.value
}

func (f *Field) readEntry(r *Reader, key, value unsafe.Pointer) {
	switch f.Type {
	case wire.TypeMessage:
		*(*unsafe.Pointer)(value) = f.Of.fresh()
	case wire.TypeEnum:
		*(*string)(value) = f.Enum.Numbered(0)
	}
	keyTag, valueTag, given := f.keyTag(), f.valueTag(), false
	m := r.Enter(1)
	for tag := r.Tag(); tag != 0; tag = r.Tag() {
		switch tag {
		case keyTag:
			r.scalar(f.Key, f.KeyForm, key)
		case valueTag:
			given = true
			f.readOne(r, tag, value)
		default:
			r.Skip(tag)
		}
	}
	r.Leave(m)
	if !given {
		f.absentValue(r, value)
	}
}

// absentValue sees to the value of an entry that has none, where that is not the zero value of Go.
func (f *Field) absentValue(r *Reader, p unsafe.Pointer) {
	switch f.Type {
	case wire.TypeMessage: // nothing has looked at what an empty message lacks
		if p := f.Of.table().ready(); len(p.lacking) > 0 || p.ends {
			r.Incomplete()
		}
	case wire.TypeStruct, wire.TypeEmpty:
		*(*wire.Object)(p) = wire.Object("{}")
	case wire.TypeValue:
		*(*wire.Value)(p) = wire.Value("null")
	case wire.TypeListValue:
		*(*wire.Value)(p) = wire.Value("[]")
	case wire.TypeBytes:
		*(*[]byte)(p) = []byte{}
	case wire.TypeFieldMask:
		*(*wire.FieldMask)(p) = wire.FieldMask{}
	case wire.TypeAny:
		*(**wire.Any)(p) = &wire.Any{}
	case wire.TypeTimestamp: // an empty Timestamp is the first moment of 1970, the zero time is not
		*(*time.Time)(p) = time.Unix(0, 0).UTC()
	}
}
