package task

import (
	"github.com/a2agen/a2agen/runtime"
)

// Question is what another agent asks: a *client.InputRequiredError, the error of a call whose task waits.
type Question interface {
	error
	// Words is the question as a message, and whether it is an authorization that the agent waits for.
	Words() (said runtime.MessageData, authorization bool)
	// Task is the id of the other agent's task.
	Task() string
	// Token names the question, for good.
	Token() string
}

// AskFrom makes the error with which a handler passes a question on to its own client: the question of another agent
// that it called with its context. Words, data, schema and the wanted authorization are the same. The task waits; the
// next message calls the handler again, with the input so far, which is the same. Then the call that asked, made again,
// sends that message to the task of the other agent and goes on with it; the calls before it give what they gave.
//
// It is an error that fails the task when the question is of a call that was not made with the handler's context.
func (t *Task) AskFrom(q Question) error {
	said, authorization := q.Words()
	state := runtime.StateInputRequired
	if authorization {
		state = runtime.StateAuthRequired
	}
	return t.run.PassOn(state, said, q.Task(), q.Token())
}
