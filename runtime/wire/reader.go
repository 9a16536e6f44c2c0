package wire

import (
	"bytes"
	"sync"
)

// MaxDepth is how deep objects and arrays may nest in a document.
const MaxDepth = 100

// Kind tells the JSON type of a value by a representative first byte.
type Kind byte

// The kinds of a JSON value. KindNone is the end of the input, or something that starts no value.
const (
	KindNone   Kind = 0
	KindNull   Kind = 'n'
	KindBool   Kind = 't'
	KindNumber Kind = '0'
	KindString Kind = '"'
	KindObject Kind = '{'
	KindArray  Kind = '['
)

// Reader reads one JSON document in one pass. Its error is sticky: after the first failure every method returns zero
// values and every loop ends, so that callers check once, with [Reader.Done]. Set it up with Reset. What the value methods
// return never refers to the source, except where a method says so.
type Reader struct {
	src   []byte
	pos   int
	depth int
	err   *Error
	// slab is the memory that short strings and raw values of one document share. Its bytes are written once.
	slab []byte
	keys keyStack
	// spaced: whitespace was skipped between tokens since the flag was last cleared.
	spaced bool
}

// Reset makes r read src from its start. r refers to src until it is reset again and never changes it.
func (r *Reader) Reset(src []byte) { *r = Reader{src: src} }

// Err returns the first failure as an [*Error], or nil.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// Done checks that nothing but whitespace follows the value read and returns the first failure.
func (r *Reader) Done() error {
	r.token()
	if r.pos < len(r.src) {
		r.fail(r.pos, "unexpected data after the value")
	}
	return r.Err()
}

// readers are between documents. They are shared because the functions that read a message are given as values, so that a
// reader of theirs cannot stay on the stack.
var readers = sync.Pool{New: func() any { return new(Reader) }}

// Decode reads the whole document src as a new T.
func Decode[T any](src []byte, read func(*Reader, *T)) (*T, error) {
	x, r := new(T), readers.Get().(*Reader)
	r.src = src
	read(r, x)
	err := r.Done()
	*r = Reader{}
	readers.Put(r)
	if err != nil {
		return nil, err
	}
	return x, nil
}

// Offset returns the byte offset of the next value.
func (r *Reader) Offset() int {
	r.token()
	return r.pos
}

// Fail records that the next value is not acceptable. Reason is lower case and may be shown to a peer.
func (r *Reader) Fail(reason string) { r.fail(r.Offset(), reason) }

// FailAt records a failure of the value that starts at offset, an earlier result of [Reader.Offset].
func (r *Reader) FailAt(offset int, reason string) { r.fail(offset, reason) }

// Reread reads src, which is what the value at offset stands for.
func (r *Reader) Reread(offset int, src []byte, read func(*Reader)) {
	var in Reader
	in.Reset(src)
	read(&in)
	if err := in.Done(); err != nil {
		r.FailAt(offset, err.Error())
	}
}

// fail records the first failure, with the pointer of the value at or around offset, and moves to the end.
func (r *Reader) fail(offset int, reason string) {
	if r.err == nil {
		r.err = &Error{Pointer: pointerAt(r.src, offset), Reason: reason, Offset: offset}
	}
	r.pos = len(r.src)
}

// failMember is fail for the member name of the object around offset.
func (r *Reader) failMember(offset int, name, reason string) {
	if r.err == nil {
		r.err = &Error{Pointer: pointerAt(r.src, offset) + "/" + EscapePointer(name), Reason: reason, Offset: offset}
	}
	r.pos = len(r.src)
}

// expected records that the next value should have been what.
func (r *Reader) expected(what string) {
	if r.token() == 0 && r.pos >= len(r.src) {
		r.fail(r.pos, "unexpected end of input, expected "+what)
		return
	}
	r.fail(r.pos, "expected "+what)
}

// token skips whitespace and returns the byte at pos, or 0 at the end.
func (r *Reader) token() byte {
	if r.pos < len(r.src) && r.src[r.pos] > ' ' {
		return r.src[r.pos]
	}
	return r.tokenSlow()
}

func (r *Reader) tokenSlow() byte {
	for i := r.pos; i < len(r.src); i++ {
		switch c := r.src[i]; c {
		case ' ', '\t', '\n', '\r':
			r.spaced = true
		default:
			r.pos = i
			return c
		}
	}
	r.pos = len(r.src)
	return 0
}

// Kind returns the JSON type of the next value without reading it.
func (r *Reader) Kind() Kind {
	switch c := r.token(); c {
	case '"', '{', '[', 'n', 't':
		return Kind(c)
	case 'f':
		return KindBool
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return KindNumber
	}
	return KindNone
}

// Object enters an object and returns the name of its first member, unescaped. It is false for an empty object, which
// is then read completely, and when the next value is no object. The name may refer to the source.
func (r *Reader) Object() (key []byte, ok bool) {
	if !r.openObject() {
		return nil, false
	}
	return r.key()
}

// openObject is Object up to the name.
func (r *Reader) openObject() bool {
	if r.token() != '{' {
		r.expected("an object")
		return false
	}
	if !r.enter() {
		return false
	}
	if r.token() == '}' {
		r.pos++
		r.depth--
		return false
	}
	return true
}

// Next returns the name of the next member after the value of the one before was read or skipped. It is false at the
// end of the object.
func (r *Reader) Next() (key []byte, ok bool) {
	if !r.nextMember() {
		return nil, false
	}
	return r.key()
}

// nextMember is Next up to the name.
func (r *Reader) nextMember() bool {
	switch r.token() {
	case ',':
		r.pos++
		return true
	case '}':
		r.pos++
		r.depth--
		if r.keys.n != 0 {
			r.keys.forget(r.depth)
		}
		return false
	}
	r.expected("',' or '}'")
	return false
}

// Array enters an array. It is false for an empty array, which is then read completely, and when the next value is no array.
func (r *Reader) Array() bool {
	if r.token() != '[' {
		r.expected("an array")
		return false
	}
	if !r.enter() {
		return false
	}
	if r.token() == ']' {
		r.pos++
		r.depth--
		return false
	}
	return true
}

// Elem moves to the next element after the one before was read or skipped. It is false at the end of the array.
func (r *Reader) Elem() bool {
	switch r.token() {
	case ',':
		r.pos++
		return true
	case ']':
		r.pos++
		r.depth--
		return false
	}
	r.expected("',' or ']'")
	return false
}

// enter steps over an opening bracket.
func (r *Reader) enter() bool {
	if r.depth >= MaxDepth {
		r.fail(r.pos, "nested too deeply")
		return false
	}
	r.depth++
	r.pos++
	return true
}

// key reads a member name and its colon.
func (r *Reader) key() ([]byte, bool) {
	if r.token() != '"' {
		r.expected("a member name")
		return nil, false
	}
	key, escaped, ok := r.text()
	if !ok {
		return nil, false
	}
	if escaped {
		key = unescape(make([]byte, 0, len(key)), key)
	}
	if r.token() != ':' {
		r.expected("':'")
		return nil, false
	}
	r.pos++
	return key, true
}

// Null reads the next value if it is null.
func (r *Reader) Null() bool {
	if r.token() != 'n' {
		return false
	}
	return r.literal("null")
}

// literal reads the word w, whose first byte is at pos.
func (r *Reader) literal(w string) bool {
	if end := r.pos + len(w); end <= len(r.src) && string(r.src[r.pos:end]) == w {
		r.pos = end
		return true
	}
	r.fail(r.pos, "invalid literal")
	return false
}

// Skip reads and drops one value, as strictly as if it were wanted.
func (r *Reader) Skip() {
	switch c := r.token(); c {
	case '"':
		r.text()
	case '{':
		for key, ok := r.Object(); ok; key, ok = r.Next() {
			if r.addKey(key) {
				r.Skip()
			}
		}
	case '[':
		for ok := r.Array(); ok; ok = r.Elem() {
			r.Skip()
		}
	case 't':
		r.literal("true")
	case 'f':
		r.literal("false")
	case 'n':
		r.literal("null")
	default:
		if c != '-' && (c < '0' || c > '9') {
			r.expected("a value")
			return
		}
		r.number()
	}
}

// Raw reads one value strictly and returns its bytes, which refer to the source and may hold whitespace.
func (r *Reader) Raw() []byte {
	start := r.Offset()
	r.Skip()
	if r.err != nil {
		return nil
	}
	return r.src[start:r.pos:r.pos]
}

// Deferred returns the bytes of the next value, which refer to the source, by looking at its brackets and quotes only.
// It is for a value that a Reader of its own will read: nothing about it has been checked.
func (r *Reader) Deferred() []byte {
	start := r.Offset()
	end, depth := start, 0
	for over := false; !over && end < len(r.src); {
		switch r.src[end] {
		case '"':
			if end = quoted(r.src, end+1); end < 0 {
				r.fail(len(r.src), "unexpected end of input in a string")
				return nil
			}
			over = depth == 0
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if over = depth <= 1; depth == 0 { // the bracket is not of the value
				continue
			}
			depth--
		case ',', ' ', '\t', '\n', '\r':
			if over = depth == 0; over {
				continue
			}
		}
		end++
	}
	if depth > 0 {
		r.fail(len(r.src), "unexpected end of input")
	}
	if r.err != nil {
		return nil
	}
	if end == start {
		r.expected("a value")
		return nil
	}
	r.pos = end
	return r.src[start:end:end]
}

// quoted returns the index after the quote that closes the string whose content starts at i, or -1.
func quoted(src []byte, i int) int {
	for {
		n := bytes.IndexByte(src[i:], '"')
		if n < 0 {
			return -1
		}
		end := i + n
		slashes := 0
		for end-slashes > i && src[end-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end + 1
		}
		i = end + 1
	}
}

// Value reads any value, null included, into memory of its own, without whitespace between tokens.
func (r *Reader) Value() Value {
	start := r.Offset()
	r.spaced = false
	r.Skip()
	if r.err != nil {
		return nil
	}
	raw := r.src[start:r.pos]
	room := r.room(len(raw))
	if r.spaced {
		room = compact(room, raw)
	} else {
		room = append(room, raw...)
	}
	r.share(len(raw), room)
	return Value(room[:len(room):len(room)])
}

// Struct reads an object as it is, without whitespace between tokens.
func (r *Reader) Struct() Object {
	if r.token() != '{' {
		r.expected("an object")
		return nil
	}
	return Object(r.Value())
}

// compact appends raw, which is valid JSON, without whitespace between tokens.
func compact(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
		case '"':
			end := quoted(raw, i+1)
			dst = append(dst, raw[i:end]...)
			i = end
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst
}

// Seen is which members of one object were met: up to 64, each a bit. Types with more members use several.
type Seen struct{ names, values uint64 }

// Has reports whether the member of the given bit was met with a value.
func (s *Seen) Has(bit uint) bool { return s.values>>bit&1 != 0 }

// Field notes the known member of the given bit, whose name was just read. It reports whether there is a value to
// read: null is read by Field and means absent. A member met twice, by whatever name, is a failure.
func (r *Reader) Field(s *Seen, bit uint) bool {
	if r.token() == 'n' {
		r.once(s, bit)
		r.literal("null")
		return false
	}
	return r.fieldOrNull(s, bit)
}

// fieldOrNull is Field for a member whose type has null as a value.
func (r *Reader) fieldOrNull(s *Seen, bit uint) bool {
	if !r.once(s, bit) {
		return false
	}
	s.values |= 1 << bit
	return true
}

// fieldOrEmpty is Field for a required list or map that may be empty: null then counts as given, because the official Go
// server writes an empty list so.
func (r *Reader) fieldOrEmpty(s *Seen, bit uint) bool {
	if r.token() == 'n' {
		r.once(s, bit)
		s.values |= 1 << bit
		r.literal("null")
		return false
	}
	return r.fieldOrNull(s, bit)
}

func (r *Reader) once(s *Seen, bit uint) bool {
	if s.names>>bit&1 != 0 {
		r.fail(r.pos, "member given more than once")
		return false
	}
	s.names |= 1 << bit
	return r.err == nil
}

// minItems records a failure of the list that starts at offset if it has fewer than least elements.
func (r *Reader) minItems(offset, n, least int) {
	if n < least {
		r.fail(offset, tooFew(least))
	}
}

// entry notes the name of a map's entry and reports whether there is a value to read: a name may come once, and null is
// no value here.
func (r *Reader) entry(name []byte) bool {
	if r.entryOrNull(name) && r.token() == 'n' {
		r.fail(r.pos, "null in a map")
	}
	return r.err == nil
}

// entryOrNull is Entry for a map whose values may be null.
func (r *Reader) entryOrNull(name []byte) bool { return r.addKey(name) }

// BlockSize is how many messages to allocate at once for a list that has n already: one for short lists, then more.
func BlockSize(n int) int { return min(max(n, 1), 16) }

// Only reports whether a oneof is still free, and otherwise records that the next value is a second member of it.
func (r *Reader) Only(free bool) bool {
	if !free {
		r.fail(r.Offset(), "only one of the alternatives may be given")
	}
	return free
}

// NoCase records that the object that was just read to its end has none of the alternatives of a oneof.
func (r *Reader) NoCase(names ...string) {
	if r.err == nil {
		r.fail(r.pos-1, noCase(names))
	}
}

// Unknown reads and drops the value of a member that the caller does not know, refusing a repeated name.
func (r *Reader) Unknown(key []byte) {
	if r.addKey(key) {
		r.Skip()
	}
}

// Extra collects the unknown members of an object that ends in a oneof, because one of them may be a case that this
// side does not know yet.
type Extra struct {
	name  string
	value Value
	n     int
}

// UnknownCase is Unknown for such an object. A member that is null counts as absent.
func (r *Reader) UnknownCase(key []byte, x *Extra) {
	switch {
	case !r.addKey(key) || r.Null():
	case x.n > 0:
		x.n++
		r.Skip()
	default:
		x.n++
		x.name, x.value = string(key), r.Value()
	}
}

// Case returns the single unknown member, if there was exactly one.
func (x *Extra) Case() (name string, value Value, ok bool) { return x.name, x.value, x.n == 1 }

// Mark is a place to come back to.
type Mark struct{ pos, depth, keys int }

// Mark returns the present place, which is before a value.
func (r *Reader) Mark() Mark { return Mark{pos: r.pos, depth: r.depth, keys: r.keys.n} }

// Rewind goes back to m and forgets any failure since. It is for choosing among alternatives.
func (r *Reader) Rewind(m Mark) {
	r.pos, r.depth, r.err = m.pos, m.depth, nil
	r.keys.keep(m.keys, m.depth-1)
}
