package talk

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
)

// The exit codes of a conversation, by whose word it ended: the agent's (1), nobody's (2), or one that it waits for (3).
const (
	ExitFailed      = 1   // the task failed, was rejected or canceled, or the agent answered with an error, as where credentials are missing
	ExitUnreached   = 2   // wrong arguments, or no answer that is one
	ExitAsks        = 3   // the task waits for an answer or an authorization
	ExitInterrupted = 130 // by Ctrl-C
)

// What a caller does whom the agent does not know, or knows and does not let.
const (
	proveIt  = "prove who you are with a2agen login, by A2A_TOKEN, or with --header 'Name: value', as the agent demands"
	notToYou = "these credentials do not allow it: call with others"
)

// Error is why a conversation has no answer, in a text for a person.
type Error struct {
	Code int // exit code
	Err  error
}

// Error returns the words.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// usage returns the error of invalid arguments.
func usage(format string, args ...any) error {
	return &Error{ExitUnreached, fmt.Errorf(format, args...)}
}

// unreached returns the error of an agent whose card cannot be fetched.
func unreached(url, target string, err error) error {
	var noAnswer *net.OpError
	if !strings.Contains(target, "://") && errors.As(err, &noAnswer) {
		return usage("nothing answers at %s: start the agent with \"go run .\" in its folder, in another terminal, or say where it is with %s", url, "A2A_PUBLIC_URL")
	}
	return err
}

// failed turns an error into a text with an exit code.
func (t *talk) failed(ctx context.Context, err error) error {
	var (
		known  *Error
		ask    *rpc.InputRequiredError
		failed *rpc.TaskError
		agent  *runtime.Error
		broken *rpc.StreamError
		none   *rpc.CredentialError
		lost   *rpc.LostCallError
	)
	say := func(code int, format string, args ...any) error {
		return &Error{code, errors.New(t.hide(clean(fmt.Sprintf(format, args...))))}
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return say(ExitInterrupted, "%s", t.interrupted())
	case errors.As(err, &known):
		return known
	case errors.As(err, &ask):
		return say(ExitAsks, "%s", t.asked(ask))
	case errors.As(err, &failed):
		return say(ExitFailed, "%v", failed)
	case errors.As(err, &broken) && broken.TaskID != "":
		t.taskID = broken.TaskID
		return say(ExitUnreached, "%v\nwait for the task with: %s", broken, t.again(""))
	case errors.As(err, &lost) && lost.TaskID != "":
		t.taskID = lost.TaskID
		return say(ExitUnreached, "%v\nwait for the task with: %s", lost, t.again(""))
	case errors.As(err, &lost): // whatever the last attempt was answered, it is not what became of the first
		return say(ExitUnreached, "%v", lost)
	case errors.As(err, &none):
		return say(ExitFailed, "%s", t.lacks(none))
	case errors.Is(err, runtime.ErrUnauthenticated):
		return say(ExitFailed, "the agent's error: %v\n%s", answered(err), proveIt)
	case errors.Is(err, runtime.ErrPermissionDenied) && t.known():
		return say(ExitFailed, "the agent's error: %v\n%s", answered(err), notToYou)
	case errors.Is(err, runtime.ErrPermissionDenied):
		return say(ExitFailed, "the agent's error: %v\n%s", answered(err), proveIt)
	case errors.As(err, &agent) && !errors.Is(err, runtime.ErrInvalidAgentResponse):
		return say(ExitFailed, "the agent's error: %v", agent)
	}
	return say(ExitUnreached, "%v", err)
}

// answered returns the status or the error of the agent, without the context that was added to it.
func answered(err error) error {
	var status *rpc.HTTPError
	var other *grpcclient.StatusError
	var agent *runtime.Error
	switch {
	case errors.As(err, &status):
		return status
	case errors.As(err, &other):
		return other
	case errors.As(err, &agent):
		return agent
	}
	return err
}

// interrupted says what becomes of the task after an interruption.
func (t *talk) interrupted() string {
	if t.taskID == "" {
		return "interrupted before the agent named a task"
	}
	return fmt.Sprintf("interrupted; task %s goes on\nwait for it:  %s\ncancel it:    %s", t.taskID, t.again(""), t.again(" --cancel"))
}

// asked says what a task waits for and how to continue it.
func (t *talk) asked(ask *rpc.InputRequiredError) string {
	t.taskID = ask.TaskID
	if ask.Auth != nil {
		return fmt.Sprintf("%v\nthen go on with:  %s", ask, t.again(""))
	}
	if t.Asks { // who has read the question already
		return fmt.Sprintf("task %s waits for an answer\nanswer with:  %s \"…\"", ask.TaskID, t.again(""))
	}
	s, answer := ask.Error()+choices(ask), ` "…"`
	if ask.Schema != nil {
		answer = ` --data '{…}'`
	}
	return fmt.Sprintf("%s\nanswer with:  %s%s", s, t.again(""), answer)
}

// choices returns what a question has in addition to its text: data, such as choices, and the schema of the answer.
func choices(ask *rpc.InputRequiredError) string {
	s := ""
	if ask.Data != nil {
		s += "\n" + indented(ask.Data)
	}
	if ask.Schema != nil {
		s += "\nthe answer is data of this schema: " + string(ask.Schema)
	}
	return s
}
