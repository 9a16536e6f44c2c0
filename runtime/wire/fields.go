package wire

// Field is a member of a message, as generated code describes it: P is a pointer to the message's type.
type Field[P any] struct {
	Name    string
	Aliases []string // also read
	Read    func(r *Reader, x P)
	// Required: an object without the member is refused.
	Required bool
	// Null says what null means in the member's place.
	Null nullMeans
	// Absent is what an object without a value for the member means; nil: nothing.
	Absent func(x P)
	// Oneof is the number of the oneof that the member is a case of, from 1 up.
	Oneof uint8
}

// nullMeans is what null stands for in the place of a member.
type nullMeans uint8

// What null stands for: no member at all, an empty list or map that is there, or a value as any other.
const (
	nullAbsent nullMeans = iota
	NullEmpty
	NullValue
)

// Fields are the members of a message in the order in which they are written.
type Fields[P any] []Field[P]

// perSeen is how many members one [Seen] holds.
const perSeen = 64

// Read reads an object into x.
func (f Fields[P]) Read(r *Reader, x P) { f.read(r, x, nil) }

// ReadOpen is Read for a message that ends in a oneof of which an unknown member may be a case.
func (f Fields[P]) ReadOpen(r *Reader, x P) (extra Extra) {
	f.read(r, x, &extra)
	return extra
}

func (f Fields[P]) read(r *Reader, x P, extra *Extra) {
	var few [1]Seen
	seen := few[:]
	if len(f) > perSeen {
		seen = make([]Seen, (len(f)+perSeen-1)/perSeen)
	}
	oneofs, next := uint64(0), 0
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		i := f.find(key, next)
		switch {
		case i >= 0:
			next = i + 1
			if m := &f[i]; m.admit(r, &seen[i/perSeen], uint(i%perSeen)) && (m.Oneof == 0 || r.only(&oneofs, m.Oneof)) {
				m.Read(r, x)
			}
		case extra != nil:
			r.UnknownCase(key, extra)
		default:
			r.Unknown(key)
		}
	}
	if r.err != nil {
		return
	}
	for i := range f {
		m := &f[i]
		if !m.Required && m.Absent == nil || seen[i/perSeen].Has(uint(i%perSeen)) {
			continue
		}
		if m.Required {
			r.failMember(r.pos-1, m.Name, "required, but missing")
			return
		}
		m.Absent(x)
	}
}

// find is the index of the member called key, -1 if there is none. Members mostly come in order: the search starts at next.
func (f Fields[P]) find(key []byte, next int) int {
	for i := next; i < len(f); i++ {
		if f[i].Name == string(key) {
			return i
		}
	}
	for i := range min(next, len(f)) {
		if f[i].Name == string(key) {
			return i
		}
	}
	for i := range f {
		for _, alias := range f[i].Aliases {
			if alias == string(key) {
				return i
			}
		}
	}
	return -1
}

// admit notes the member and reports whether there is a value to read.
func (m *Field[P]) admit(r *Reader, s *Seen, bit uint) bool {
	switch m.Null {
	case NullEmpty:
		return r.fieldOrEmpty(s, bit)
	case NullValue:
		return r.fieldOrNull(s, bit)
	}
	return r.Field(s, bit)
}

// only notes a case of a oneof and reports whether it is the first.
func (r *Reader) only(oneofs *uint64, oneof uint8) bool {
	free := *oneofs>>oneof&1 == 0
	*oneofs |= 1 << oneof
	return r.Only(free)
}

// ReadNew reads a message as a new one.
func ReadNew[T any](r *Reader, read func(*Reader, *T)) *T {
	x := new(T)
	read(r, x)
	return x
}

// ReadEmpty is the message that an empty object is read as.
func ReadEmpty[T any](read func(*Reader, *T)) *T {
	var r Reader
	r.Reset([]byte("{}"))
	return ReadNew(&r, read)
}

// Made is the message that p points to, a new one if there is none.
func Made[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}

// NonZero is a pointer to x, nil for the zero value.
func NonZero[T comparable](x T) *T {
	if x == *new(T) {
		return nil
	}
	return &x
}

// Reread reads src, which is what the value at offset stands for.
func (r *Reader) Reread(offset int, src []byte, read func(*Reader)) {
	var in Reader
	in.Reset(src)
	read(&in)
	if err := in.Done(); err != nil {
		r.FailAt(offset, err.Error())
	}
}

// listSize is the capacity of a list of several messages to start with.
const listSize = 4

// ReadList reads a list of messages. Most have one, which is allocated with its list; further ones come in growing
// blocks.
func ReadList[T any](r *Reader, read func(*Reader, *T)) []*T {
	if !r.Array() {
		return nil
	}
	made := new(struct {
		first T
		list  [1]*T
	})
	read(r, &made.first)
	made.list[0] = &made.first
	list := made.list[:]
	var block []T
	for r.Elem() {
		if len(list) == 1 {
			list = append(make([]*T, 0, listSize), list...)
		}
		if len(block) == 0 {
			block = make([]T, BlockSize(len(list)))
		}
		list = append(list, &block[0])
		read(r, &block[0])
		block = block[1:]
	}
	return list
}

// ReadSome is ReadList for a list that is refused if it has fewer than least elements.
func ReadSome[T any](r *Reader, least int, read func(*Reader, *T)) []*T {
	at := r.Offset()
	list := ReadList(r, read)
	r.minItems(at, len(list), least)
	return list
}

// ReadAtLeast is the list that read reads, which is refused if it has fewer than least elements.
func ReadAtLeast[T any](r *Reader, least int, read func(*Reader) []T) []T {
	at := r.Offset()
	list := read(r)
	r.minItems(at, len(list), least)
	return list
}

// ReadPlainList reads a list of scalars or enums.
func ReadPlainList[T any](r *Reader, read func(*Reader) T) (list []T) {
	for ok := r.Array(); ok; ok = r.Elem() {
		list = append(list, read(r))
	}
	return list
}

// ReadMap reads a map of messages. nulls: null is a message too.
func ReadMap[T any](r *Reader, nulls bool, read func(*Reader, *T)) map[string]*T {
	return readMap(r, nulls, (*Reader).Keep, func(r *Reader) *T { return ReadNew(r, read) })
}

// ReadPlainMap is ReadMap for scalars and enums.
func ReadPlainMap[T any](r *Reader, nulls bool, read func(*Reader) T) map[string]T {
	return readMap(r, nulls, (*Reader).Keep, read)
}

// ReadKeyedMap is ReadMap for keys that are not strings.
func ReadKeyedMap[K mapKey, T any](r *Reader, nulls bool, read func(*Reader, *T)) map[K]*T {
	return readMap(r, nulls, ReadKey[K], func(r *Reader) *T { return ReadNew(r, read) })
}

// ReadPlainKeyedMap is ReadPlainMap for keys that are not strings.
func ReadPlainKeyedMap[K mapKey, T any](r *Reader, nulls bool, read func(*Reader) T) map[K]T {
	return readMap(r, nulls, ReadKey[K], read)
}

// readMap reads a map; an empty one is nil. A name met twice is refused.
func readMap[K comparable, V any](r *Reader, nulls bool, key func(*Reader, []byte) K, value func(*Reader) V) (m map[K]V) {
	for name, ok := r.Object(); ok; name, ok = r.Next() {
		if nulls && !r.entryOrNull(name) || !nulls && !r.entry(name) {
			continue
		}
		if m == nil {
			m = map[K]V{}
		}
		k := key(r, name)
		m[k] = value(r)
	}
	return m
}

// ReadSpecified reads an enum in a required place, where an unspecified value is no value at all (A2A 1.0 §5.7).
func ReadSpecified[E ~string](r *Reader, read func(*Reader) E) E {
	at := r.Offset()
	x := read(r)
	if x == "" {
		r.FailAt(at, "required, but unspecified")
	}
	return x
}
