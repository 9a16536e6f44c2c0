// Package wire reads and writes the JSON of agents: a strict one-pass reader, appending writers and raw values.
// Package proto does the same for protobuf, for codecs that speak it. It is for generated code; users meet its raw
// values.
//
// Reading is strict about JSON (RFC 8259: one value, valid UTF-8, no lone surrogates, no repeated member at any level,
// nesting of at most [MaxDepth]) and tolerant about its meaning (ProtoJSON: numbers as strings, either base64 alphabet,
// any time offset, null for absent). Writing is compact, escapes as little as JSON allows, and never puts a line break
// into a document, so that a document is always one line of an event stream.
//
// Generated codecs are tables of members over a [Reader] with a sticky error:
//
//	var fieldsPoint = wire.Fields[*Point]{
//		{Name: "x", Required: true, Read: func(r *wire.Reader, x *Point) { x.X = r.Int32() }},
//		{Name: "y", Required: true, Read: func(r *wire.Reader, x *Point) { x.Y = r.Int32() }},
//	}
//
//	func readPoint(r *wire.Reader, x *Point) { fieldsPoint.Read(r, x) }
//
//	func appendPoint(b []byte, x *Point) ([]byte, error) {
//		start := len(b)
//		b = wire.AppendInt32(append(b, `,"x":`...), x.X) // EndObject turns the first comma into the brace
//		return wire.EndObject(b, start), nil
//	}
package wire
