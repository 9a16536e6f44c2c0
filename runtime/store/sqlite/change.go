package sqlite

import (
	"fmt"
	"slices"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// change is a new task, or an update of one, on its way into the file.
type change struct {
	key     store.Key
	view    *store.View
	u       *store.Update  // of a new task: what comes with it
	new     *store.New     // nil: the change is an update
	changes []store.Change // the events, of a new task those after it
	start   meta           // of a new task
	task    runtime.Task   // of a new task: a copy, since a caller that gets no answer sends its own again
	read    *row           // of an update, when the task was not in the cache
	snap    store.Snapshot // the answer

	// Made by prepare, on the caller's goroutine.
	rules   taskstate.Update // what the rules are asked
	log     []entry
	at      int64  // time of the status, if there is a new one
	head    []byte // the task without history and artifacts, if there is a new status
	config  []byte // push configuration
	request []byte // of the call
	ticket  []byte // request of the ticket

	// Made by the writer, anew in each transaction that is tried.
	r       *row
	was     *meta
	next    meta
	effects taskstate.Effects
	run     *store.Call
}

// prepare encodes the change and finds out whether its events fit the task. It runs on the caller's goroutine, so that the
// writer has less to do. after is the task before the change, without history and artifacts; prepare changes it.
func (c *change) prepare(s *Store, after runtime.Task) {
	c.rules.By = int32(s.me) //nolint:gosec // instances are few
	c.rules.Facts = &taskstate.Facts{Unfit: c.encode(s.codec, after)}
	if p := c.u.Push; p != nil {
		c.rules.Push = &taskstate.Push{Bad: p.Check(), Max: p.Max}
	}
}

func (c *change) encode(k *codec, after runtime.Task) (err error) {
	if err := c.encodeEvents(k, after); err != nil {
		return err
	}
	u := c.u
	if c.newStatus() {
		if c.head, err = k.head(after); err != nil {
			return err
		}
		c.at = after.TaskInfo().At.UnixNano()
	}
	if u.Call != nil {
		if c.request, err = k.request(u.Call.Request); err != nil {
			return err
		}
	}
	if u.Ticket != nil {
		if c.ticket, err = k.request(u.Ticket.Request); err != nil {
			return err
		}
	}
	if u.Push != nil {
		c.config, err = encodePush(u.Push)
	}
	return err
}

// encodeEvents makes the rows of the log, and applies the events to the task.
func (c *change) encodeEvents(k *codec, task runtime.Task) error {
	if c.new != nil {
		if err := c.append(k, c.new.Task, nil, c.new.Size); err != nil {
			return err
		}
	}
	for i := range c.changes {
		one := &c.changes[i]
		if err := c.append(k, one.Event, one.Messages, one.SizeOf()); err != nil {
			return err
		}
		if err := task.Apply(one.Event); err != nil {
			return fmt.Errorf("%w: %w", store.ErrUnfit, err)
		}
	}
	return nil
}

// append adds an event to the log.
func (c *change) append(k *codec, e runtime.Event, messages []runtime.Message, size store.Size) error {
	if c.rules.Events == nil {
		c.rules.Events = make([]taskstate.Event, 0, len(c.changes)+1)
	}
	info := e.EventInfo()
	c.rules.Events = append(c.rules.Events, taskstate.Event{Kind: info.Kind, State: info.State, Size: taskstate.Size(size)})
	if n := len(c.log); n == 0 || c.log[n-1].messages != nil {
		c.log = append(c.log, entry{})
	}
	last := &c.log[len(c.log)-1]
	if err := last.add(k, e, len(c.changes)); err != nil {
		return err
	}
	var err error
	last.messages, err = k.messages(messages)
	return err
}

// newStatus reports whether the change brings a status: the first one, or an update of it.
func (c *change) newStatus() bool {
	return slices.ContainsFunc(c.rules.Events, func(e taskstate.Event) bool { return e.Kind != runtime.EventArtifact })
}

// artifacts is how many the task has after the change.
func (c *change) artifacts() int {
	if c.new != nil {
		return c.new.Artifacts()
	}
	return c.u.Artifacts(c.r.task)
}
