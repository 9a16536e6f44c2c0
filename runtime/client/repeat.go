package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// The service parameters by which an agent recognizes a message that is sent again. They are written as HTTP/2 has
// them: net/http would send a request with an Idempotency-Key in its usual case again by itself, and without the age.
const (
	headerKey = "idempotency-key"
	headerAge = "idempotency-age" // whole seconds since the message was first sent
)

// markRepeat adds the key of a message and, when the message may have been sent before, its age.
func markRepeat(h http.Header, cl *call) {
	h.Del(headerKey)
	h[headerKey] = []string{cl.key}
	if !cl.first.IsZero() {
		age := max(0, time.Since(cl.first)) + 2*time.Second - 1 // rounded up, and a second for the way
		h[headerAge] = []string{strconv.FormatInt(int64(age/time.Second), 10)}
	}
}

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

// deliver sends the message of a skill's call and returns the result, or the task as the agent answered it. A message
// that was lost, and must not be sent again, is looked for in the task that it named.
func (c *Client) deliver(ctx context.Context, request any, cl *call) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	v, err := c.ask(ctx, patient, Method{Role: runtime.RoleSend}, request, cl)
	if err == nil {
		return outcome(v)
	}
	if cl.lost && !cl.safe && cl.message.TaskID != "" && ctx.Err() == nil {
		if task, found := c.taken(ctx, cl); found {
			return taskResult(task), nil
		}
	}
	return nil, cl.lostCall(ctx, "", err)
}

// taken looks for a message in the task that it named. It is there if the client chose the task's id, or if the history
// has the message.
func (c *Client) taken(ctx context.Context, cl *call) (runtime.Task, bool) {
	all := *cl
	all.data.HistoryLength = nil
	task, err := c.patientTask(ctx, cl.message.TaskID, &all)
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
