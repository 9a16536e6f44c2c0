package stored

import (
	"sync"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// Row is a decoded task. Its store changes it after a change was stored; readers share it.
type Row struct {
	N   int64
	Key store.Key

	Mu   sync.Mutex // guards what follows
	Meta Meta
	Task runtime.Task    // the whole of it
	Tail []*store.Record // of the last events; none if nobody has read any
	Gone bool            // dropped
}

// Meta is what a task has beside its content: what the rules know of it, and the rest of its row.
type Meta struct {
	taskstate.State
	Context  string
	Skill    string
	ClientID bool
	Trace    string
	At       int64 // time of the status
	Oldest   int64 // events up to this one are gone
	Charged  int64 // bytes that the account holds for it
	Asked    bool
	Input    []byte
	Saved    []byte
	// Log, Head and Body are bytes in the store: of the events, of the task's row, and of the last body.
	Log, Head, Body int64
	// Snapshot is the version of the body, 0 for none, and Since how many bytes of events came after it.
	Snapshot, Since int64
}

// NewMeta is that of a task to be created.
func NewMeta(n *store.New) Meta {
	p := &n.Private
	return Meta{
		Context: n.Task.TaskInfo().ContextID, Skill: p.Skill, ClientID: p.ClientID, Trace: p.Trace, Asked: p.Asked,
		Input: p.Input, Saved: p.Saved,
	}
}

// Private is what the agent keeps with the task.
func (m *Meta) Private() store.Private {
	return store.Private{Skill: m.Skill, Input: m.Input, Saved: m.Saved, Asked: m.Asked, ClientID: m.ClientID, Trace: m.Trace}
}

// PrivateBytes is how long what is private is.
func (m *Meta) PrivateBytes() int { return len(m.Input) + len(m.Saved) + len(m.Trace) }

// beside is how many bytes the task takes for its log: a frame for each event that is kept after the task itself, whose
// content is that of the task, or what it has in the store beyond its content, if that is more.
func (m *Meta) beside(content int, version int64) int {
	frames := int(version-max(m.Oldest, 1)) * taskstate.EventFrame
	return max(frames, int(m.Log+m.Head+m.Body)-content)
}

// Holding is what the account holds for the task; nothing for one that does not exist.
func (m *Meta) Holding() taskstate.Holding {
	if m.Version == 0 {
		return taskstate.Holding{}
	}
	return taskstate.Holding{Tasks: 1, Bytes: m.Charged}
}

// Cost is about how much memory the decoded task takes.
func (m *Meta) Cost() int64 { return int64(2 * (m.Held() + m.PrivateBytes())) }

// Recount counts the content of a task anew: what was replaced counts no more.
func Recount(task runtime.Task) (c taskstate.Content) {
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

// Append adds a record to the tail. Callers must hold r.Mu.
func (r *Row) Append(rec *store.Record) {
	if len(r.Tail) >= 2*mostTail {
		r.Tail = append(make([]*store.Record, 0, 2*mostTail), r.Tail[mostTail:]...)
	}
	r.Tail = append(r.Tail, rec)
}

// Snapshot is the task as view asks. An ended task never changes again: the whole of it needs no copy. Callers must
// hold r.Mu.
func (r *Row) Snapshot(view *store.View) store.Snapshot {
	s := store.Snapshot{Version: r.Meta.Version, Private: r.Meta.Private(), Epoch: r.Meta.Epoch, Pushed: r.Meta.Pushes > 0}
	if view == nil {
		return s
	}
	s.Bytes = r.Meta.JSON(view.History == nil || *view.History > 0, view.Artifacts)
	s.Task = view.Of(r.Task, r.Meta.Version, r.Meta.Status.Terminal())
	return s
}

// Get is Snapshot for a view of a version, unless that is another one than the row's. Callers must hold r.Mu.
func (r *Row) Get(view *store.View) (snap store.Snapshot, ok bool, err error) {
	if r.Gone {
		return snap, false, store.ErrNotFound
	}
	if view.At != 0 && view.At != r.Meta.Version {
		return snap, false, nil
	}
	return r.Snapshot(view), true, nil
}

// Events returns records that are in memory; false: they must be read. Callers must hold r.Mu.
func (r *Row) Events(after int64, max int) (records []*store.Record, ok bool, err error) {
	switch {
	case r.Gone:
		return nil, false, store.ErrNotFound
	case after >= r.Meta.Version:
		return nil, true, nil
	case after < r.Meta.Oldest || after < 1:
		return nil, false, store.ErrTrimmed
	case len(r.Tail) == 0 || after < r.Tail[0].Seq-1:
		return nil, false, nil
	}
	records = r.Tail[after-r.Tail[0].Seq+1:] // they are consecutive
	if max > 0 && len(records) > max {
		records = records[:max]
	}
	return records[:len(records):len(records)], true, nil
}

// ToHead is what is known of the task without reading it.
func (m *Meta) ToHead() store.Head {
	return store.Head{
		Context: m.Context, State: m.Status, Version: m.Version, Epoch: m.Epoch, Calls: m.Calls, Done: m.Done,
		Skill: m.Skill, ClientID: m.ClientID, Trace: m.Trace,
	}
}
