package sqlite

import (
	"sync"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// row is a decoded task. The writer changes it after a change was committed; readers share it.
type row struct {
	n   int64
	key store.Key

	mu   sync.Mutex
	meta meta
	task runtime.Task    // the whole of it
	tail []*store.Record // of the last events; none if nobody has read any
	gone bool            // dropped
}

// meta is what a task has beside its content: what the rules know of it, and the rest of its row.
type meta struct {
	taskstate.State
	context  string
	skill    string
	clientID bool
	trace    string
	at       int64 // time of the status
	oldest   int64 // events up to this one are gone
	charged  int64 // bytes that the account holds for it
	asked    bool
	input    []byte
	saved    []byte
	// log, head and body are bytes in the file: of the events, of the task's row, and of the last body.
	log, head, body int64
	// snapshot is the version of the body, 0 for none, and since how many bytes of events came after it.
	snapshot, since int64
}

// eventBytes is what an event takes in the file beside its content, indexes included: measured and rounded up.
const eventBytes = 64

func (m *meta) private() store.Private {
	return store.Private{Skill: m.skill, Input: m.input, Saved: m.saved, Asked: m.asked, ClientID: m.clientID, Trace: m.trace}
}

// privateBytes is how long what is private is.
func (m *meta) privateBytes() int { return len(m.input) + len(m.saved) + len(m.trace) }

// beside is how many bytes the task takes for its log: a frame for each event that is kept after the task itself, whose
// content is that of the task, or what it has in the file beyond its content, if that is more.
func (m *meta) beside(content int, version int64) int {
	frames := int(version-max(m.oldest, 1)) * taskstate.EventFrame
	return max(frames, int(m.log+m.head+m.body)-content)
}

// recount counts the content of a task anew: what was replaced counts no more.
func recount(task runtime.Task) (c taskstate.Content) {
	size := func(m runtime.Message) taskstate.Size { return taskstate.Size(store.SizeOfMessage(m, m.Contents())) }
	for _, m := range task.HistoryList() {
		c.Messages = c.Messages.Plus(size(m))
	}
	if m := task.StatusMessage(); m != nil {
		c.LastStatus = size(m)
		c.Messages = c.Messages.Plus(c.LastStatus)
	}
	c.Artifacts = recountArtifacts(task)
	return c
}

func recountArtifacts(task runtime.Task) (size taskstate.Size) {
	for _, a := range task.ArtifactList() {
		size = size.Plus(taskstate.Size(store.SizeOfArtifact(&a)))
	}
	return size
}

// mostTail is how many records at least are kept in memory for readers, which share what was encoded for one of them.
const mostTail = 64

// append adds a record to the tail. Callers must hold r.mu.
func (r *row) append(rec *store.Record) {
	if len(r.tail) >= 2*mostTail {
		r.tail = append(make([]*store.Record, 0, 2*mostTail), r.tail[mostTail:]...)
	}
	r.tail = append(r.tail, rec)
}

// snapshot is the task as view asks. An ended task never changes again: the whole of it needs no copy. Callers must
// hold r.mu.
func (r *row) snapshot(view *store.View) store.Snapshot {
	s := store.Snapshot{Version: r.meta.Version, Private: r.meta.private(), Epoch: r.meta.Epoch, Pushed: r.meta.Pushes > 0}
	if view == nil {
		return s
	}
	s.Bytes = r.meta.JSON(view.History == nil || *view.History > 0, view.Artifacts)
	if view.History == nil && view.Artifacts && r.meta.Status.Terminal() {
		s.Task = r.task
	} else {
		s.Task = r.task.View(view.History, view.Artifacts)
	}
	return s
}

func (r *row) head() store.Head {
	m := &r.meta
	return store.Head{
		Context: m.context, State: m.Status, Version: m.Version, Epoch: m.Epoch, Calls: m.Calls, Done: m.Done,
		Running: m.Runner != 0, Skill: m.skill, ClientID: m.clientID, Trace: m.trace,
	}
}
