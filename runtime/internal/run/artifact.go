package run

import (
	"fmt"

	"github.com/a2agen/a2agen/runtime"
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
	w.flushLater()
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
