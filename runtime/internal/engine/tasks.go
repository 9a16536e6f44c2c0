package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/store"
)

// task carries out get, cancel and subscribe.
func (r *Request) task(p *runtime.TaskRequest) (Answer, error) {
	owner, err := r.owner(p.Tenant)
	switch {
	case err != nil:
	case p.ID == "":
		err = invalid.Field("id", "is required")
	case len(p.ID) > maxName:
		err = checkName("id", p.ID)
	case p.HistoryLength != nil && *p.HistoryLength < 0:
		err = invalid.Field("historyLength", "must not be negative")
	}
	if err != nil {
		return Answer{}, err
	}
	key := store.Key{Owner: owner, Task: p.ID}
	r.Subject.Task = p.ID
	if err := r.may(key); err != nil {
		return Answer{}, notFound(err, p.ID)
	}
	p.HistoryLength = r.Version.history(p.HistoryLength)
	var a Answer
	switch r.Op.Role {
	case runtime.RoleGet:
		if err = r.awaitGeneration(key, p.CurrentGeneration); err == nil {
			a, err = r.value(r.get(key, store.View{History: p.HistoryLength, Artifacts: true}))
		}
	case runtime.RoleCancel:
		a, err = r.value(r.cancel(key))
	case runtime.RoleSubscribe:
		if !r.Silent {
			a, err = r.subscribe(key)
		}
	default:
		err = fmt.Errorf("operation %s decodes to a task request", r.Op.RPC)
	}
	return a, notFound(err, p.ID)
}

// get carries out GetTask. A large task is read once more when there is room for the answer: nobody holds on to one
// while waiting.
func (r *Request) get(key store.Key, view store.View) (any, error) {
	snap, err := r.e.store.Get(r.e.soon(), key, view)
	r.Subject.Skill = snap.Private.Skill
	if err != nil || snap.Bytes <= budget.Uncounted {
		return snap.Task, err
	}
	snap.Task = nil
	if err := r.Response.Reserve(r.Context, int64(snap.Bytes)); err != nil {
		return nil, err
	}
	snap, err = r.e.store.Get(r.e.soon(), key, view)
	return snap.Task, err
}

// notFound names the task in the error (R36).
func notFound(err error, id string) error {
	if err == nil {
		return nil
	}
	if e, _ := ToError(err); e == runtime.ErrTaskNotFound {
		return e.WithMetadata("taskId", limit(id, 100))
	}
	return err
}

// cancel carries out CancelTask.
func (r *Request) cancel(key store.Key) (any, error) {
	h, err := r.e.store.Head(r.e.soon(), key)
	if err != nil {
		return nil, err
	}
	r.Subject.Skill, r.Subject.Context = h.Skill, h.Context
	task, err := r.e.runner.Cancel(r.Context, key)
	return task, err
}

// longestPoll is how long GetTask waits for a later generation at most: proxies give a request up after 30 seconds or
// more.
const longestPoll = 25 * time.Second

// awaitGeneration waits until a task has a later generation than the client has it in; nil: the client does not wait. It
// returns without one for a task that has ended, after [longestPoll], and when the server shuts down: the answer is the
// task as it is. A request that waits counts as an open stream.
func (r *Request) awaitGeneration(key store.Key, known *int64) error {
	if known == nil || r.Silent {
		return nil
	}
	if over, err := r.isPast(key, *known); over || err != nil {
		return err
	}
	leave, err := r.e.feed.Admit()
	if err != nil {
		return err
	}
	defer leave()
	topic, release := r.e.runner.Topic(key)
	defer release()
	reader := feed.NewReader(r.e.runner.Looks())
	topic.Attach(reader)
	defer topic.Detach(reader)
	ctx, cancel := context.WithTimeout(r.Context, longestPoll)
	defer cancel()
	for {
		// The reader is attached: a change that comes after this look wakes it.
		if over, err := r.isPast(key, *known); over || err != nil {
			return err
		}
		select {
		case <-reader.Wake():
		case <-ctx.Done():
			return context.Cause(r.Context)
		case <-r.e.feed.Closing:
			return nil
		}
	}
}

// isPast reports whether a task has a later generation, or can have none any more.
func (r *Request) isPast(key store.Key, known int64) (bool, error) {
	h, err := r.e.store.Head(r.e.soon(), key)
	return err == nil && (h.Version > known || h.State.Terminal()), err
}
