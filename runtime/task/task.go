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
// concurrent use while the handler runs. They are of four groups:
//
//   - What came in: [Task.Text], [Task.Parts], [Task.Turns], [Task.Resumed], [Task.Load], [Task.Context] and, for ids,
//     attempts and the request, [Task.Call].
//   - How far the work is: [Task.Progress], [Task.Save], [Task.Logger].
//   - What it gives: [Task.Artifact], [Task.Emit], [Task.Stream].
//   - How the call ends, or what it asks: [Task.Reply], [Task.Ask], [Task.AskFrom], [Task.RequireAuth], [Task.Reject],
//     [Task.Fail]. [Task.Say] is these, and Progress, with a whole message in place of a text.
type Task struct{ run run }

// New makes the Task of a run. The server calls it.
func New(r run) Task { return Task{r} }

// Text returns the texts of the message's text parts, one a line.
func (t *Task) Text() string { return t.run.Text() }

// Parts returns the message's parts. Their bytes are shared: do not change them.
func (t *Task) Parts() []runtime.Part { return t.run.Parts() }

// Turns returns what was said in the task so far, the message being handled included: see [runtime.Turns].
func (t *Task) Turns() []runtime.Turn {
	if task := t.run.Snapshot(); task != nil {
		return runtime.Turns(task)
	}
	return []runtime.Turn{{User: true, Parts: t.run.Parts()}}
}

// Resumed reports whether the message continues a task, so that the handler was called before.
func (t *Task) Resumed() bool { return t.run.Resumed() }

// Call returns the call itself: its ids, its request, how often it was tried.
func (t *Task) Call() runtime.Call { return t.run }

// Logger returns the agent's logger with the skill's and the task's ids, and who sent the message.
func (t *Task) Logger() *slog.Logger { return t.run.Logger() }

// Progress reports that the task is being worked on, with a text for the client.
func (t *Task) Progress(format string, args ...any) error {
	return t.run.Progress(formatted(format, args))
}

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

// Say reports a state with a whole message: parts of any kind, metadata, extensions, references to other tasks. The id
// of the message is made when it is empty; the server sets the context, the task and the role.
//
//   - [runtime.StateWorking] is [Task.Progress].
//   - [runtime.StateUnspecified] is [Task.Reply]: the message is the answer, and there is no task.
//   - [runtime.StateCompleted]: the message is kept until the handler returns without an error, and completes the task
//     behind its output. A message without parts is none.
//   - [runtime.StateInputRequired], [runtime.StateAuthRequired], [runtime.StateRejected] and [runtime.StateFailed] are
//     [Task.Ask], [Task.RequireAuth], [Task.Reject] and [Task.Fail]: the error is the one to return.
//
// No other state is a handler's to report.
func (t *Task) Say(state runtime.State, m runtime.MessageData) error {
	switch state {
	case runtime.StateWorking:
		return t.run.Report(m)
	case runtime.StateUnspecified:
		return t.run.Answer(m)
	}
	return t.run.End(state, m)
}

// endWith ends the call with a text, and values of which those that are no parts are data.
func (t *Task) endWith(state runtime.State, text string, data []any) error {
	return t.run.End(state, runtime.MessageData{Parts: appendParts([]runtime.Part{runtime.Text(text)}, data)})
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
