// Package desk is the agent that implementations of A2A serve to each other, and what a client has to get of it: one list of
// checks for every peer, version, binding and direction.
//
// The agent does what the first word of a message says:
//
//	hello     answers with a message, without a task
//	forecast  works and completes with an artifact
//	tell      streams a story of some lines as one artifact
//	book      asks for a day, and completes when it is told one
//	wait      works until it is canceled
//	echo      completes with an artifact of the message's parts
package desk

import (
	"encoding/json"
	"strings"
	"time"
)

// What the agent says, in whatever language it is written.
const (
	Name     = "Interop Desk"
	Skill    = "desk"
	Extended = "vip" // a skill that only the extended card has
	Greeting = "Good morning."
	Progress = "Looking at the map."
	Forecast = "Dry until ten, then \"showers\" – 11 °C."
	Question = "For which day?"
)

// File is the content of the file in the message to echo.
var File = []byte{0, 1, 2, 255}

// Lines are the chunks of the story.
var Lines = []string{"line 0\n", "line 1\n", "line 2\n", "line 3\n", "line 4\n"}

// Booked is what is in the artifact when the agent was told a day.
func Booked(day string) string { return "Booked for " + day + "." }

// Ask is what a client is to do, in no version's words. It is sent to clients of other languages as a line of JSON.
type Ask struct {
	Op      Op     `json:"op"`
	Parts   []Part `json:"parts,omitempty"`   // of the message
	Task    string `json:"task,omitempty"`    // its id
	Context string `json:"context,omitempty"` // its id
	Now     bool   `json:"now,omitempty"`     // do not wait for the end of the task
	Hook    *Hook  `json:"hook,omitempty"`
}

// Op is an operation.
type Op string

// The operations. Subscribe cancels the task a moment after it has subscribed, and ends with the stream: agents of 0.3 need
// not send an event before.
const (
	Card       Op = "card"
	Send       Op = "send"
	Stream     Op = "stream"
	Get        Op = "get"
	List       Op = "list"
	Cancel     Op = "cancel"
	Subscribe  Op = "subscribe"
	CreateHook Op = "create hook"
	GetHook    Op = "get hook"
	ListHooks  Op = "list hooks"
	DeleteHook Op = "delete hook"
	Extend     Op = "extended card"
)

// Answer is what came of it: one of its members, or none for a deleted hook.
type Answer struct {
	Skills  []string `json:"skills,omitempty"`  // of a card
	Message []Part   `json:"message,omitempty"` // of an agent that answers without a task
	Task    *Task    `json:"task,omitempty"`
	Tasks   []string `json:"tasks,omitempty"` // ids
	Events  []Event  `json:"events,omitempty"`
	Hooks   []Hook   `json:"hooks,omitempty"`
	Error   string   `json:"error,omitempty"` // its code or the name of its type, and what it says
	None    string   `json:"none,omitempty"`  // why the client has no such operation
}

// Task is what clients tell of a task. State is as the client writes it.
type Task struct {
	ID      string `json:"id"`
	Context string `json:"context"`
	State   string `json:"state"`
	Asks    string `json:"asks,omitempty"`  // text of the status
	Parts   []Part `json:"parts,omitempty"` // of all artifacts
}

// Event is one event of a stream: a message's or a chunk's text, or a task's state.
type Event struct {
	Kind  string `json:"kind"` // task, message, status or artifact
	State string `json:"state,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Part has one of Text, Data, Raw and URL.
type Part struct {
	Text string          `json:"text,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
	Raw  []byte          `json:"raw,omitempty"` // in base64
	URL  string          `json:"url,omitempty"`
	Name string          `json:"name,omitempty"`
	Type string          `json:"type,omitempty"` // of media
}

// Hook is a configuration of push notifications.
type Hook struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	Token string `json:"token"`
}

// Moment is when a task that is subscribed to is canceled.
const Moment = 300 * time.Millisecond

// Say is the parts of a message that is a text.
func Say(text string) []Part { return []Part{{Text: text}} }

// Text joins the texts of parts.
func Text(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// state is the same for all spellings of a state: TASK_STATE_INPUT_REQUIRED, input-required.
func state(s string) string {
	return strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(s), "task_state_"), "-", "_")
}
