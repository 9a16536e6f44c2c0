package push

import (
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/news"
)

// difference returns what now has more than known, nil for nothing: its artifacts, then its status, so that the end
// comes last.
func (r *Receiver) difference(known, now runtime.Task) []runtime.Event {
	var had []runtime.ArtifactData
	if known != nil {
		had = known.ArtifactList()
	}
	info := now.TaskInfo()
	var events []runtime.Event
	for _, a := range news.Artifacts(had, now.ArtifactList()) {
		events = append(events, r.protocol.NewArtifact(info.ID, info.ContextID, a))
	}
	if known == nil || !sameStatus(known, now) {
		events = append(events, r.protocol.NewStatus(info.ID, info.ContextID, info.State, now.StatusMessage(), info.At))
	}
	return events
}

// sameStatus reports whether two states of a task have the same status: the state, its time and the message's id.
func sameStatus(a, b runtime.Task) bool {
	x, y := a.TaskInfo(), b.TaskInfo()
	m, n := a.StatusMessage(), b.StatusMessage()
	if x.State != y.State || !x.At.Equal(y.At) || (m == nil) != (n == nil) {
		return false
	}
	return m == nil || m.MessageInfo().ID == n.MessageInfo().ID
}

// learn notes that the functions took an event of a task that came as a whole, so that a repeat after an error goes on
// behind it. The lane is at work, so that nobody else looks at its task.
func (l *lane) learn(p *runtime.Protocol, task runtime.TaskInfo, e runtime.Event) {
	if l.task == nil {
		l.task = p.NewTask(task.ID, task.ContextID, task.At)
	}
	if l.task.Apply(e) != nil { // what is not known comes again
		l.task = nil
	}
}

// weigh counts what a lane knows of its task after a notification, and forgets the tasks longest unused when they are
// too large together. The caller holds mu.
func (r *Receiver) weigh(l *lane, a *arrival) {
	weight := int64(a.size)
	if l.task == nil {
		weight = 0
	}
	r.known += weight - l.weight
	l.weight = weight
	for e := r.order.Back(); e != nil && r.known > r.limits.Known; e = e.Prev() {
		if old := e.Value.(*lane); old.busy == nil {
			r.forget(old)
		}
	}
}

// forget lets the task of a lane go. The caller holds mu.
func (r *Receiver) forget(l *lane) {
	r.known -= l.weight
	l.task, l.weight = nil, 0
}
