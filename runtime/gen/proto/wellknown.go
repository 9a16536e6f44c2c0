package proto

import "github.com/a2agen/a2agen/runtime/wire"

// ListValue writes a raw JSON array as a google.protobuf.ListValue, with the losses of [Writer.Struct]; an empty one if it is not set.
func (w *Writer) ListValue(tag uint32, v wire.Value) error {
	m := w.Begin(tag)
	if len(v) > 0 {
		var r wire.Reader
		r.Reset(v)
		if r.Kind() != wire.KindArray {
			return &wire.Error{Reason: "not an array"}
		}
		w.jsonList(&r)
		if err := r.Done(); err != nil {
			return err
		}
	}
	w.End(m)
	return nil
}

// ListValue reads a google.protobuf.ListValue as a raw JSON array, as Struct does.
func (r *Reader) ListValue(old wire.Value) wire.Value {
	return wire.Value(r.json(old, (*Writer).jsonList, (*Reader).listOf))
}

// FieldMask writes a google.protobuf.FieldMask.
func (w *Writer) FieldMask(tag uint32, m wire.FieldMask) {
	begun := w.Begin(tag)
	for _, path := range m {
		w.String(oneTag, path)
	}
	w.End(begun)
}

// FieldMask reads a google.protobuf.FieldMask behind what an earlier piece of it gave. It is not nil.
func (r *Reader) FieldMask(old wire.FieldMask) wire.FieldMask {
	m := r.Enter(0)
	if old == nil {
		old = wire.FieldMask{}
	}
	for tag := r.Tag(); tag != 0; tag = r.Tag() {
		if tag == oneTag {
			old = append(old, r.String())
		} else {
			r.Skip(tag)
		}
	}
	r.Leave(m)
	return old
}

const notADuration = "not a duration within 10,000 years"

// Duration writes a google.protobuf.Duration.
func (w *Writer) Duration(tag uint32, d wire.Duration) error {
	if !d.Valid() {
		return &wire.Error{Reason: notADuration}
	}
	w.pair(tag, d.Seconds, int64(d.Nanos))
	return nil
}

// Duration reads a google.protobuf.Duration. old is as in [Reader.Struct].
func (r *Reader) Duration(old wire.Duration) wire.Duration {
	seconds, nanos := old.Seconds, int64(old.Nanos)
	r.pair(&seconds, &nanos)
	d := wire.Duration{Seconds: seconds, Nanos: int32(nanos)}
	if r.err == nil && !d.Valid() {
		r.fail(notADuration)
	}
	if r.err != nil {
		return wire.Duration{}
	}
	return d
}
