package client

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"

	"github.com/a2agen/a2agen/runtime"
)

// Words returns what the agent asks, as a message with the same parts, and whether it waits for an authorization. With
// the methods [InputRequiredError.Task] and [InputRequiredError.Token] that is what a handler's Task.AskFrom passes on.
func (e *InputRequiredError) Words() (said runtime.MessageData, authorization bool) {
	if e.Result != nil && e.Result.message != nil {
		said.Parts = e.Result.message.Contents()
	}
	if e.Auth != nil && (e.Auth.Scheme != "" || e.Auth.URL != "" || len(e.Auth.Scopes) > 0) {
		const name = runtime.SkillsExtension
		said.Metadata = runtime.Metadata(map[string]extension{name: {Authorization: e.Auth}})
		said.Extensions = []string{name}
	}
	return said, e.Auth != nil
}

// Task returns the id of the task that waits.
func (e *InputRequiredError) Task() string { return e.TaskID }

// Recipient is a task to which the steps of another agent's are passed on: the Task of a handler.
type Recipient interface {
	Say(state runtime.State, m runtime.MessageData) error
	Emit(a runtime.ArtifactData) error
}

// Forward passes the steps of a streamed call on to the task of a handler, in their order, and returns the output: the
// messages of the other agent's statuses become progress, and its artifacts artifacts with ids of their own, which are
// the same when the handler is called again after a crash. What is marked as the skill's result is the output, and is
// not passed on; nor are the words with which the task ends or asks, which are in the error.
//
//	out, err := client.Forward(t, weather.ForecastStream(ctx, in))
//
// Errors: those of the stream, and those of Say and Emit, as they are.
func Forward[Out any](t Recipient, steps iter.Seq2[Event[Out], error]) (Out, error) {
	var none Out
	f := forwarding{to: t, seen: map[string]bool{}}
	for step, err := range steps {
		if err != nil {
			return none, err
		}
		if m := step.said; m != nil && !settled(step.State) { // the words with which a task ends or asks are in the error
			err = f.to.Say(runtime.StateWorking, runtime.MessageOf(m.Contents()...))
		}
		if err == nil && step.Artifact != nil {
			err = f.emit(step.TaskID, *step.Artifact)
		}
		if err == nil && step.Done {
			return step.Output, f.rest(step.Result)
		}
		if err != nil {
			return none, err
		}
	}
	return none, invalid("stream", fmt.Errorf("it ended without a result"))
}

// forwarding is the state of a [Forward].
type forwarding struct {
	to   Recipient
	seen map[string]bool // artifacts, by the id that the other agent gave them; false: the result
}

// emit passes an artifact on, or a chunk of one.
func (f *forwarding) emit(task string, a runtime.ArtifactData) error {
	forwarded, known := f.seen[a.ID]
	if !known {
		_, marked := extensionData(a.Metadata)
		forwarded = !marked
		f.seen[a.ID] = forwarded
	}
	if !forwarded {
		return nil
	}
	sum := sha256.Sum256([]byte(task + "\x00" + a.ID))
	a.ID = "from-" + hex.EncodeToString(sum[:8])
	return f.to.Emit(a)
}

// rest passes on what came with the result alone: all of it from an agent without streams.
func (f *forwarding) rest(r *Result) error {
	for _, a := range r.Artifacts {
		if _, known := f.seen[a.ID]; known {
			continue
		}
		a.LastChunk = true
		if err := f.emit(r.TaskID, a); err != nil {
			return err
		}
	}
	return nil
}
