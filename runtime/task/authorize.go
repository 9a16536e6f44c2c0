package task

import (
	"cmp"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// AuthRequest is an authorization that a handler needs.
type AuthRequest struct {
	Prompt string   // what is needed and why, for a person
	Scheme string   // by a name that the client knows, such as that of a security scheme; "" is not said
	Scopes []string // likewise
	// Visit makes of a handle the URL at which a person grants it: with OAuth, the handle is the state. Who grants it
	// leads to the handle's being redeemed. Nil: there is none, and only a message continues the task.
	Visit func(handle string) (url string)
	For   time.Duration // how long the handle is good [1 h]
	Data  []any         // parts to send along, as those of [Task.Ask]
}

// handleFor is [AuthRequest.For] when it is zero.
const handleFor = time.Hour

// RequireAuth makes the error with which a handler stops to have its client arrange for an authorization (R110–R112).
// The task waits; the handler is called again, with the input so far, for the next message, or with what the handle was
// redeemed with ([runtime.Call].Authorized), for the message that it has now.
func (t *Task) RequireAuth(a AuthRequest) error {
	said := runtime.MessageOf(runtime.Text(a.Prompt))
	told := runtime.Authorization{Scheme: a.Scheme, Scopes: a.Scopes}
	handle, good := "", cmp.Or(a.For, handleFor)
	if a.Visit != nil {
		handle, told.Expires = t.run.Handle(good)
		told.URL = a.Visit(handle)
	}
	if told.URL != "" {
		said.Parts = append(said.Parts, runtime.Text(told.URL))
	}
	said.Parts = appendParts(said.Parts, a.Data)
	if told.Scheme != "" || len(told.Scopes) > 0 || told.URL != "" {
		const name = runtime.SkillsExtension
		metadata, err := wire.ObjectOf(map[string]map[string]runtime.Authorization{name: {"authorization": told}})
		if err != nil {
			return fmt.Errorf("require authorization: %w", err)
		}
		said.Metadata, said.Extensions = metadata, []string{name}
	}
	return t.run.Suspend(said, handle, good)
}
