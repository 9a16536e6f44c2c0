// Package task is what the handler of a skill sees of the message that it handles and of the task that the message
// belongs to.
package task

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/a2agen/a2agen/runtime"
)

// Task is one call of a handler: the message, and the task it belongs to. The task comes into being with the first
// thing that needs one; a handler that only calls [Task.Reply] answers with a plain Message. Methods are safe for
// concurrent use while the handler runs.
type Task struct{ run run }

// New makes the Task of a run. The server calls it.
func New(r run) Task { return Task{r} }

// ID returns the task's id. Before the task exists it is the id that it will have.
func (t *Task) ID() string { return t.run.TaskID() }

// ContextID returns the id of the conversation.
func (t *Task) ContextID() string { return t.run.ContextID() }

// Message returns the message being handled. It belongs to the task: do not change it.
func (t *Task) Message() runtime.Message { return t.run.Request().Message }

// Request returns the request that brought the message.
func (t *Task) Request() *runtime.SendRequest { return t.run.Request() }

// Text returns the texts of the message's text parts, one a line.
func (t *Task) Text() string { return t.run.Text() }

// Parts returns the message's parts. Their bytes are shared: do not change them.
func (t *Task) Parts() []runtime.Part { return t.run.Parts() }

// Resumed reports whether the message continues a task, so that the handler was called before.
func (t *Task) Resumed() bool { return t.run.Resumed() }

// Attempt returns how often a handler was called for this message, this time included. It is more than 1 where the
// skill's calls are tried again after a crash: then some of the work may have been done. What an earlier attempt said
// is in the task; the first that this one says of an artifact of its own replaces what was there.
func (t *Task) Attempt() int { return t.run.Attempt() }

// IdempotencyKey returns a text that names the work that this message asks for: the same in all attempts, and no other
// message has it. It is for what the handler does outside, such as a payment, which must be done once.
func (t *Task) IdempotencyKey() string { return t.run.IdempotencyKey() }

// Snapshot returns a copy of the task as it stands, nil before it exists.
func (t *Task) Snapshot() runtime.Task { return t.run.Snapshot() }

// Turns returns what was said in the task so far, the message being handled included: see [runtime.Turns].
func (t *Task) Turns() []runtime.Turn {
	if task := t.run.Snapshot(); task != nil {
		return runtime.Turns(task)
	}
	return []runtime.Turn{{User: true, Parts: t.run.Parts()}}
}

// Logger returns the agent's logger with the skill's and the task's ids, and who sent the message.
func (t *Task) Logger() *slog.Logger { return t.run.Logger() }

// Activated reports whether a caller asked for an extension whose contract the agent has (A2A 1.0 §4.6): with this
// message or an earlier one of the task, in the service parameter A2A-Extensions, in the extensions that the message
// lists, or by sending a value of it.
func (t *Task) Activated(uri string) bool { return t.run.Activated(uri) }

// OnResult has f change the artifact with the skill's output before it is sent, except for its parts. Generated packages of
// extensions call it.
func (t *Task) OnResult(f func(*runtime.ArtifactData)) { t.run.OnResult(f) }

// Begin says that the input is good and the work begins. When the client waits for a task (a stream, or
// returnImmediately) it is created now, so that the client sees it at once; otherwise Begin does nothing. Generated
// code calls it for skills whose result is a task.
func (t *Task) Begin() error { return t.run.Begin() }

// Progress reports that the task is being worked on, with a text for the client.
func (t *Task) Progress(format string, args ...any) error {
	return t.run.Progress(formatted(format, args))
}

// Report is Progress with a whole message: parts of any kind, metadata, extensions, references to other tasks. Its id
// is made when it is empty; the server sets the context, the task and the role.
func (t *Task) Report(m runtime.MessageData) error { return t.run.Report(m) }

// Artifact gives the client an artifact, complete in one event.
func (t *Task) Artifact(name string, parts ...runtime.Part) error {
	return t.run.Emit(runtime.ArtifactData{Name: name, Parts: parts, LastChunk: true})
}

// Emit gives the client an artifact, or a piece of one, with all that it can have. Without an id it is a new artifact.
// One with the id of an artifact of the task, also of an earlier call's, replaces it, or with Append goes on with it;
// the first piece of an artifact says its name, description, metadata and extensions. LastChunk says that nothing
// follows.
func (t *Task) Emit(a runtime.ArtifactData) error { return t.run.Emit(a) }

// Reply answers with a plain Message and no task. It is an error once the handler made a task; when only the server
// made one, because the client would not wait, the message ends that task.
func (t *Task) Reply(parts ...runtime.Part) error {
	return t.run.Answer(runtime.MessageData{Parts: parts})
}

// Answer is Reply with a whole message, as [Task.Report] takes it.
func (t *Task) Answer(m runtime.MessageData) error { return t.run.Answer(m) }

// Complete says with which message the task is completed when the handler returns without an error. Its output, if any,
// is an artifact before that.
func (t *Task) Complete(parts ...runtime.Part) error {
	return t.End(runtime.StateCompleted, runtime.MessageData{Parts: parts})
}

// Ask makes the error with which a handler stops to ask its client for input. The task waits; the next message calls
// the handler again, with the input so far. The first arguments fill the verbs that the prompt has, if any, as of
// [fmt.Sprintf]; further ones are parts to send along, of any kind: a value that is no part is sent as a data part.
func (t *Task) Ask(prompt string, args ...any) error {
	text, data := fill(prompt, args)
	return t.endWith(runtime.StateInputRequired, text, data)
}

// Reject makes the error with which a handler declines the work. The reason, formatted as by [fmt.Sprintf] if there are
// arguments, is for the client.
func (t *Task) Reject(reason string, args ...any) error {
	return t.endWith(runtime.StateRejected, formatted(reason, args), nil)
}

// Fail makes the error with which a handler reports a failure in its own words to the client, formatted as by
// [fmt.Sprintf] if there are arguments. The text of any other error is only logged.
func (t *Task) Fail(reason string, args ...any) error {
	return t.endWith(runtime.StateFailed, formatted(reason, args), nil)
}

// End is Complete, Ask, RequireAuth, Reject and Fail with a whole message, as [Task.Report] takes it: it makes the
// error with which the handler's call ends in that state. A completed task is no error: its message is kept until the
// handler returns without one. A message without parts is none.
func (t *Task) End(state runtime.State, m runtime.MessageData) error { return t.run.End(state, m) }

// endWith is End with a text, and values of which those that are no parts are data.
func (t *Task) endWith(state runtime.State, text string, data []any) error {
	return t.End(state, runtime.MessageData{Parts: appendParts([]runtime.Part{runtime.Text(text)}, data)})
}

// appendParts appends values of which those that are no parts are data.
func appendParts(parts []runtime.Part, values []any) []runtime.Part {
	for _, v := range values {
		p, ok := v.(runtime.Part)
		if !ok {
			p = runtime.Data(v)
		}
		parts = append(parts, p)
	}
	return parts
}

// Save keeps v, as JSON, with the task for the handler's next call. It is not shown to the client.
func (t *Task) Save(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("save: %w", err)
	}
	return t.run.SetSaved(b)
}

// Load reads what an earlier call saved into v. It reports whether there was anything.
func (t *Task) Load(v any) (bool, error) { return read("load", t.run.Saved(), v) }

// read reads JSON into v. It reports whether there is any.
func read(what string, value []byte, v any) (bool, error) {
	if value == nil {
		return false, nil
	}
	if err := json.Unmarshal(value, v); err != nil {
		return true, fmt.Errorf("%s: %w", what, err)
	}
	return true, nil
}
