package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Await waits until a task ends or waits for its client, and returns its result. It follows the task's stream where the agent
// has streams, else it asks for the task from time to time, with an answer that waits for the next event if tasks have generations.
// Errors: as of a skill's call.
func (c *Client) Await(ctx context.Context, taskID string, opts ...CallOption) (*Result, error) {
	cl := c.newCall(opts)
	ctx, done := cl.policy.limit(ctx)
	defer done()
	task, err := byNewest(ctx, c.cards.current(ctx, c), "", cl, func(c *Client) (runtime.Task, error) {
		return c.await(ctx, taskID, cl)
	})
	if err != nil {
		return nil, err
	}
	r := taskResult(task)
	return r, c.withOrigin(r.err(), r)
}

func (c *Client) await(ctx context.Context, taskID string, cl *call) (runtime.Task, error) {
	if cl.notices != nil {
		return c.awaitNotice(ctx, taskID, cl)
	}
	for failed := 1; c.agent.info.Streaming; failed++ {
		task, err := c.follow(ctx, taskID, cl)
		var ended *StreamError // which was taken up again as often as may be
		if err != nil && !errors.As(err, &ended) && faultOf(ctx, err).passes() && cl.policy.again(ctx, failed, err) {
			continue
		}
		if !c.links.refused(err) {
			return task, err
		}
		break
	}
	return c.poll(ctx, taskID, cl)
}

// poll asks for a task until it settles, with growing pauses, or with requests that wait for the task's next generation.
func (c *Client) poll(ctx context.Context, taskID string, cl *call) (runtime.Task, error) {
	waits, known := c.links.version.Rules.Generations, int64(0)
	for attempt := 1; ; attempt++ {
		asked, steps := time.Now(), patient
		request := runtime.TaskRequest{Tenant: c.Tenant(), ID: taskID, HistoryLength: cl.data.HistoryLength}
		if known > 0 { // the agent may wait for a later generation
			request.CurrentGeneration, steps = &known, once
		}
		task, err := c.getTask(ctx, steps, request, cl)
		if err != nil && known > 0 && ctx.Err() == nil && temporary(err) { // a proxy may end requests that take long
			waits, known = false, 0
			task, err = c.task(ctx, patient, taskID, cl)
		}
		if err != nil || settled(task.TaskInfo().State) {
			return task, err
		}
		if now := task.EventInfo().Generation; waits && (now > known || time.Since(asked) > maxPause) {
			known, attempt = now, 1
		}
		if err := pause(ctx, backoff(attempt)); err != nil {
			return nil, err
		}
	}
}

// askAnyway is the interval at which a task is asked for without a notification.
const askAnyway = 30 * time.Second

// awaitNotice gets the task after each notification that it settled, and at intervals without. An agent may be down
// meanwhile: failed attempts count as those of a stream. The pauses grow while notifications come for a task that has not settled.
func (c *Client) awaitNotice(ctx context.Context, taskID string, cl *call) (runtime.Task, error) {
	news, stop := cl.notices.Settled(taskID)
	defer stop()
	for failures, noticed := 0, 0; ; {
		task, err := c.task(ctx, once, taskID, cl)
		switch {
		case err == nil && settled(task.TaskInfo().State):
			return task, nil
		case err == nil:
			failures = 0
		case ctx.Err() != nil || !temporary(err) || failures >= cl.reattach:
			return nil, err
		default:
			failures++
		}
		if noticed > 0 && pause(ctx, backoff(noticed)) != nil {
			return nil, context.Cause(ctx)
		}
		select {
		case <-news:
			noticed++
		case <-time.After(askAnyway):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// follow subscribes to a task and applies its events until it settles.
func (c *Client) follow(ctx context.Context, taskID string, cl *call) (runtime.Task, error) {
	t := tracker{protocol: c.protocol}
	cl.whole, cl.taskID = true, taskID
	m, request := c.ofTask(runtime.RoleSubscribe, taskID)
	for e, err := range c.stream(ctx, m, request, cl) {
		if err == nil {
			err = t.add(e)
		}
		if err != nil {
			return nil, err
		}
		if t.task != nil && settled(t.task.TaskInfo().State) {
			break
		}
	}
	if c.links.version.Rules.Final { // the subscription need not have begun with the task
		return c.task(ctx, patient, taskID, cl)
	}
	if t.task == nil {
		return nil, invalid("stream", errors.New("it held no task"))
	}
	return t.task, nil
}

// ofTask is a request that names a task and nothing else.
func (c *Client) ofTask(role runtime.Role, id string) (Method, any) {
	return Method{Role: role}, c.protocol.NewTaskRequest(role, runtime.TaskRequest{Tenant: c.Tenant(), ID: id})
}

// refused reports whether a task cannot be subscribed to, so that it must be asked for. Before 1.0 there is no error code for that.
func (s *linkSet) refused(err error) bool {
	var rpc *runtime.Error
	return errors.Is(err, runtime.ErrUnsupportedOperation) || s.version.Rules.Final && errors.As(err, &rpc)
}

// task gets a task as it stands, by the steps once or patient.
func (c *Client) task(ctx context.Context, steps []step, id string, cl *call) (runtime.Task, error) {
	return c.getTask(ctx, steps, runtime.TaskRequest{Tenant: c.Tenant(), ID: id, HistoryLength: cl.data.HistoryLength}, cl)
}

func (c *Client) getTask(ctx context.Context, steps []step, r runtime.TaskRequest, cl *call) (runtime.Task, error) {
	v, err := c.ask(ctx, steps, Method{Role: runtime.RoleGet}, c.protocol.NewTaskRequest(runtime.RoleGet, r), cl)
	if err != nil {
		return nil, err
	}
	task, ok := v.(runtime.Task)
	if !ok {
		return nil, invalid("result", fmt.Errorf("%T is no task", v))
	}
	if got := task.TaskInfo().ID; got != r.ID {
		return nil, invalid("result", fmt.Errorf("task %s instead of %s", Printable(got), Printable(r.ID)))
	}
	return task, nil
}

// settled reports whether a task ended or waits for its client.
func settled(s runtime.State) bool { return s.Terminal() || s.Interrupted() }

// tracker builds up a task, or takes a message, from the events of a stream.
type tracker struct {
	protocol *runtime.Protocol
	task     runtime.Task
	message  runtime.Message
}

func (t *tracker) add(e runtime.Event) error {
	info := e.EventInfo()
	switch info.Kind {
	case runtime.EventTask:
		task, ok := e.(runtime.Task)
		if !ok {
			return invalid("event", fmt.Errorf("%T is no task", e))
		}
		t.task = task.View(nil, true) // the consumer keeps the event
	case runtime.EventMessage:
		t.message, _ = e.(runtime.Message)
		return nil
	case runtime.EventStatus, runtime.EventArtifact:
		if t.task == nil { // a 1.0 stream begins with the task, but not all agents do
			t.task = t.protocol.NewTask(info.TaskID, info.ContextID, time.Now().UTC())
		}
		if err := t.task.Apply(e); err != nil {
			return err
		}
	default:
		return nil
	}
	if t.task.TaskInfo().Artifacts > runtime.MaxArtifacts {
		return tooLarge(runtime.MaxArtifacts, "artifacts")
	}
	return nil
}
