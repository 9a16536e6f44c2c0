package push

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// Notification is what one request says beside the event. Senders other than a2agen's leave ID, Config and the numbers
// empty.
type Notification struct {
	ID                string // the same on every repeat of the notification
	TaskID, ContextID string
	Config            string // id of the configuration
	First, Last       uint64 // numbers of the events in the task's log: more than one where chunks travel merged
	Numbered          bool   // First and Last are there
	Version           string // of the protocol, "1.0"
	Task              any    // the whole task (*a2a.Task) where that is what came; else nil
	Late              bool   // it came after those behind it
	task              runtime.Task
}

// longest is how long an id in a header may be, in bytes.
const longest = 1024

// readHeaders takes over what the headers say.
func (n *Notification) readHeaders(h http.Header) error {
	for _, x := range []struct {
		name    string
		to      *string
		escaped bool
	}{
		{runtime.PushIDHeader, &n.ID, false},
		{runtime.PushTaskHeader, &n.TaskID, true},
		{runtime.PushConfigHeader, &n.Config, true},
	} {
		values := h.Values(x.name)
		if len(values) == 0 {
			continue
		}
		v, err := values[0], error(nil)
		if x.escaped {
			v, err = url.PathUnescape(v)
		}
		if err != nil || len(values) > 1 || v == "" || len(v) > longest {
			return refuse(http.StatusBadRequest, "the header %s is not one id", x.name)
		}
		*x.to = v
	}
	return n.readSequence(h.Values(runtime.PushSequenceHeader))
}

// readSequence reads "7", or "7-9".
func (n *Notification) readSequence(values []string) error {
	if len(values) == 0 {
		return nil
	}
	first, last, ranged := strings.Cut(values[0], "-")
	if !ranged {
		last = first
	}
	var e1, e2 error
	n.First, e1 = number(first)
	n.Last, e2 = number(last)
	if e1 != nil || e2 != nil || len(values) > 1 || ranged && n.First >= n.Last {
		return refuse(http.StatusBadRequest,
			"the header %s is neither a number nor a range of numbers", runtime.PushSequenceHeader)
	}
	n.Numbered = true
	return nil
}

// number reads a decimal number of digits only, far enough from the largest to count on.
func number(s string) (uint64, error) {
	if strings.HasPrefix(s, "+") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseUint(s, 10, 63)
}

// errUnknown says that a notification is of a kind that came with a later version.
var errUnknown = runtime.ErrUnknownEvent

// read decodes the body and completes the notification by what it says.
func (r *Receiver) read(h http.Header, body []byte) (*Notification, runtime.Event, error) {
	n := &Notification{}
	if err := n.readHeaders(h); err != nil {
		return nil, nil, err
	}
	e, version, err := r.decode(h.Get("A2A-Version"), body)
	switch {
	case errors.Is(err, errUnknown):
		return n, nil, nil
	case err != nil:
		return nil, nil, refuse(http.StatusBadRequest, "the body is no notification: %v", err)
	}
	info := e.EventInfo()
	if info.TaskID == "" && info.Kind != runtime.EventMessage {
		return nil, nil, refuse(http.StatusBadRequest, "the body is no notification: it names no task")
	}
	if n.TaskID != "" && info.TaskID != "" && n.TaskID != info.TaskID {
		return nil, nil, refuse(http.StatusBadRequest,
			"the body is of another task than the header %s says", runtime.PushTaskHeader)
	}
	if info.TaskID != "" {
		n.TaskID = info.TaskID
	}
	n.ContextID, n.Version = info.ContextID, version.Name
	if task, ok := e.(runtime.Task); ok {
		n.task, n.Task = task, task.Generated()
		if task.TaskInfo().Artifacts > runtime.MaxArtifacts {
			return nil, nil, refuse(http.StatusRequestEntityTooLarge,
				"the task has more than %d artifacts", runtime.MaxArtifacts)
		}
	}
	return n, e, nil
}

// decode reads a body of the named version or, from senders that name none of ours, of the newest one that can be read.
func (r *Receiver) decode(name string, body []byte) (runtime.Event, *runtime.Version, error) {
	var first error
	for _, v := range r.versions(name) {
		e, err := decodeAs(v, body)
		if err == nil {
			return e, v, nil
		}
		if first == nil || errors.Is(first, errUnknown) {
			first = err
		}
	}
	return nil, nil, first
}

// versions returns the version of a name, of which only Major.Minor counts (A2A 1.0 §3.6), or else all.
func (r *Receiver) versions(name string) []*runtime.Version {
	for i, v := range r.protocol.Versions {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(name), v.Name); ok && (rest == "" || rest[0] == '.') {
			return r.protocol.Versions[i : i+1]
		}
	}
	return r.protocol.Versions
}

// decodeAs reads a body as a version has it: a stream item, or a task where notifications are whole tasks. Some senders
// have stream items there, too.
func decodeAs(v *runtime.Version, body []byte) (runtime.Event, error) {
	var first error
	if v.Rules.PushTask {
		task, err := readTask(v, body)
		if err == nil {
			return task, nil
		}
		first = err
	}
	e, err := v.ReadEvent(body)
	switch {
	case err == nil:
		return e, nil
	case first != nil:
		return nil, first
	}
	return nil, err
}

func readTask(v *runtime.Version, body []byte) (runtime.Task, error) {
	for _, op := range v.Operations {
		if op.Role != runtime.RoleGet {
			continue
		}
		x, err := op.Read(body)
		if err != nil {
			return nil, err
		}
		if task, ok := x.(runtime.Task); ok {
			return task, nil
		}
	}
	return nil, fmt.Errorf("version %s has no tasks", v.Name)
}
