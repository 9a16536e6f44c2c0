package server

import (
	"bytes"
	"encoding/json"

	"github.com/a2agen/a2agen/runtime"
)

// envelope is a JSON-RPC 2.0 request, as slices of the body.
type envelope struct {
	id     []byte // byte for byte as it came (T54); nil: a notification
	method []byte // unquoted
	params []byte // one JSON value, not checked yet; nil: none
	bare   bool   // there is no jsonrpc member, which nothing but 0.1 allows
}

// readEnvelope reads the members of a request in one pass. What is inside params is only measured: its decoder checks it, so that nothing is
// looked at twice. On an error the id is there if it could be read.
func readEnvelope(body []byte) (envelope, *runtime.Error) {
	s := scanner{src: body}
	var e envelope
	switch s.next() {
	case '{':
	case '[':
		return e, runtime.ErrInvalidRequest.With("batches are not supported, send one request at a time")
	default:
		return e, malformed(body)
	}
	s.pos++
	var version, method []byte
	var twice bool
	take := func(to *[]byte) {
		value := s.value()
		twice = twice || *to != nil
		*to = value
	}
	for first := true; s.next() != '}'; first = false {
		if !first && !s.skip(',') {
			return e, malformed(body)
		}
		key := s.text()
		if key == nil || !s.skip(':') {
			return e, malformed(body)
		}
		switch string(key) {
		case `"jsonrpc"`:
			take(&version)
		case `"id"`:
			take(&e.id)
		case `"method"`:
			take(&method)
		case `"params"`:
			take(&e.params)
		default:
			s.value()
		}
		if s.failed {
			return e, malformed(body)
		}
	}
	s.pos++
	if s.next() != 0 || s.pos < len(s.src) {
		return e, malformed(body)
	}
	return e.checked(version, method, twice, body)
}

// checked applies the rules of JSON-RPC to the members.
func (e envelope) checked(version, method []byte, twice bool, body []byte) (envelope, *runtime.Error) {
	if e.id != nil && !validID(e.id) {
		e.id = nil
		if !json.Valid(body) {
			return e, malformed(body)
		}
		return e, runtime.ErrInvalidRequest.With("id must be a string, a number or null")
	}
	if len(method) > 2 && method[0] == '"' && bytes.IndexByte(method, '\\') < 0 {
		e.method = method[1 : len(method)-1]
	} else if name := ""; method != nil && json.Unmarshal(method, &name) == nil {
		e.method = []byte(name)
	}
	switch {
	case twice:
		return e, runtime.ErrInvalidRequest.With("a member is given more than once")
	case version != nil && string(version) != `"2.0"`:
		return e, runtime.ErrInvalidRequest.With(`jsonrpc must be "2.0"`)
	case len(e.method) == 0:
		return e, runtime.ErrInvalidRequest.With("method must be a string")
	case string(e.params) == "null":
		e.params = nil // some clients write null for "no parameters" (T66)
	case len(e.params) > 0 && e.params[0] != '{':
		return e, runtime.ErrInvalidParams.With("params must be an object")
	}
	e.bare = version == nil
	return e, nil
}

// validID reports whether raw is a JSON string, number or null.
func validID(raw []byte) bool {
	switch c := raw[0]; {
	case c == '"', c == '-', c >= '0' && c <= '9':
		return len(raw) <= maxID && json.Valid(raw)
	}
	return string(raw) == "null"
}

// maxID is the longest id that is echoed, in bytes: every event of a stream repeats it.
const maxID = 1024

// malformed tells JSON that does not parse from JSON that is no request.
func malformed(body []byte) *runtime.Error {
	if json.Valid(body) {
		return runtime.ErrInvalidRequest
	}
	return runtime.ErrParse
}

// scanner measures JSON values without looking into them more than it takes to find their end.
type scanner struct {
	src    []byte
	pos    int
	failed bool
}

// next skips white space and returns the byte there, 0 at the end.
func (s *scanner) next() byte {
	for ; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// skip steps over c.
func (s *scanner) skip(c byte) bool {
	if s.next() != c {
		return false
	}
	s.pos++
	return true
}

// text returns the string there with its quotes, nil if there is none.
func (s *scanner) text() []byte {
	if s.next() != '"' {
		s.failed = true
		return nil
	}
	start := s.pos
	s.pos = s.closing(start + 1)
	if s.failed {
		return nil
	}
	return s.src[start:s.pos]
}

// closing returns the position after the quote that ends the string whose content starts at i.
func (s *scanner) closing(i int) int {
	for {
		n := bytes.IndexByte(s.src[i:], '"')
		if n < 0 {
			s.failed = true
			return len(s.src)
		}
		i += n + 1
		slashes := 0
		for j := i - 2; j >= 0 && s.src[j] == '\\'; j-- {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

// value returns the value there, nil if there is none.
func (s *scanner) value() []byte {
	start := s.pos
	switch c := s.next(); c {
	case '"':
		return s.text()
	case '{', '[':
		start = s.pos
		s.nested()
	case 0, '}', ']', ',', ':':
		s.failed = true
	default:
		start = s.pos
		for s.pos < len(s.src) && !delimiter[s.src[s.pos]] {
			s.pos++
		}
	}
	if s.failed {
		return nil
	}
	return s.src[start:s.pos]
}

// nested steps over an object or array.
func (s *scanner) nested() {
	depth := 0
	for i := s.pos; i < len(s.src); {
		switch s.src[i] {
		case '"':
			i = s.closing(i + 1)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.pos = i + 1
				return
			}
		}
		i++
	}
	s.failed = true
}

// delimiter marks the bytes that end a number or literal.
var delimiter = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, ',': true, '}': true, ']': true, ':': true, '"': true, '{': true, '[': true}
