package wire

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// keyEntry is a member name of the open object at depth.
type keyEntry struct {
	depth int32
	print uint32
	key   []byte
}

// keySet indexes the member names of one large object, so that looking for a repeated name stays linear in its size.
// It is derived from the key entries of its depth and may be dropped at any time. It is a hash table with open addressing,
// of which at most half is used: a map of strings would copy each name, and takes several times as long.
type keySet struct {
	depth int
	n     int
	// slots have half of a name's hash and, in the lower bits, the place of its entry in the stack plus one; 0 is a free
	// slot. Their number is a power of two.
	slots []uint64
}

// keySeed keeps peers from sending names that meet in one slot.
var keySeed = maphash.MakeSeed()

const (
	placeBits  = 32
	firstSlots = 128 // a power of two
)

// add notes a name whose entry is the i-th of the stack, and reports whether it is new.
func (t *keySet) add(s *keyStack, key []byte, i int) bool {
	if 2*t.n >= len(t.slots) {
		t.grow()
	}
	half, mask := maphash.Bytes(keySeed, key)>>placeBits, uint64(len(t.slots)-1)
	for at := half & mask; ; at = (at + 1) & mask {
		slot := t.slots[at]
		if slot == 0 {
			t.slots[at] = half<<placeBits | uint64(i+1)
			t.n++
			return true
		}
		if slot>>placeBits == half && bytes.Equal(s.at(int(slot&(1<<placeBits-1))-1).key, key) {
			return false
		}
	}
}

// grow doubles the number of slots.
func (t *keySet) grow() {
	old := t.slots
	t.slots = make([]uint64, max(2*len(old), firstSlots))
	mask := uint64(len(t.slots) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		at := slot >> placeBits & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = slot
	}
}

// keyStack holds the member names met so far in open objects, innermost last: those that no generated code keeps
// account of itself. The first few live with the reader, which spares most documents an allocation.
type keyStack struct {
	n     int
	first [8]keyEntry
	more  []keyEntry
	sets  []keySet // of the large objects among them, innermost last
}

// largeObject is the number of members up to which names are compared one by one.
const largeObject = 24

func (s *keyStack) at(i int) *keyEntry {
	if i < len(s.first) {
		return &s.first[i]
	}
	return &s.more[i-len(s.first)]
}

func (s *keyStack) push(e keyEntry) {
	if s.n < len(s.first) {
		s.first[s.n] = e
	} else {
		if s.more = s.more[:s.n-len(s.first)]; len(s.more) == cap(s.more) {
			s.more = slices.Grow(s.more, max(len(s.more), 2*len(s.first))) // twice as much each time
		}
		s.more = append(s.more, e)
	}
	s.n++
}

// addMore notes key as a member of the innermost object, at depth, and reports whether it is new there. More names are
// known than live with the reader.
func (s *keyStack) addMore(key []byte, depth int) bool {
	if n := len(s.sets); n > 0 && s.sets[n-1].depth == depth {
		if !s.sets[n-1].add(s, key, s.n) {
			return false
		}
		s.push(keyEntry{depth: int32(depth), key: key})
		return true
	}
	e := keyEntry{depth: int32(depth), print: fingerprint(key), key: key}
	count := 1
	for i := s.n - 1; i >= 0; i-- {
		old := s.at(i)
		if old.depth != int32(depth) {
			break
		}
		if old.print == e.print && bytes.Equal(old.key, key) {
			return false
		}
		count++
	}
	s.push(e)
	if count > largeObject {
		s.index(count)
	}
	return true
}

// index builds the set of the last n names, all of one object.
func (s *keyStack) index(n int) {
	set := keySet{depth: int(s.at(s.n - 1).depth)}
	for i := s.n - n; i < s.n; i++ {
		set.add(s, s.at(i).key, i)
	}
	s.sets = append(s.sets, set)
}

// forget drops the names of the objects that were closed on the way out to depth.
func (s *keyStack) forget(depth int) {
	n := s.n
	for n > 0 && int(s.at(n-1).depth) > depth {
		n--
	}
	s.keep(n, depth)
}

// keep keeps the first n names, and the sets of the objects around depth: those of others are built again when they are
// needed.
func (s *keyStack) keep(n, depth int) {
	s.n = n
	for n := len(s.sets); n > 0 && s.sets[n-1].depth > depth; n-- {
		s.sets = s.sets[:n-1]
	}
}

// fingerprint tells most names apart in one comparison: by length, first and last eight bytes.
func fingerprint(key []byte) uint32 {
	n := len(key)
	x := uint64(n)
	if n >= 8 {
		x ^= load8(key) ^ load8(key[n-8:])*0x9e3779b97f4a7c15
	} else {
		for _, c := range key {
			x = x<<8 | uint64(c)
		}
	}
	return uint32(x * 0x9e3779b97f4a7c15 >> 32)
}

// addKey notes a member name of the object being read and reports whether it is new there; otherwise it fails, at the
// member's value.
func (r *Reader) addKey(key []byte) bool {
	if r.err != nil {
		return false
	}
	s, isNew := &r.keys, true
	if s.n >= len(s.first) {
		isNew = s.addMore(key, r.depth)
	} else {
		e := keyEntry{depth: int32(r.depth), print: fingerprint(key), key: key}
		for i := s.n - 1; i >= 0 && s.first[i].depth == e.depth; i-- {
			if old := &s.first[i]; old.print == e.print && bytes.Equal(old.key, key) {
				isNew = false
			}
		}
		if isNew {
			s.first[s.n] = e
			s.n++
		}
	}
	if !isNew {
		r.Fail("member given more than once")
	}
	return isNew
}
