package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// LostCallError is a call of a skill of which it is not known what became: its connection broke, or its time was over,
// after the message was sent and before there was a result. The work may be done, under way, or never begun; nothing
// was tried that might do it twice.
//
// With a TaskID, [Client.Await] asks for the result, from any process. Otherwise, where [LostCallError.Again] has
// options, the same call with them gives the result of the same work. Without either, ask the agent's operator for the
// MessageID before the call is made again.
type LostCallError struct {
	Skill             string // its id
	MessageID         string
	TaskID, ContextID string    // "" as far as they are not known
	Key               string    // idempotency key; "" with an agent that does not promise to know one
	Sent              time.Time // when the message was first sent
	Err               error     // what ended the last attempt

	inTask string // the task that the message named
}

// Error says what broke and what to do.
func (e *LostCallError) Error() string {
	s := fmt.Sprintf("it is not known what became of message %s", printable([]byte(e.MessageID)))
	switch {
	case e.TaskID != "":
		s += fmt.Sprintf(" (ask for its task %s)", printable([]byte(e.TaskID)))
	case e.Key != "":
		s += " (the same call with its key gives the same work's result)"
	default:
		s += " (to send it again may do the work twice)"
	}
	return s + ": " + e.Err.Error()
}

// Unwrap returns what ended the last attempt.
func (e *LostCallError) Unwrap() error { return e.Err }

// Again returns options with which the same call, of the same input, is recognized by the agent: it gives the result of
// the work that was lost, or does it if it was never begun. They are nil if the agent does not promise that. Across
// processes keep MessageID, Key and Sent, for the options [MessageID], [IdempotencyKey] and [SentBefore].
func (e *LostCallError) Again() []CallOption {
	if e.Key == "" {
		return nil
	}
	opts := []CallOption{MessageID(e.MessageID), IdempotencyKey(e.Key), SentBefore(e.Sent)}
	if e.inTask != "" {
		opts = append(opts, InTask(e.inTask))
	}
	return opts
}

// note remembers that a message may have reached the agent.
func (cl *call) note(f fault) {
	if f != faultLost && f != faultBusy {
		return
	}
	cl.lost = cl.lost || f == faultLost || cl.safe
	if cl.first.IsZero() {
		cl.first = cl.begun
	}
}

// lostCall is the error of a call of a skill that ended with err: err itself unless the message may have been taken on.
func (cl *call) lostCall(ctx context.Context, taskID string, err error) error {
	var known *LostCallError
	if !cl.lost && (taskID == "" || !faultOf(ctx, err).passes()) || errors.As(err, &known) {
		return err
	}
	e := &LostCallError{
		Skill: cl.skill, MessageID: cl.message.ID, TaskID: cmp.Or(taskID, cl.message.TaskID),
		ContextID: cl.message.ContextID, Sent: cl.first, Err: err, inTask: cl.message.TaskID,
	}
	if cl.safe {
		e.Key = cl.key
	}
	return e
}
