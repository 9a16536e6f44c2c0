package proto

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/a2agen/a2agen/runtime/wire"
)

// Reader reads one protobuf message in one pass. Its error is sticky, as that of [wire.Reader]: after the first failure
// every loop ends and every method returns zero values. Set it up with Reset; it is meant to live on the stack. What the
// value methods return never refers to the source.
//
// What reads a message loops over Tag, reads the fields it knows by tag (number<<3 | wire type) and skips the rest.
type Reader struct {
	src []byte
	pos int
	// end is where the message being read ends.
	end   int
	depth int
	// group is the tag that began the group being read, 0 outside of one.
	group uint32
	err   *wire.Error
	// incomplete counts the messages in which something required was missing when they were read.
	incomplete int
	messages   int    // that were entered
	merged     int    // bytes of raw JSON that were read again to be merged
	slab       []byte // as the slab of a wire.Reader
	scratch    []byte
	entries    []structEntry // of the Structs being read, innermost last
	used       bool          // there were some since Reset
}

// Reset makes r read src, which it refers to until it is reset again and never changes. It keeps a little memory for JSON.
func (r *Reader) Reset(src []byte) {
	scratch, entries := r.scratch, r.entries
	switch {
	case cap(scratch) > maxScratch || cap(entries) > manyMembers:
		scratch, entries = nil, nil
	case r.used:
		clear(entries[:cap(entries)])
	}
	*r = Reader{src: src, end: len(src), scratch: scratch[:0], entries: entries[:0]}
}

// maxScratch is the largest memory for JSON that is kept for the next document, in bytes.
const maxScratch = 8 << 10

// Done returns the first failure as an [*wire.Error], or nil.
func (r *Reader) Done() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// In puts a failure one level deeper, under the member name.
func (r *Reader) In(name string) {
	if r.err != nil && name != "" {
		r.err = wire.In(r.err, name).(*wire.Error)
	}
}

// Incomplete notes that something required is missing. Because a later piece of the same message may bring it, this is
// no failure: after everything is read, Complete reports whether what was missing has to be checked again.
func (r *Reader) Incomplete() {
	if r.incomplete++; r.incomplete > maxIncomplete {
		r.fail("required members are missing in many places")
	}
}

// Complete reports whether nothing required was ever missing, or the reading failed anyway.
func (r *Reader) Complete() bool { return r.incomplete == 0 || r.err != nil }

// fail records the first failure and ends all loops.
func (r *Reader) fail(reason string) {
	if r.err == nil {
		r.err = &wire.Error{Reason: reason, Offset: r.pos}
	}
	r.pos, r.end = len(r.src), 0
}

// An empty message takes two bytes on the wire and a hundred in memory. These limits keep that in bounds.
const (
	maxIncomplete = 100
	maxMessages   = 1 << 20
)

const cutShort = "unexpected end of the message"

// Tag reads the tag of the next field; it is 0 at the end of the message.
func (r *Reader) Tag() uint32 {
	if r.pos >= r.end {
		return 0
	}
	if c := r.src[r.pos]; c >= 1<<3 && c < 0x80 {
		r.pos++
		return uint32(c)
	}
	tag := r.varint()
	if r.err == nil && (tag < 1<<3 || tag > math.MaxUint32) {
		r.fail("invalid field number")
	}
	if r.err != nil {
		return 0
	}
	return uint32(tag)
}

func (r *Reader) varint() uint64 {
	if r.pos < r.end && r.src[r.pos] < 0x80 {
		r.pos++
		return uint64(r.src[r.pos-1])
	}
	return r.varintSlow()
}

func (r *Reader) varintSlow() uint64 {
	if r.pos >= r.end {
		r.fail(cutShort)
		return 0
	}
	x, n := binary.Uvarint(r.src[r.pos:r.end])
	if n <= 0 {
		if n < 0 {
			r.fail("integer of more than 64 bits")
		} else {
			r.fail(cutShort)
		}
		return 0
	}
	r.pos += n
	return x
}

// next returns the next n bytes, which refer to the source.
func (r *Reader) next(n uint64) []byte {
	if r.err != nil || n > uint64(r.end-r.pos) {
		r.fail(cutShort)
		return nil
	}
	start := r.pos
	r.pos += int(n)
	return r.src[start:r.pos:r.pos]
}

// delimited returns the bytes of a string, of bytes or of a message, which refer to the source.
func (r *Reader) delimited() []byte { return r.next(r.varint()) }

// mark is what Enter leaves behind.
type mark struct {
	end, depth int
	group      uint32
}

// Enter enters the message, or packed list, whose length is next. levels is how many objects and arrays JSON nests there:
// both wires have the limit [wire.MaxDepth], so that what one can read the other can write.
func (r *Reader) Enter(levels int) mark {
	m := mark{end: r.end, depth: r.depth, group: r.group}
	n := r.varint()
	switch {
	case r.err != nil:
	case n > uint64(r.end-r.pos):
		r.fail(cutShort)
	case r.depth+levels >= wire.MaxDepth:
		r.fail("nested too deeply")
	case r.messages >= maxMessages:
		r.fail("too many messages in one")
	default:
		r.messages++
		r.depth += levels
		r.end = r.pos + int(n)
		r.group = 0
	}
	return m
}

// EnterGroup is Enter for a message that is a group: it ends with the tag behind the one that began it.
func (r *Reader) EnterGroup(tag uint32, levels int) mark {
	m := mark{end: r.end, depth: r.depth, group: r.group}
	switch {
	case r.err != nil:
	case r.depth+levels >= wire.MaxDepth:
		r.fail("nested too deeply")
	case r.messages >= maxMessages:
		r.fail("too many messages in one")
	default:
		r.messages++
		r.depth += levels
		r.group = tag
	}
	return m
}

// Leave goes back to the message around the one that was entered.
func (r *Reader) Leave(m mark) {
	if r.group != 0 && r.err == nil {
		r.fail(cutShort) // no tag ended the group
	}
	if r.err == nil {
		r.end, r.depth, r.group = m.end, m.depth, m.group
	}
}

// Group calls read for a message of google's that is written as a group: read finds it with a length, as it expects it.
func (r *Reader) Group(tag uint32, read func()) {
	start := r.pos
	end := r.skipGroup(tag)
	if r.err != nil {
		return
	}
	content := r.src[start:end]
	frame := r.open(append(binary.AppendUvarint(nil, uint64(len(content))), content...))
	read()
	r.close(frame)
}

// elem puts a failure of the list's element i under its index.
func (r *Reader) elem(i int) {
	if r.err != nil {
		r.inElem(i)
	}
}

func (r *Reader) inElem(i int) { r.In(strconv.Itoa(i)) }

// Skip reads and drops a field that the caller does not know.
func (r *Reader) Skip(tag uint32) {
	switch tag & 7 {
	case 0:
		r.varint()
	case 1:
		r.next(8)
	case 2:
		r.delimited()
	case groupType:
		r.skipGroup(tag)
	case groupType + 1:
		if r.group == 0 || tag != r.group+1 {
			r.fail("the end of a group that did not begin")
			return
		}
		r.group, r.end = 0, r.pos
	case 5:
		r.next(4)
	default:
		r.fail("invalid wire type")
	}
}

// skipGroup drops everything up to the end of the group that tag began, and returns where the tag that ends it is.
func (r *Reader) skipGroup(tag uint32) (end int) {
	if r.depth++; r.depth >= wire.MaxDepth {
		r.fail("nested too deeply")
		return 0
	}
	for {
		end = r.pos
		inner := r.Tag()
		switch {
		case r.err != nil:
			return 0
		case inner == 0:
			r.fail(cutShort)
			return 0
		case inner == tag+1: // the end of a group has the next wire type
			r.depth--
			return end
		}
		r.Skip(inner)
	}
}

// Extra collects the unknown fields of a message with one oneof, because one of them may be a case that this side
// does not know yet.
type Extra struct {
	tag     uint32
	content []byte
	n       int
}

// UnknownCase is Skip for such a message.
func (r *Reader) UnknownCase(tag uint32, x *Extra) {
	start := r.pos
	if r.Skip(tag); r.err != nil || tag&7 == groupType+1 {
		return
	}
	x.n++
	x.tag, x.content = tag, r.src[start:r.pos]
}

// Case returns the single unknown field, if there was exactly one: its number in decimal, and the field with its tag as
// base64, so that [Writer.Unknown] can write it again.
func (x *Extra) Case() (name string, v wire.Value, ok bool) {
	if x.n != 1 {
		return "", nil, false
	}
	field := append(binary.AppendUvarint(nil, uint64(x.tag)), x.content...)
	return strconv.FormatUint(uint64(x.tag>>3), 10), wire.Value(`"` + base64.StdEncoding.EncodeToString(field) + `"`), true
}

// Bool reads a bool.
func (r *Reader) Bool() bool { return r.varint() != 0 }

// Int32 reads an int32 or the number of an enum value; more than 32 bits are cut off, as protobuf says.
func (r *Reader) Int32() int32 { return int32(r.varint()) }

// Float64 reads a double.
func (r *Reader) Float64() float64 { return math.Float64frombits(r.fixed64()) }

func (r *Reader) fixed32() uint32 {
	if b := r.next(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *Reader) fixed64() uint64 {
	if b := r.next(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// String reads a string, which has to be UTF-8.
func (r *Reader) String() string {
	raw := r.delimited()
	if !isASCII(stringOf(raw)) && !utf8.Valid(raw) {
		r.fail("invalid UTF-8")
		return ""
	}
	return stringOf(r.keep(raw))
}

// Bytes reads bytes. They are not nil.
func (r *Reader) Bytes() []byte {
	raw := r.delimited()
	return append(make([]byte, 0, len(raw)), raw...)
}

// Timestamp reads a google.protobuf.Timestamp within the years 1 to 9999, in UTC. old is as in [Reader.Struct].
func (r *Reader) Timestamp(old time.Time) time.Time {
	var seconds, nanos int64
	if old != (time.Time{}) {
		seconds, nanos = old.Unix(), int64(old.Nanosecond())
	}
	r.pair(&seconds, &nanos)
	switch {
	case r.err != nil:
		return time.Time{}
	case seconds < minTimestamp || seconds > maxTimestamp || nanos < 0 || nanos >= 1e9:
		r.fail("not a time within the years 1 to 9999")
		return time.Time{}
	}
	return wire.Moment(time.Unix(seconds, nanos).UTC())
}

// pair reads a message whose fields 1 and 2 are varints, the second of 32 bits.
func (r *Reader) pair(first, second *int64) {
	m := r.Enter(0)
	for tag := r.Tag(); tag != 0; tag = r.Tag() {
		switch tag {
		case 1 << 3:
			*first = int64(r.varint())
		case 2 << 3:
			*second = int64(r.Int32())
		default:
			r.Skip(tag)
		}
	}
	r.Leave(m)
}

// Empty reads a google.protobuf.Empty.
func (r *Reader) Empty() wire.Object {
	m := r.Enter(1)
	for tag := r.Tag(); tag != 0; tag = r.Tag() {
		r.Skip(tag)
	}
	r.Leave(m)
	return wire.Object("{}")
}

// How strings share memory; see package wire.
const (
	slabSize  = 2048
	firstSlab = 256
	ownString = 192
)

// keep copies raw into memory that lives as long as the result, short ones into memory they share.
func (r *Reader) keep(raw []byte) []byte {
	n := len(raw)
	if n >= ownString {
		return append(make([]byte, 0, n), raw...)
	}
	if cap(r.slab)-len(r.slab) < n {
		r.slab = make([]byte, 0, min(max(firstSlab, 2*cap(r.slab)), slabSize))
	}
	start := len(r.slab)
	r.slab = append(r.slab, raw...)
	return r.slab[start:len(r.slab):len(r.slab)]
}
