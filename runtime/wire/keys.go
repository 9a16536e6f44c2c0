package wire

import "bytes"

// keyEntry is a member name of the open object at depth.
type keyEntry struct {
	depth int
	print uint64
	key   []byte
}

// keySet indexes the member names of one large object, so that looking for a repeated name stays linear in its size.
// It is derived from the key entries of its depth and may be dropped at any time.
type keySet struct {
	depth int
	names map[string]struct{}
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
		s.more = append(s.more[:s.n-len(s.first)], e)
	}
	s.n++
}

// add notes key as a member of the innermost object, at depth, and reports whether it is new there.
func (s *keyStack) add(key []byte, depth int) bool {
	if s.n >= len(s.first) {
		return s.addMore(key, depth)
	}
	print := fingerprint(key)
	for i := s.n - 1; i >= 0; i-- {
		old := &s.first[i]
		if old.depth != depth {
			break
		}
		if old.print == print && bytes.Equal(old.key, key) {
			return false
		}
	}
	s.first[s.n] = keyEntry{depth: depth, print: print, key: key}
	s.n++
	return true
}

// addMore is add for more names than live with the reader.
func (s *keyStack) addMore(key []byte, depth int) bool {
	if n := len(s.sets); n > 0 && s.sets[n-1].depth == depth {
		return s.addLarge(s.sets[n-1].names, key, depth)
	}
	e := keyEntry{depth: depth, print: fingerprint(key), key: key}
	count := 1
	for i := s.n - 1; i >= 0; i-- {
		old := s.at(i)
		if old.depth != depth {
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

func (s *keyStack) addLarge(names map[string]struct{}, key []byte, depth int) bool {
	n := len(names)
	if names[string(key)] = struct{}{}; len(names) == n {
		return false
	}
	s.push(keyEntry{depth: depth, print: fingerprint(key), key: key})
	return true
}

// index builds the set of the last n names, all of one object.
func (s *keyStack) index(n int) {
	names := make(map[string]struct{}, 4*n)
	for i := s.n - n; i < s.n; i++ {
		names[string(s.at(i).key)] = struct{}{}
	}
	s.sets = append(s.sets, keySet{depth: s.at(s.n - 1).depth, names: names})
}

// forget drops the names of the objects that were closed on the way out to depth.
func (s *keyStack) forget(depth int) {
	n := s.n
	for n > 0 && s.at(n-1).depth > depth {
		n--
	}
	s.cut(n)
	s.dropSets(depth + 1)
}

// cut keeps the first n names.
func (s *keyStack) cut(n int) { s.n = n }

// dropSets drops the sets of objects at depth and deeper.
func (s *keyStack) dropSets(depth int) {
	for n := len(s.sets); n > 0 && s.sets[n-1].depth >= depth; n-- {
		s.sets = s.sets[:n-1]
	}
}

// fingerprint tells most names apart in one comparison: by length, first and last eight bytes.
func fingerprint(key []byte) uint64 {
	n := len(key)
	if n >= 8 {
		return load8(key) ^ load8(key[n-8:])*0x9e3779b97f4a7c15 ^ uint64(n)
	}
	var x uint64
	for _, c := range key {
		x = x<<8 | uint64(c)
	}
	return x<<8 | uint64(n)
}

// addKey notes a member name of the object being read and reports whether it is new there; otherwise it fails, at the
// member's value.
func (r *Reader) addKey(key []byte) bool {
	if r.err != nil {
		return false
	}
	if !r.keys.add(key, r.depth) {
		r.Fail("member given more than once")
		return false
	}
	return true
}
