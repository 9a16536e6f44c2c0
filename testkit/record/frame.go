package record

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"
)

// Format is the version of the format of recordings.
const Format = 1

// Types of frames.
const (
	typeRecording = "recording" // the first one
	typeRequest   = "request"
	typeResponse  = "response" // the head of an answer, and its body unless that is a stream
	typeEvent     = "event"    // of a stream
	typeEnd       = "end"      // of a stream, or of an exchange that did not end well
)

// Ways in which an exchange ended, other than well.
const (
	endUnreached = "unreached" // there was no connection
	endCut       = "cut"       // the connection broke
	endLeft      = "left"      // the client closed it
)

// frame is one line of a recording.
type frame struct {
	Type string `json:"type"`

	// Of the recording.
	Format   int    `json:"format,omitempty"`
	Protocol string `json:"protocol,omitempty"` // version of the first call
	Binding  string `json:"binding,omitempty"`  // of the first call
	Tool     string `json:"tool,omitempty"`

	N int `json:"n,omitempty"` // of the exchange, from 1 in the order of the requests

	// Of a request.
	Method    string `json:"method,omitempty"`
	Path      string `json:"path,omitempty"`  // as in the URL, escaped
	Query     string `json:"query,omitempty"` // sorted
	Operation string `json:"operation,omitempty"`

	Status int               `json:"status,omitempty"` // of a response
	Header map[string]string `json:"header,omitempty"` // those that matter

	// Of an event.
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Retry int64  `json:"retry,omitempty"` // in milliseconds
	// Unfinished: the stream ended well before the event did.
	Unfinished bool `json:"unfinished,omitempty"`

	How string `json:"how,omitempty"` // of an end

	content
}

// content is a body, or the data of an event: JSON, another text, or bytes.
type content struct {
	Body  any    `json:"body,omitempty"`
	Text  string `json:"text,omitempty"`
	Bytes []byte `json:"bytes,omitempty"`
}

// contentOf reads bytes as what they are.
func contentOf(src []byte) content {
	if v, err := decode(src); err == nil && v != nil {
		return content{Body: v}
	}
	if utf8.Valid(src) {
		return content{Text: string(src)}
	}
	return content{Bytes: src}
}

// encoded is what the content stands for.
func (c content) encoded() []byte {
	switch {
	case c.Body != nil:
		return encode(c.Body)
	case c.Text != "":
		return []byte(c.Text)
	}
	return c.Bytes
}

// decode reads one JSON value. Numbers stay as they are written.
func decode(src []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errMore
	}
	return v, nil
}

// encode writes a value in one line, the members of objects sorted by their names.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // only of a type that is never in a frame
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// object is the members of an object; nil for what is none.
func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// isRPC reports whether a body is the envelope of JSON-RPC.
func isRPC(body any) bool {
	_, ok := object(body)["jsonrpc"]
	return ok
}

// isCard reports whether a request fetches an agent card.
func isCard(method, path string) bool {
	return method == http.MethodGet && strings.HasSuffix(path, ".json")
}
