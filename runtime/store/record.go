package store

import (
	"sync/atomic"

	"github.com/a2agen/a2agen/runtime"
)

// Record is one event in a task's log.
type Record struct {
	Seq     int64         // the version that the event made of the task
	event   runtime.Event // nil: to be decoded
	decode  func([]byte) (runtime.Event, error)
	encoded atomic.Pointer[encodings]
	sum     *atomic.Int64 // of the bytes encoded in the log; nil: they are not counted
	Kind    runtime.EventKind
	State   runtime.State // that the event made the task's; of a status update
	// Messages are those that came with the event, if the store has them in memory.
	Messages []runtime.Message
}

// Hold makes r, which is new, the record of an event in memory. The bytes that Encode keeps are added to sum.
func (r *Record) Hold(seq int64, e runtime.Event, messages []runtime.Message, sum *atomic.Int64) {
	info := e.EventInfo()
	r.Seq, r.Kind, r.State, r.Messages, r.sum = seq, info.Kind, info.State, messages, sum
	r.event = runtime.WithGeneration(e, seq)
}

// NewRecord makes a record of an event that a store keeps as bytes in the protocol version of index 0: a
// reader of that version needs no encoding. decode is called by Event, with newest, which is nil when
// the store has no such bytes.
func NewRecord(
	seq int64, kind runtime.EventKind, state runtime.State, newest []byte, decode func([]byte) (runtime.Event, error),
) *Record {
	r := &Record{Seq: seq, Kind: kind, State: state, decode: decode}
	if newest != nil {
		all := new(encodings)
		all[0].Store(&newest)
		r.encoded.Store(all)
	}
	return r
}

// Event returns the event, decoded when the store keeps bytes.
func (r *Record) Event() (runtime.Event, error) {
	if r.event != nil {
		return r.event, nil
	}
	return r.decode(r.Encoded(0))
}

// encodings are an event's bytes by coding.
type encodings [cachedCodings]atomic.Pointer[[]byte]

// cachedCodings is the number of codings whose bytes a record keeps: those of all versions of A2A,
// and one more.
const cachedCodings = 8

// Encode returns the bytes of the event in the coding of the given index, made by f and kept for all further readers. The caller must not change
// them. Two readers at once may both call f; one result is kept.
func (r *Record) Encode(coding int, f func(dst []byte, e runtime.Event) ([]byte, error)) ([]byte, error) {
	if b := r.Encoded(coding); b != nil {
		return b, nil
	}
	e, err := r.Event()
	if err != nil {
		return nil, err
	}
	b, err := f(nil, e)
	if err != nil || coding >= cachedCodings {
		return b, err
	}
	all := r.encoded.Load()
	for all == nil {
		r.encoded.CompareAndSwap(nil, new(encodings))
		all = r.encoded.Load()
	}
	if all == &unkept {
		return b, nil
	}
	if !all[coding].CompareAndSwap(nil, &b) {
		return *all[coding].Load(), nil
	}
	if r.sum != nil {
		r.sum.Add(int64(len(b)))
	}
	return b, nil
}

// Encoded returns the bytes that Encode kept, nil when there are none.
func (r *Record) Encoded(coding int) []byte {
	all := r.encoded.Load()
	if all == nil || coding >= cachedCodings {
		return nil
	}
	if b := all[coding].Load(); b != nil {
		return *b
	}
	return nil
}

// unkept marks a record that keeps no bytes any more, because only slow readers still have it.
var unkept encodings

// Forget drops the bytes that Encode kept. With forGood no bytes are kept any more.
func (r *Record) Forget(forGood bool) {
	var after *encodings
	if forGood {
		after = &unkept
	}
	all := r.encoded.Swap(after)
	if all == nil {
		return
	}
	for i := range all {
		if b := all[i].Load(); b != nil {
			r.sum.Add(-int64(len(*b)))
		}
	}
}
