// Package traffic records what the callers of agents and the agents say to each other, within bounds, without secrets:
// requests, answers, and each event of a stream with its time and its very bytes.
package traffic

import (
	"encoding/json"
	"net/http"
	"time"
)

// State is how far an exchange is.
type State string

// The states.
const (
	Running State = "running"
	Done    State = "done"   // answered to the end
	Broken  State = "broken" // the answer broke off, or the caller left
)

// CallerLeft is the problem of an exchange whose caller did not wait for its end.
const CallerLeft = "the caller left"

// Summary is an exchange in a list.
type Summary struct {
	ID        int64     `json:"id"`    // from 1
	Agent     int       `json:"agent"` // its number
	Caller    string    `json:"caller"`
	Key       string    `json:"key,omitempty"` // by which the caller finds it: KeyHeader
	Begun     time.Time `json:"begun"`
	Method    string    `json:"method"` // of HTTP
	Path      string    `json:"path"`   // with its query
	Proto     string    `json:"proto"`  // "HTTP/1.1"
	Operation string    `json:"operation,omitempty"`
	Called    string    `json:"called,omitempty"`  // the operation as the caller named it: "message/send"
	Binding   string    `json:"binding,omitempty"` // as cards name it
	Version   string    `json:"version,omitempty"` // that the caller named
	Task      string    `json:"task,omitempty"`    // its id
	Context   string    `json:"context,omitempty"`
	Message   string    `json:"message,omitempty"` // its id, of the request
	Skill     string    `json:"skill,omitempty"`   // that the caller named
	State     State     `json:"state"`
	Status    int       `json:"status,omitempty"` // of HTTP; 0: none yet
	Outcome   string    `json:"outcome,omitempty"`
	FirstMS   float64   `json:"firstMs"` // until the head of the answer, in milliseconds
	TookMS    float64   `json:"tookMs"`  // until its end
	Sent      int64     `json:"sent"`    // bytes of the request's body
	Received  int64     `json:"received"`
	EventN    int       `json:"events"` // how many events of a stream came
	Resumed   int       `json:"resumed,omitempty"`
	Faults    string    `json:"faults,omitempty"`  // that hit it on purpose: "Delay(1s), CutAfter(3)"
	Problem   string    `json:"problem,omitempty"` // why it broke, or why not all of it is here
}

// Exchange is a request with its answer. What is in it is never changed.
type Exchange struct {
	Summary
	RequestHeader http.Header `json:"requestHeader"`
	Request       Body        `json:"request"`
	Header        http.Header `json:"header,omitempty"` // of the answer
	Trailer       http.Header `json:"trailer,omitempty"`
	Response      Body        `json:"response"` // of an answer that is no stream
	Events        []Event     `json:"eventList,omitempty"`
}

// Body is what was kept of a body. Bytes are as they came, apart from secrets.
type Body struct {
	Bytes []byte            `json:"bytes,omitempty"` // base64 in JSON
	Size  int64             `json:"size"`            // as it came
	Cut   bool              `json:"cut,omitempty"`   // not all of it was kept
	More  bool              `json:"more,omitempty"`  // Bytes are only the beginning of what is kept
	JSON  []json.RawMessage `json:"json,omitempty"`  // the messages of gRPC, where their definition is known
}

// Event is an event of a stream: a block of server-sent events, or a message of gRPC.
type Event struct {
	N     int             `json:"n"`            // from 1
	AtMS  float64         `json:"atMs"`         // after the request began
	ID    string          `json:"id,omitempty"` // of server-sent events
	Size  int             `json:"size"`         // bytes, as they came
	Bytes []byte          `json:"bytes,omitempty"`
	Cut   bool            `json:"cut,omitempty"`  // the bytes were not kept
	More  bool            `json:"more,omitempty"` // Bytes are only the beginning of what is kept
	JSON  json.RawMessage `json:"json,omitempty"` // of gRPC, where the definition is known
	Digest
}

// Change is what the live feed has of an event: it, without its bytes.
type Change struct {
	Call  int64 `json:"call"`
	Event Event `json:"event"`
}
