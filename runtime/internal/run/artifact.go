package run

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/task"
)

// artifactWriter sends the pieces of one artifact for a [task.ArtifactWriter], which is in it. c.handle.mu guards the
// rest.
type artifactWriter struct {
	writer task.ArtifactWriter
	c      *call

	data    runtime.ArtifactData // what the next event says beside its parts
	part    [1]runtime.Part      // the chunk being sent; nobody keeps it
	unsent  runtime.Part         // the piece that waits for the next one; of kind PartUnknown: none
	event   sized                // of unsent, when the store has failed to take it
	fresh   bool                 // it is not older than the last tick
	sending bool                 // somebody waits for the store to take held
	started bool
	closed  bool
	err     error // why nothing can be written
}

func (v *view) OpenArtifact(a runtime.ArtifactData) *task.ArtifactWriter {
	w := &artifactWriter{c: (*call)(v), data: a, err: (*call)(v).r.content.checkMetadata(a.Metadata)}
	if len(a.Parts) > 0 {
		w.err = fmt.Errorf("artifact %q is to be written, but has parts already", a.Name)
	}
	w.writer = task.NewArtifactWriter(w)
	return &w.writer
}

// Part sends a piece; but for the first it waits for the next.
func (w *artifactWriter) Part(p runtime.Part) error {
	c := w.c
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	if err := w.ready(p); err != nil {
		return err
	}
	if !w.started {
		return w.send(p, false)
	}
	if err := w.flush(false); err != nil {
		return err
	}
	w.unsent, w.fresh = p, true
	if !slices.Contains(c.task.writers, w) {
		c.task.writers = append(c.task.writers, w)
	}
	c.task.scheduleFlush()
	return nil
}

// Last sends the last piece, whose event says so, and closes the artifact.
func (w *artifactWriter) Last(p runtime.Part) error {
	w.c.handle.mu.Lock()
	defer w.c.handle.mu.Unlock()
	if err := w.ready(p); err != nil {
		return err
	}
	if err := w.flush(false); err != nil {
		return err
	}
	w.closed = true
	return w.send(p, true)
}

// Close ends the artifact. If its last piece still waits, that one says so.
func (w *artifactWriter) Close() error {
	w.c.handle.mu.Lock()
	defer w.c.handle.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	if err := w.flush(true); err != nil {
		return err
	}
	return w.told()
}

// told is why nothing can be written, for the handler, which may go on without.
func (w *artifactWriter) told() error {
	w.c.task.pieceErr = nil
	return w.err
}

// ready reports why a piece cannot be sent. Callers must hold the lock of c.handle, here and below.
func (w *artifactWriter) ready(p runtime.Part) error {
	switch {
	case w.closed:
		return fmt.Errorf("artifact %q is closed", w.data.Name)
	case w.err != nil:
		return w.told()
	}
	if err := w.c.task.open(); err != nil {
		return err
	}
	w.part[0] = p
	return w.c.r.content.check(w.part[:])
}

// flush sends the piece that waits for the next one. One that the store fails to take stays, for the next try; when it
// refuses one, nothing more can be written.
func (w *artifactWriter) flush(last bool) error {
	t := &w.c.task
	switch ripe := w.ripe(last); {
	case ripe && w.c.r.durable.Load():
		if err := t.enqueue(w.take()); err != nil || !last {
			return err
		}
		return t.writePending()
	case !ripe && last:
		return t.writePending()
	case !ripe:
		return nil
	}
	w.sending = true
	out := t.writeOf(w.event, nil)
	err := t.commit(&out)
	w.sending = false
	w.answered(&out)
	return err
}

// ripe reports whether there is a piece to send, and makes its event.
func (w *artifactWriter) ripe(last bool) bool {
	if w.unsent.Kind == runtime.PartUnknown || w.sending {
		return false
	}
	if w.event.Event == nil {
		w.event = w.update(w.unsent, last)
	}
	return true
}

// take takes the piece that waits for the next one.
func (w *artifactWriter) take() piece {
	p := piece{w.event, w}
	w.unsent, w.event = runtime.Part{}, sized{}
	return p
}

// answered lets go of the piece that waits for the next one, unless the store has not answered.
func (w *artifactWriter) answered(out *write) {
	if out.outcome != unconfirmed {
		w.unsent, w.event, w.err = runtime.Part{}, sized{}, out.err
	}
}

// send sends a piece at once.
func (w *artifactWriter) send(p runtime.Part, last bool) error {
	t := &w.c.task
	if w.c.handle.version == 0 {
		if err := t.confirm(); err != nil {
			return err
		}
	}
	if !w.started {
		if err := t.artifactIDs.assign(t, &w.data); err != nil {
			return err
		}
	}
	if err := t.sayFirst(runtime.StateWorking, w.update(p, last)); err != nil {
		return err
	}
	w.started, w.data = true, runtime.ArtifactData{ID: w.data.ID, Append: true}
	return nil
}

func (w *artifactWriter) update(p runtime.Part, last bool) sized {
	w.part[0] = p
	data := w.data
	data.Parts, data.LastChunk = w.part[:], last
	return w.c.task.newArtifact(&data)
}

// artifactIDs are the ids of a task's artifacts that a call knows. An artifact's id is unique within the task (R305),
// which other calls have given artifacts to: those are looked up when this call gives its first, which is never before
// its turn. What an earlier attempt of the same call has given is not among them: the call gives the same ids again,
// and the first that it says of one replaces what there was.
type artifactIDs struct {
	filled bool
	made   int             // ids made by number
	others map[string]bool // ids of earlier calls' artifacts, and those that the handler chose
}

// fill looks up what is there already.
func (s *artifactIDs) fill(t *taskWriter) error {
	if s.filled {
		return nil
	}
	if t.work.Made > 0 {
		snap, err := t.c.r.Store.Get(t.c.r.Soon(), t.c.handle.key, store.View{History: new(int), Artifacts: true})
		if err != nil {
			return err
		}
		list := snap.Task.ArtifactList()
		for _, a := range list[:min(t.work.Made, len(list))] {
			s.add(a.ID)
		}
	}
	s.filled = true
	return nil
}

func (s *artifactIDs) add(id string) {
	if s.others == nil {
		s.others = map[string]bool{}
	}
	s.others[id] = true
}

func (s *artifactIDs) has(id string) bool {
	if s.others[id] {
		return true
	}
	n, err := strconv.Atoi(id[min(len(id), len(madeID)):])
	return err == nil && n > 0 && n <= s.made && id == numbered(n)
}

const madeID = "artifact-"

func numbered(n int) string { return madeID + strconv.Itoa(n) }

// assign gives an artifact of the task its id. One that goes on with an artifact that is not there begins it. Callers
// must hold the lock of the task.
func (s *artifactIDs) assign(t *taskWriter, a *runtime.ArtifactData) error {
	if err := s.fill(t); err != nil {
		return err
	}
	switch {
	case a.ID != "" && s.has(a.ID):
		return nil
	case s.made+len(s.others) >= runtime.MaxArtifacts-1: // the last is for the result
		return ErrTooManyArtifacts
	case a.ID == "":
		a.Append = false
		for a.ID == "" || s.others[a.ID] {
			s.made++
			a.ID = numbered(s.made)
		}
	default:
		a.Append = false
		s.add(a.ID)
	}
	return nil
}

// emit commits an artifact, or a piece of one, of the handler's.
func (t *taskWriter) emit(a runtime.ArtifactData) error {
	if len(a.Parts) == 0 {
		return errEmpty
	}
	t.c.handle.mu.Lock()
	defer t.c.handle.mu.Unlock()
	if err := t.ready(); err != nil {
		return err
	}
	if err := t.c.r.content.check(a.Parts); err != nil {
		return err
	}
	if err := t.artifactIDs.assign(t, &a); err != nil {
		return err
	}
	return t.sayFirst(runtime.StateWorking, t.newArtifact(&a))
}
