package proto

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/a2agen/a2agen/runtime/wire"
)

// Writer appends protobuf messages in one pass. The length of a message stands before its content and takes one to
// five bytes: one is left free, and where that is too little the rest of the document is moved once, by [Writer.Done].
// Long strings and bytes are not copied before that. Methods that take a tag (number<<3 | wire type) write no tag for 0,
// which is how elements of a packed list are written. Set it up with Reset; it is meant to live on the stack.
//
// A [Codec] writes the fields that are not members of a oneof by number, then the oneofs in order of declaration, which is
// the deterministic order of google.golang.org/protobuf.
type Writer struct {
	b []byte
	// extra is how many bytes the patches add to b.
	extra int
	// The patches, in order of position. The first few live with the writer, which spares most documents an allocation.
	n     int
	first [12]patch
	more  []patch
	// members are those of the JSON objects being written, innermost last.
	members []member
	used    bool // there were some since Reset
}

// patch is something still to be put into the document: a length that needs more than the byte at pos, or a string
// that belongs before pos.
type patch struct {
	pos  int
	size int // the length; of an open message, extra at its start
	blob string
}

const (
	// longString is the length from which copying a string late is cheaper than moving it.
	longString = 1024
	// maxDocument is the largest message that protobuf has, in bytes.
	maxDocument = math.MaxInt32
)

// Reset makes w append to b. It forgets what it has written, but keeps a little memory for more.
func (w *Writer) Reset(b []byte) {
	clear(w.first[:min(w.n, len(w.first))])
	w.b, w.extra, w.n, w.more = b, 0, 0, nil
	if w.used {
		clear(w.members[:cap(w.members)])
		w.members, w.used = w.members[:0], false
	}
	if cap(w.members) > manyMembers {
		w.members = nil
	}
}

// Done returns what Reset was given with everything appended. w then has to be reset.
func (w *Writer) Done() ([]byte, error) {
	if w.extra == 0 {
		return w.b, nil
	}
	end := len(w.b)
	if end+w.extra > maxDocument {
		return w.b, &wire.Error{Reason: "larger than protobuf allows"}
	}
	b := slices.Grow(w.b, w.extra)[:end+w.extra]
	to := len(b)
	for i := w.n - 1; i >= 0; i-- {
		p := w.at(i)
		if p.blob != "" {
			to -= copy(b[to-(end-p.pos):to], b[p.pos:end])
			to -= copy(b[to-len(p.blob):to], p.blob)
		} else {
			to -= copy(b[to-(end-p.pos-1):to], b[p.pos+1:end])
			to -= varintSize(uint64(p.size))
			binary.PutUvarint(b[to:], uint64(p.size))
		}
		end = p.pos
	}
	w.b = b
	return b, nil
}

func (w *Writer) at(i int) *patch {
	if i < len(w.first) {
		return &w.first[i]
	}
	return &w.more[i-len(w.first)]
}

func (w *Writer) push(p patch) {
	switch {
	case w.n < len(w.first):
		w.first[w.n] = p
	case w.more == nil:
		w.more = append(make([]patch, 0, 4*len(w.first)), p)
	default:
		w.more = append(w.more[:w.n-len(w.first)], p)
	}
	w.n++
}

// groupType is the wire type of a tag that begins a group; the one of the tag that ends it is the next.
const groupType = 3

// Begin begins a message, or a packed list, and returns what End has to be given. A message with the tag of a group is one: it has no length.
func (w *Writer) Begin(tag uint32) int {
	if tag&7 == groupType {
		w.tag(tag)
		return -int(tag >> 3)
	}
	if isByte(tag) {
		w.b = append(w.b, byte(tag), 0)
	} else {
		w.tag(tag)
		w.b = append(w.b, 0)
	}
	if w.n < len(w.first) {
		p := &w.first[w.n] // which has no blob
		p.pos, p.size = len(w.b)-1, w.extra
		w.n++
	} else {
		w.push(patch{pos: len(w.b) - 1, size: w.extra})
	}
	return w.n - 1
}

// End ends the message that Begin began.
func (w *Writer) End(begun int) {
	if begun < 0 {
		w.tag(uint32(-begun)<<3 | (groupType + 1))
		return
	}
	p := w.at(begun)
	size := len(w.b) - p.pos - 1 + w.extra - p.size
	if size < 0x80 {
		w.b[p.pos] = byte(size)
		w.n = begun // a short message has no long one in it
		return
	}
	p.size = size
	w.extra += varintSize(uint64(size)) - 1
}

// varintSize is the number of bytes of x as a varint.
func varintSize(x uint64) int { return (bits.Len64(x|1) + 6) / 7 }

func (w *Writer) tag(tag uint32) {
	switch {
	case tag == 0:
	case tag < 0x80:
		w.b = append(w.b, byte(tag))
	default:
		w.b = binary.AppendUvarint(w.b, uint64(tag))
	}
}

// isByte reports whether there is a tag, of one byte.
func isByte(tag uint32) bool { return tag-1 < 0x7f }

func (w *Writer) varint(tag uint32, x uint64) {
	w.tag(tag)
	if x < 0x80 {
		w.b = append(w.b, byte(x))
		return
	}
	w.b = binary.AppendUvarint(w.b, x)
}

// Bool writes a bool.
func (w *Writer) Bool(tag uint32, x bool) {
	if x {
		w.varint(tag, 1)
	} else {
		w.varint(tag, 0)
	}
}

// Int32 writes an int32 or the number of an enum value; a negative one takes ten bytes.
func (w *Writer) Int32(tag uint32, x int32) { w.varint(tag, uint64(int64(x))) }

// Int64 writes an int64.
func (w *Writer) Int64(tag uint32, x int64) { w.varint(tag, uint64(x)) }

// Float64 writes a double.
func (w *Writer) Float64(tag uint32, x float64) { w.fixed64(tag, math.Float64bits(x)) }

func (w *Writer) fixed32(tag, x uint32) {
	w.tag(tag)
	w.b = binary.LittleEndian.AppendUint32(w.b, x)
}

func (w *Writer) fixed64(tag uint32, x uint64) {
	w.tag(tag)
	w.b = binary.LittleEndian.AppendUint64(w.b, x)
}

// String writes a string. Bytes that are not UTF-8 become U+FFFD, as they do in JSON.
func (w *Writer) String(tag uint32, s string) {
	if !isASCII(s) && !utf8.ValidString(s) {
		s = string([]rune(s)) // each such byte reads as U+FFFD
	}
	if o, n := len(w.b), len(s); isByte(tag) && n < 0x80 && cap(w.b)-o >= n+2 { // a byte each for tag and length
		w.b = w.b[:o+2+n]
		w.b[o], w.b[o+1] = byte(tag), byte(n)
		copy(w.b[o+2:], s)
		return
	}
	w.delimited(tag, s)
}

// isASCII reports whether a short string has nothing but ASCII, as most ids and names do. It looks at the last eight bytes
// first, so that there is no rest.
func isASCII(s string) bool {
	const short, highs = 64, 0x8080808080808080
	n := len(s)
	if n < 8 || n > short {
		return false
	}
	b := unsafe.Slice(unsafe.StringData(s), n)
	x := binary.LittleEndian.Uint64(b[n-8:])
	for i := 0; i < n-8; i += 8 {
		x |= binary.LittleEndian.Uint64(b[i:])
	}
	return x&highs == 0
}

// Bytes writes bytes. They must not change before Done.
func (w *Writer) Bytes(tag uint32, x []byte) { w.delimited(tag, stringOf(x)) }

func (w *Writer) delimited(tag uint32, s string) {
	w.tag(tag)
	w.b = binary.AppendUvarint(w.b, uint64(len(s)))
	if len(s) < longString {
		w.b = append(w.b, s...)
		return
	}
	w.push(patch{pos: len(w.b), blob: s})
	w.extra += len(s)
}

// pair writes a message whose fields 1 and 2 are varints, as Timestamp and Duration are.
func (w *Writer) pair(tag uint32, seconds, nanos int64) {
	m := w.Begin(tag)
	if seconds != 0 {
		w.varint(1<<3, uint64(seconds))
	}
	if nanos != 0 {
		w.varint(2<<3, uint64(nanos))
	}
	w.End(m)
}

// Timestamp writes a google.protobuf.Timestamp. A year outside 1 to 9999 is an error.
func (w *Writer) Timestamp(tag uint32, t time.Time) error {
	seconds := t.Unix()
	if seconds < minTimestamp || seconds > maxTimestamp {
		return &wire.Error{Reason: "year outside 1 to 9999"}
	}
	w.pair(tag, seconds, int64(t.Nanosecond()))
	return nil
}

// The seconds of the first moment of year 1 and the last of year 9999, since 1970.
const (
	minTimestamp = -62135596800
	maxTimestamp = 253402300799
)

// Empty writes a google.protobuf.Empty, which has no room for members.
func (w *Writer) Empty(tag uint32, o wire.Object) error {
	if len(o) > 0 {
		var r wire.Reader
		r.Reset(o)
		if key, ok := r.Object(); ok {
			return wire.In(&wire.Error{Reason: "protobuf cannot say it here"}, string(key))
		}
		if err := r.Done(); err != nil {
			return err
		}
	}
	w.End(w.Begin(tag))
	return nil
}

// Unknown writes the alternative of a oneof that this side does not know. Only one that [Reader.UnknownCase] kept can
// travel; another is an error.
func (w *Writer) Unknown(name string, v wire.Value) error {
	cannot := wire.In(&wire.Error{Reason: "this alternative has no number in protobuf"}, name)
	number, ok := wire.EnumNumber(name)
	if !ok || v.Kind() != wire.KindString {
		return cannot
	}
	field, err := base64.StdEncoding.DecodeString(strings.Trim(string(v), `"`))
	if err != nil {
		return cannot
	}
	var r Reader
	r.Reset(field)
	tag := r.Tag()
	if r.Skip(tag); r.err != nil || r.pos != len(field) || tag>>3 != uint32(number) || number <= 0 {
		return cannot
	}
	w.b = append(w.b, field...)
	return nil
}
