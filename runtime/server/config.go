// Package server runs an agent: it answers JSON-RPC and event streams over HTTP, serves the card, routes messages to skills and keeps their tasks.
//
// A generated NewServer fills a [Config]; [New] turns it into an [http.Handler]; [Main] hosts it as a process.
package server

import (
	"cmp"
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Config is what generated code hands over.
type Config struct {
	Protocol *runtime.Protocol
	Card     runtime.Card
	Skills   []Skill // in the card's order; ids are unique
	// Operations carry out operations that the runtime does not know ([runtime.RoleOther]), by JSON-RPC method name. One that is
	// not there answers UnsupportedOperation.
	Operations map[string]Operation
}

// Skill is one skill of the agent with its handler.
type Skill struct {
	ID, Name, Description string
	Tags, Examples        []string
	InputModes            []string // media types; empty: any
	OutputModes           []string // media types; empty: any
	// InputSchema and OutputSchema are self-contained JSON Schemas; "" for a skill that takes messages or answers text.
	InputSchema, OutputSchema string
	// TextField is the input property that plain text fills; "" when there is none.
	TextField string
	// Timeout bounds one call of the handler; 0 means [Limits.Timeout]. With one of its own a skill runs beside the request's goroutine, so that a
	// waiting client is answered in time by a handler that ignores its context, too.
	Timeout time.Duration
	// MaxConcurrent bounds the handlers running at once; further calls wait. 0 means no bound but [Limits.Running].
	MaxConcurrent int
	// Check decodes and validates an input without using it. An error is a *check.Error or *wire.Error. Nil without an input schema.
	Check func(input []byte) error
	// Run decodes and validates the input (nil without an input schema), calls [Task.Begin], then the handler, and encodes the output:
	// JSON with an output schema, else text, empty when the handler answered through t. Violations of the input are
	// wrapped by [InvalidInput].
	Run func(ctx context.Context, t *Task, input []byte) (output []byte, err error)
}

// Limits bound what a server takes on. A zero field means the default in brackets. How deep a request's JSON may nest is
// bounded too, by wire.MaxDepth.
type Limits struct {
	Body      int64         // request body in bytes [16 MiB]
	Bodies    int64         // all request bodies being received, in bytes; more are refused as busy [256 MiB]
	Answers   int64         // all large answers being written, in bytes; more wait for their turn [256 MiB]
	Page      int           // content of a page of tasks in bytes; it ends early, but has at least one task [8 MiB]
	Event     int           // content of one message or artifact chunk made by a handler, in bytes [16 MiB]
	Running   int           // handlers running or waiting for their turn; more sends are refused as busy [10,000]
	Streams   int           // open event streams [20,000]
	Timeout   time.Duration // one call of a handler [1 h]
	Heartbeat time.Duration // silence on a stream after which a comment is sent at the latest [15 s]
	Stall     time.Duration // a client that takes nothing of what is written for so long is dropped; large answers wait as long for room [30 s]
	Header    time.Duration // reading a request's header [10 s]
	Read      time.Duration // reading a request's body, and one second more for every 16 KiB of it that came [60 s]
	Idle      time.Duration // keep-alive of an unused connection [120 s]
	Grace     time.Duration // shutdown: how long handlers may finish before they are canceled [10 s]
}

func (l Limits) withDefaults() Limits {
	l.Body = cmp.Or(l.Body, 16<<20)
	l.Bodies = cmp.Or(l.Bodies, 256<<20)
	l.Answers = cmp.Or(l.Answers, 256<<20)
	l.Page = cmp.Or(l.Page, 8<<20)
	l.Event = cmp.Or(l.Event, 16<<20)
	l.Running = cmp.Or(l.Running, 10_000)
	l.Streams = cmp.Or(l.Streams, 20_000)
	l.Timeout = cmp.Or(l.Timeout, time.Hour)
	l.Heartbeat = cmp.Or(l.Heartbeat, 15*time.Second)
	l.Stall = cmp.Or(l.Stall, 30*time.Second)
	l.Header = cmp.Or(l.Header, 10*time.Second)
	l.Read = cmp.Or(l.Read, time.Minute)
	l.Idle = cmp.Or(l.Idle, 2*time.Minute)
	l.Grace = cmp.Or(l.Grace, 10*time.Second)
	return l
}
