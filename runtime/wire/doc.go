// Package wire reads and writes the JSON of agents: a strict one-pass reader, appending writers and raw values.
// [ProtoReader] and [ProtoWriter] do the same for protobuf, for codecs that speak it.
//
// Reading is strict about JSON (RFC 8259: one value, valid UTF-8, no lone surrogates, no repeated member at any level,
// nesting of at most [MaxDepth]) and tolerant about its meaning (ProtoJSON: numbers as strings, either base64 alphabet,
// any time offset, null for absent). Writing is compact, escapes as little as JSON allows, and never puts a line break
// into a document, so that a document is always one line of an event stream.
//
// Generated codecs are thin loops over a [Reader] with a sticky error:
//
//	func readPoint(r *wire.Reader, x *Point) {
//		var seen wire.Seen
//		for key, ok := r.Object(); ok; key, ok = r.Next() {
//			switch string(key) {
//			case "x":
//				if r.Field(&seen, 0) {
//					x.X = r.Int32()
//				}
//			default:
//				r.Unknown(key)
//			}
//		}
//		r.Require(&seen, 1<<0, pointNames[:])
//	}
//
//	func appendPoint(b []byte, x *Point) ([]byte, error) {
//		start := len(b)
//		b = wire.AppendInt32(append(b, `,"x":`...), x.X) // EndObject turns the first comma into the brace
//		return wire.EndObject(b, start), nil
//	}
package wire
