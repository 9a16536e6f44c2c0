package sse

import (
	"bytes"
	"strconv"
	"strings"
)

// ContentType is the media type of an event stream.
const ContentType = "text/event-stream"

// IsContentType reports whether a Content-Type is that of an event stream.
func IsContentType(header string) bool {
	kind, _, _ := strings.Cut(header, ";")
	return strings.EqualFold(strings.TrimSpace(kind), ContentType)
}

// NumberedHeader is the header of a stream whose events are numbered: with the value [Numbered] each id is that of the
// event before it and 1, but that of a task as a whole, which may be any larger one. A reader sees by it that an event is
// missing, came twice, or came out of order.
const (
	NumberedHeader = "A2agen-Event-Ids"
	Numbered       = "consecutive"
)

// AppendEvent appends one event with the given id and data. An empty id writes no id field, so that the receiver's
// last event id stays as it was. Every line break in data (LF, CR or CRLF) starts a new data line and reaches the
// receiver as LF. An id that the format cannot carry (one with a line break or NUL) is left out.
func AppendEvent(dst []byte, id string, data []byte) []byte {
	if id != "" && carries(id) {
		dst = append(dst, "id: "...)
		dst = append(dst, id...)
		dst = append(dst, '\n')
	}
	return append(appendData(dst, data), '\n')
}

// BeginSeq appends what stands before the data of an event with the sequence number as its id; the caller then appends
// one line of data (compact JSON is one) and calls [End]. It saves a copy of the data.
func BeginSeq(dst []byte, seq uint64) []byte {
	dst = append(dst, "id: "...)
	dst = strconv.AppendUint(dst, seq, 10)
	return append(dst, "\ndata: "...)
}

// Begin is [BeginSeq] for an event without an id.
func Begin(dst []byte) []byte { return append(dst, "data: "...) }

// End ends the event that [Begin] or [BeginSeq] started.
func End(dst []byte) []byte { return append(dst, "\n\n"...) }

// AppendComment appends a comment, which receivers ignore: a heartbeat. Line breaks in text become further comments.
func AppendComment(dst []byte, text string) []byte {
	for {
		line, rest, more := cutLine([]byte(text))
		dst = append(dst, ':')
		if len(line) > 0 {
			dst = append(append(dst, ' '), line...)
		}
		dst = append(dst, '\n')
		if !more {
			return append(dst, '\n')
		}
		text = string(rest)
	}
}

func appendData(dst, data []byte) []byte {
	for {
		line, rest, more := cutLine(data)
		dst = append(dst, "data: "...)
		dst = append(dst, line...)
		dst = append(dst, '\n')
		if !more {
			return dst
		}
		data = rest
	}
}

// cutLine splits b at its first line break.
func cutLine(b []byte) (line, rest []byte, more bool) {
	i := bytes.IndexByte(b, '\n')
	upTo := b
	if i >= 0 {
		upTo = b[:i]
	}
	if j := bytes.IndexByte(upTo, '\r'); j >= 0 {
		i = j
	}
	if i < 0 {
		return b, nil, false
	}
	if b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n' {
		return b[:i], b[i+2:], true
	}
	return b[:i], b[i+1:], true
}

// carries reports whether an id field can hold id.
func carries(id string) bool {
	for i := range len(id) {
		if id[i] == '\n' || id[i] == '\r' || id[i] == 0 {
			return false
		}
	}
	return true
}
