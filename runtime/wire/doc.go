// Package wire reads and writes the JSON of agents: a strict one-pass reader, appending writers and raw values.
// Package proto does the same for protobuf, for codecs that speak it. It is for generated code; users meet its raw
// values.
//
// Reading is strict about JSON (RFC 8259: one value, valid UTF-8, no lone surrogates, no repeated member at any level,
// nesting of at most [MaxDepth]) and tolerant about its meaning (ProtoJSON: numbers as strings, either base64 alphabet,
// any time offset, null for absent). Writing is compact, escapes as little as JSON allows, and never puts a line break
// into a document, so that a document is always one line of an event stream.
//
// A generated codec is a table, a [Codec]: one row a member, by which messages are read and written. What a [Reader] fails at is
// sticky, so that nothing has to be looked at before the end.
package wire
