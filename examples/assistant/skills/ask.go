package skills

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/task"
	"github.com/a2agen/a2agen/runtime/tool"

	"example.com/assistant/a2a"
	"example.com/assistant/agent"
)

const (
	maxRounds  = 8      // how often the model is asked for one answer
	maxTokens  = 50_000 // that one answer may use in all its rounds
	maxHistory = 10     // earlier questions of the same context that the model sees
)

const instructions = "You are a helpful assistant. Use the tools where they know better than you do. " +
	"Answer in the user's language, briefly."

// Ask has the model answer, and passes its words on as they come. What the model said is saved before its tools are
// called. So the handler can be called again, after a crash or for the answer to a tool's question: it repeats the same
// calls, of which those that are done give what they gave, and asks the model for what it has not said yet.
func (a *Agent) Ask(ctx context.Context, _ *a2a.Message, t *agent.Task) (string, error) {
	var said []reply // by the model, in this task
	if _, err := t.Load(&said); err != nil {
		return "", err
	}
	messages, err := history(ctx, t)
	if err != nil {
		return "", err
	}
	out := t.Stream("", runtime.ArtifactData{
		ID: "answer", Name: "answer", Metadata: runtime.Metadata(map[string]string{"model": a.model.Name}),
	})
	for round := range maxRounds {
		if round < len(said) {
			_, err = out.WriteString(said[round].Text) // it replaces what an earlier call of this handler has written
		} else {
			said, err = a.next(ctx, t, out, messages, said)
		}
		if err != nil {
			return "", failed(t, err)
		}
		last := said[round]
		if len(last.Calls) == 0 {
			return "", finish(t, out, said)
		}
		messages = append(messages, last.message())
		results, err := a.call(ctx, t, last.Calls)
		if err != nil {
			return "", errors.Join(out.Close(), err)
		}
		messages = append(messages, results...)
	}
	return "", errors.Join(out.Close(), t.Fail("The model called tools %d times and came to no answer.", maxRounds))
}

// next asks the model for what comes next, and saves it.
func (a *Agent) next(
	ctx context.Context, t *agent.Task, out *task.ArtifactWriter, messages []message, said []reply,
) ([]reply, error) {
	if used := total(said).Total; used > maxTokens {
		return said, t.Fail("The answer has used %d tokens, more than %d.", used, maxTokens)
	}
	r, err := a.model.Say(ctx, messages, a.tools(), func(text string) error {
		_, err := out.WriteString(text)
		return err
	})
	if err != nil {
		return said, err
	}
	said = append(said, r)
	if len(r.Calls) == 0 {
		return said, nil
	}
	if err := t.Save(said); err != nil {
		return said, err
	}
	names := make([]string, len(r.Calls))
	for i, c := range r.Calls {
		names[i] = c.Name
	}
	return said, t.Progress("Asking %s …", strings.Join(names, ", ")) // which stores what was saved
}

// call calls tools, one after the other, and returns what the model is told. A question of one is the error that asks
// the same of our own caller; its answer goes to that tool when this is called again.
func (a *Agent) call(ctx context.Context, t *agent.Task, calls []call) ([]message, error) {
	var results []message
	for _, c := range calls {
		out, err := tool.Call(ctx, a.tools(), c.Name, []byte(c.Arguments))
		var ask *rpc.InputRequiredError
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &ask):
			return nil, t.AskFrom(ask)
		case err != nil:
			t.Logger().Info("a tool failed", "tool", c.Name, "error", err)
			out = []byte(tool.Text(err))
		}
		results = append(results, message{Role: "tool", CallID: c.ID, Content: string(out)})
	}
	return results, nil
}

// history is what the model is told before its first word: earlier tasks of the context, and the question of this one.
func history(ctx context.Context, t *agent.Task) ([]message, error) {
	messages := []message{{Role: "system", Content: instructions}}
	past, err := t.Context().Conversation(ctx, maxHistory)
	if err != nil {
		return nil, err
	}
	for _, p := range slices.Backward(past) { // the oldest first
		for _, turn := range p.Turns {
			switch text := turn.Text(); {
			case text == "":
			case turn.User:
				messages = append(messages, message{Role: "user", Content: text})
			case turn.Artifact == "answer":
				messages = append(messages, message{Role: "assistant", Content: text})
			}
		}
	}
	for _, turn := range t.Turns() {
		if turn.User { // the first one; a later one answers a tool's question
			return append(messages, message{Role: "user", Content: turn.Text()}), nil
		}
	}
	return append(messages, message{Role: "user", Content: t.Text()}), nil
}

// finish ends the answer, and says what it took.
func finish(t *agent.Task, out *task.ArtifactWriter, said []reply) error {
	last := said[len(said)-1]
	if last.Cut {
		if _, err := out.WriteString(" …"); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	used := total(said)
	spent := map[string]any{"model": last.Model, "usage": used}
	return t.Emit(runtime.ArtifactData{
		ID: "usage", Name: "usage", Parts: []runtime.Part{runtime.Data(spent)},
		Metadata: runtime.Metadata(spent), LastChunk: true,
	})
}

// total adds up what replies took.
func total(said []reply) (u usage) {
	for _, r := range said {
		u.Prompt, u.Completion, u.Total = u.Prompt+r.Usage.Prompt, u.Completion+r.Usage.Completion, u.Total+r.Usage.Total
	}
	return u
}

// failed words an error of the model for the caller, with what to do about it. Others stay what they are.
func failed(t *agent.Task, err error) error {
	var model *ModelError
	if errors.As(err, &model) {
		t.Logger().Warn("the model failed", "error", err)
		return t.Fail("%s", model.Remedy)
	}
	return err
}
