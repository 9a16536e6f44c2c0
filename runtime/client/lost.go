package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
)

// LostCallError is a call of a skill whose outcome is unknown: its connection broke, or its time was over,
// after the message was sent and before there was a result. The work may be done, under way, or never begun; the client
// tries nothing that might do it twice.
//
// With a TaskID, [Client.Await] asks for the result, from any process. Otherwise, where [LostCallError.Again] has
// options, the same call with them gives the result of the same work. Without either, ask the agent's operator for the
// MessageID before the call is made again.
type LostCallError struct {
	Skill             string // its id
	MessageID         string
	TaskID, ContextID string    // "" if unknown
	Key               string    // idempotency key; "" if the agent's card does not promise to recognize one
	Sent              time.Time // when the message was first sent
	Err               error     // what ended the last attempt

	inTask string // the task that the message named
}

// Error names the message, the cause and the remedy.
func (e *LostCallError) Error() string {
	s := fmt.Sprintf("it is not known what became of message %s", Printable(e.MessageID))
	switch {
	case e.TaskID != "":
		s += fmt.Sprintf(" (ask for its task %s)", Printable(e.TaskID))
	case e.Key != "":
		s += " (the same call with its key gives the same work's result)"
	default:
		s += " (to send it again may do the work twice)"
	}
	return s + ": " + e.Err.Error()
}

// Unwrap returns what ended the last attempt.
func (e *LostCallError) Unwrap() error { return e.Err }

// Again returns options with which the agent recognizes the same call with the same input: it answers with the result of
// the first one, or does the work if it was never begun. They are nil if the agent does not promise that. Across
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

// note records that a message may have reached the agent.
func (cl *call) note(f fault) {
	if f != faultLost && f != faultBusy {
		return
	}
	cl.lost = cl.lost || f == faultLost || cl.safe
	if cl.first.IsZero() {
		cl.first = cl.begun
	}
}

// lostCall is the error of a call of a skill that ended with err: err itself unless the agent may work on the message.
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

// The service parameters by which an agent recognizes a message that is sent again. They are in lower case because net/http
// repeats a request with an Idempotency-Key by itself, without the age.
const (
	headerKey = "idempotency-key"
	headerAge = "idempotency-age" // whole seconds since the message was first sent
)

// knowsKeys reports whether the skills extension of a card promises that a message with an idempotency key is worked on
// once.
func knowsKeys(list []runtime.Extension) bool {
	for _, e := range list {
		if !runtime.IsSkillsExtension(e.URI) {
			continue
		}
		var promise struct {
			Window int64 `json:"window"`
		}
		if raw, ok := e.Params.Get("idempotency"); ok && json.Unmarshal(raw, &promise) == nil && promise.Window > 0 {
			return true
		}
	}
	return false
}

// deliver sends the message of a skill's call and returns the agent's answer. A message whose outcome is unknown, and which must not be
// sent again, is looked for in the task that it named.
func (c *Client) deliver(ctx context.Context, request any, cl *call) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	v, err := c.ask(ctx, patient, Method{Role: runtime.RoleSend}, request, cl)
	if err == nil {
		switch v := v.(type) {
		case runtime.Task:
			return taskResult(v), nil
		case runtime.Message:
			return messageResult(v), nil
		}
		return nil, invalid("result", fmt.Errorf("%T is neither task nor message", v))
	}
	if cl.lost && !cl.safe && cl.message.TaskID != "" && ctx.Err() == nil {
		if task, found := c.taken(ctx, cl); found {
			return taskResult(task), nil
		}
	}
	return nil, cl.lostCall(ctx, "", err)
}

// taken looks for a message in the task that it named: the agent has it if the client chose the task's id, or if the history has the
// message.
func (c *Client) taken(ctx context.Context, cl *call) (runtime.Task, bool) {
	all := *cl
	all.data.HistoryLength = nil
	task, err := c.task(ctx, patient, cl.message.TaskID, &all)
	if err != nil {
		return nil, false
	}
	if cl.ownTask {
		return task, true
	}
	for _, m := range task.HistoryList() {
		if m.MessageInfo().ID == cl.message.ID {
			return task, true
		}
	}
	return nil, false
}

// awaited is the error of a call whose task is known, and could not be followed to its end.
func (cl *call) awaited(ctx context.Context, taskID string, err error) error {
	var agent *runtime.Error
	var lacks *CredentialError
	denied := errors.Is(err, runtime.ErrUnauthenticated) || errors.Is(err, runtime.ErrPermissionDenied) ||
		errors.As(err, &lacks)
	if taskID != "" && denied { // the credentials ended before the task, which goes on
		cl.lost = true
	} else if taskID != "" && errors.As(err, &agent) && !faultOf(ctx, err).passes() {
		return err
	}
	return cl.lostCall(ctx, taskID, err)
}

// fault classifies the error of a request.
type fault uint8

const (
	faultFinal   fault = iota // the agent decided, or the request could not be made
	faultUnsent               // not a byte of it was sent
	faultRefused              // the agent accepts no requests for now
	faultBusy                 // the agent cannot go on for now, and may have accepted it
	faultLost                 // there is no answer: whether it was carried out is unknown
)

// passes reports whether the same request may succeed later.
func (f fault) passes() bool { return f != faultFinal }

// faultOf classifies the error of a request that was made under ctx.
func faultOf(ctx context.Context, err error) fault {
	var status interface{ TryLater() bool }
	var answer *HTTPError
	var agent *runtime.Error
	var stream *StreamError
	switch named := errors.As(err, &agent); {
	case errors.As(err, &stream):
		return faultLost
	case unsent(err):
		return faultUnsent
	case errors.As(err, &status) && !status.TryLater():
		return faultFinal
	case errors.As(err, &answer) && answer.Status == http.StatusTooManyRequests: // the request was not carried out
		return faultRefused
	case named && (status != nil || agent.Reason == observe.ReasonBusy):
		return faultBusy
	case named && !errors.Is(err, io.ErrUnexpectedEOF):
		return faultFinal
	case status != nil, ctx.Err() != nil, broke(err):
		return faultLost
	}
	return faultFinal
}

// broke reports whether err is of a connection that ended before the answer did, which certificates that do not fit and redirects that are
// not followed are not.
func broke(err error) bool {
	var link *LinkError
	var at *url.Error
	var redirect *redirectError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	var spent *overtime
	switch {
	case errors.As(err, &link), errors.As(err, &spent), errors.Is(err, ErrIdle), errors.Is(err, io.ErrUnexpectedEOF):
		return true
	case errors.As(err, &redirect), errors.As(err, &certificate), errors.As(err, &record):
		return false
	case errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error"): // alerts of TLS
		return false
	}
	return errors.As(err, &at)
}

// retryDelay is the pause before the next attempt that the agent asks for; 0 for none.
func retryDelay(err error) time.Duration {
	var says interface{ TryAfter() time.Duration }
	if errors.As(err, &says) {
		return says.TryAfter()
	}
	return 0
}
