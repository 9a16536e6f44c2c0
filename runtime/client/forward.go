package client

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"

	"github.com/a2agen/a2agen/runtime"
)

// Words returns the agent's question, as a message with the same parts, and whether it waits for an authorization. A handler's Task.AskFrom
// forwards a question by this method, [InputRequiredError.Task] and [InputRequiredError.Token].
func (e *InputRequiredError) Words() (question runtime.MessageData, authorization bool) {
	if e.Result != nil && e.Result.message != nil {
		question.Parts = e.Result.message.Contents()
	}
	if e.Auth != nil && (e.Auth.Scheme != "" || e.Auth.URL != "" || len(e.Auth.Scopes) > 0) {
		const name = runtime.SkillsExtension
		question.Metadata = runtime.Metadata(map[string]extension{name: {Authorization: e.Auth}})
		question.Extensions = []string{name}
	}
	return question, e.Auth != nil
}

// Task returns the id of the task that waits.
func (e *InputRequiredError) Task() string { return e.TaskID }

// Recipient is the task that [Forward] forwards steps to: the Task of a handler.
type Recipient interface {
	Say(state runtime.State, m runtime.MessageData) error
	Emit(a runtime.ArtifactData) error
}

// Forward forwards the steps of a streamed call to the task of a handler, in order, and returns the output. The
// messages of the other agent's statuses become progress. Its artifacts become artifacts with ids of their own, which are
// the same when the handler is called again after a crash. The artifact that is marked as the skill's result is the output and is
// not forwarded; nor is the message with which the task ends or asks, which is in the error.
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
		if m := step.status; m != nil && !settled(step.State) {
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
	seen map[string]bool // by the other agent's id of an artifact: whether it is forwarded
}

// emit forwards an artifact, or a chunk of one.
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

// rest forwards the artifacts that came only with the result: all of them from an agent without streams.
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
