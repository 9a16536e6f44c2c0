package store

import "github.com/a2agen/a2agen/runtime"

// What things need in memory beside their content, measured and rounded up.
const (
	rowBytes    = 1184 // a task in the index
	partBytes   = 128  // a part
	recordBytes = 256  // an event in the log
)

// slack is by how much a task may grow before the index is told: it is not worth a lock for every chunk of text.
const slack = 4 << 10

// About how long the parts of JSON are that have no content of their own: names, ids and punctuation.
const (
	messageFrame  = 256
	artifactFrame = 128
	partFrame     = 32
)

// SizeOfParts is the size of parts on their own, as a chunk brings them.
func SizeOfParts(parts []runtime.Part) Size {
	s := Size{Parts: len(parts)}
	for i := range parts {
		p := &parts[i]
		s.Bytes += partFrame + len(p.Text) + (len(p.Raw)+2)/3*4 + len(p.URL) + len(p.Data) + len(p.Filename) + len(p.MediaType) + len(p.Metadata)
	}
	return s
}

// SizeOfArtifact is the size of an artifact update: of a chunk, only that of its parts.
func SizeOfArtifact(a *runtime.ArtifactData) Size {
	s := SizeOfParts(a.Parts)
	if !a.Append {
		s.Bytes += artifactFrame + len(a.ID) + len(a.Name) + len(a.Description) + len(a.Metadata) + sizeOfList(a.Extensions)
	}
	return s
}

// SizeOfMessage is the size of a message with its parts.
func SizeOfMessage(m runtime.Message, parts []runtime.Part) Size {
	s, info := SizeOfParts(parts), m.MessageInfo()
	s.Bytes += messageFrame + len(info.ID) + len(info.ContextID) + len(info.TaskID) + len(info.Metadata) + sizeOfList(info.Extensions) + sizeOfList(info.References)
	return s
}

// SizeOf is the size of what an update adds to its task. It copies the heads of the parts: who has them at hand is
// faster with the functions above.
func SizeOf(e runtime.Event, messages []runtime.Message) (s Size) {
	switch e := e.(type) {
	case runtime.ArtifactUpdate:
		a := e.ArtifactUpdate()
		s = SizeOfArtifact(&a)
	case runtime.StatusUpdate:
		if m := e.StatusMessage(); m != nil {
			s = SizeOfMessage(m, m.Contents())
		}
	}
	for _, m := range messages {
		s = s.plus(SizeOfMessage(m, m.Contents()))
	}
	return s
}

func sizeOfList(list []string) int {
	n := 16 * len(list)
	for _, s := range list {
		n += len(s)
	}
	return n
}

func (s Size) plus(o Size) Size { return Size{s.Bytes + o.Bytes, s.Parts + o.Parts} }

// held is the memory that content of the size takes.
func (s Size) held() int { return s.Bytes + s.Parts*partBytes }

// size is what a task consists of. What was replaced still counts, until the task is counted anew.
type size struct {
	said   Size // messages: the history's and that of the status
	status Size // of said: what came with the last status
	made   Size // artifacts
}

// with is the size after an update.
func (s size) with(u *Update, kind runtime.EventKind) size {
	if kind == runtime.EventStatus {
		s.said, s.status = s.said.plus(u.Size), u.Size
	} else {
		s.made = s.made.plus(u.Size)
	}
	return s
}

func (p *Private) size() int { return len(p.Input) + len(p.Saved) + len(p.Trace) }

// held is the memory that a task of the size takes, with its private state and its log.
func (s *size) held(p *Private, l *eventLog) int {
	n := rowBytes + s.said.held() + s.made.held() + p.size()
	if l != nil {
		n += l.size()
	}
	return n
}

// of returns about how long a view of the task is as JSON.
func (s *size) of(v View) int {
	n := rowBytes + s.status.Bytes
	if v.History == nil || *v.History > 0 {
		n = rowBytes + s.said.Bytes
	}
	if v.Artifacts {
		n += s.made.Bytes
	}
	return n
}

// admit finds room for what the task is going to be, or says why there is none. An update that ends the task with few
// words always has room.
func (r *row) admit(u *Update, info runtime.EventInfo, p *Private) (size, error) {
	m := r.store()
	next, grown := r.grown(u, info.Kind, p)
	last := info.State.Terminal() && u.Size.held() <= LastWords
	if grown > m.limits.TaskBytes && !last {
		r.recount()
		if next, grown = r.grown(u, info.Kind, p); grown > m.limits.TaskBytes {
			return next, ErrTooLarge
		}
	}
	if more := grown - r.charged; info.Kind != runtime.EventStatus && -slack < more && more < slack {
		return next, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.reserve(r, grown, last) {
		return next, ErrFull
	}
	return next, nil
}

// grown returns the size after an update, and the memory that it takes then.
func (r *row) grown(u *Update, kind runtime.EventKind, p *Private) (size, int) {
	next := r.size.with(u, kind)
	if r.unread(u) {
		return next, next.held(p, nil)
	}
	return next, next.held(p, r.log) + recordBytes
}

// recount makes the most of a full task: it forgets the log, whose readers get the task anew, and counts the artifacts,
// some of which may have been replaced.
func (r *row) recount() {
	if r.counted == r.version {
		return
	}
	r.counted = r.version
	r.log = nil
	r.size.made = Size{}
	for _, a := range r.task.ArtifactList() {
		r.size.made = r.size.made.plus(SizeOfArtifact(&a))
	}
	m := r.store()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.charge(r, holding{bytes: r.size.held(&r.private, nil) - r.charged})
}

// reserve charges r for the memory that it is going to take, if there is room or it has to be found.
func (m *Memory) reserve(r *row, bytes int, must bool) bool {
	more := holding{bytes: bytes - r.charged}
	if more.bytes > 0 && !m.makeRoom(r.account, r, more) && !must {
		return false
	}
	m.charge(r, more)
	return true
}

// settle charges r for the encoded events that its readers keep, or drops those when there is no room. The caller holds
// its lock.
func (r *row) settle() {
	now := r.size.held(&r.private, r.log)
	if now-r.charged < slack {
		return
	}
	m := r.store()
	m.mu.Lock()
	defer m.mu.Unlock()
	if now > m.limits.TaskBytes || !m.reserve(r, now, false) {
		r.log.forget()
		m.charge(r, holding{bytes: r.size.held(&r.private, r.log) - r.charged})
	}
}
