package run

import (
	"fmt"
	"unicode/utf8"

	"github.com/a2agen/a2agen/runtime"
)

// ArtifactWriter streams one artifact: every write is an event. The first piece goes to the clients at once; each
// further one is held back until the next or Close comes, or for a moment, so that the last piece can say that it is
// the last (decision 011). It is not safe for concurrent use.
type ArtifactWriter struct {
	c    *call
	rest []byte // first bytes of a character whose end has not come yet

	// Guarded by the lock of c.handle.
	data    runtime.ArtifactData // what the next event says beside its parts
	part    [1]runtime.Part      // the chunk being sent; nobody keeps it
	held    runtime.Part         // the piece that is held back; of kind PartUnknown: none
	event   sized                // of held, when the store has failed to take it
	fresh   bool                 // it is held back since the last tick
	sending bool                 // somebody waits for the store to take held
	started bool
	closed  bool
	err     error // why nothing can be written
}

// Stream starts an artifact that is written piece by piece. Close it.
func (t *Task) Stream(name string) *ArtifactWriter {
	return t.StreamArtifact(runtime.ArtifactData{Name: name})
}

// StreamArtifact is Stream with all that an artifact can have, as [Task.Emit] takes it, but without parts: they are
// what is written.
func (t *Task) StreamArtifact(a runtime.ArtifactData) *ArtifactWriter {
	c := t.c
	w := &ArtifactWriter{c: c, data: a, err: c.r.content.checkMetadata(a.Metadata)}
	if len(a.Parts) > 0 {
		w.err = fmt.Errorf("artifact %q is to be written, but has parts already", a.Name)
	}
	return w
}

// Write sends p as a text chunk. A character cut in two is sent with its second half.
func (w *ArtifactWriter) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	text := p
	if len(w.rest) > 0 {
		text = append(w.rest, p...)
		w.rest = nil
	}
	if cut := incomplete(text); cut > 0 {
		w.rest = append([]byte(nil), text[len(text)-cut:]...)
		text = text[:len(text)-cut]
	}
	if len(text) == 0 {
		return len(p), nil
	}
	if err := w.Part(runtime.Text(string(text))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// WriteString is Write for a string.
func (w *ArtifactWriter) WriteString(s string) (int, error) {
	if len(w.rest) > 0 || incomplete(s) > 0 {
		return w.Write([]byte(s))
	}
	if s == "" {
		return 0, nil
	}
	if err := w.Part(runtime.Text(s)); err != nil {
		return 0, err
	}
	return len(s), nil
}

// Part sends a part of any kind as a chunk.
func (w *ArtifactWriter) Part(p runtime.Part) error {
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
	w.held, w.fresh = p, true
	c.task.hold(w)
	return nil
}

// Last sends p as the last chunk, whose event says so, and closes the artifact.
func (w *ArtifactWriter) Last(p runtime.Part) error {
	w.c.handle.mu.Lock()
	defer w.c.handle.mu.Unlock()
	if err := w.ready(p); err != nil {
		return err
	}
	if err := w.flush(false); err != nil {
		return err
	}
	w.closed, w.rest = true, nil
	return w.send(p, true)
}

// Close ends the artifact. If its last piece is still held back, that one says so; if it has gone out already, the end
// is not announced, and clients learn it from the task's status. An artifact that nothing was written to never was.
func (w *ArtifactWriter) Close() error {
	if rest := w.rest; len(rest) > 0 {
		return w.Last(runtime.Text(string(rest)))
	}
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
func (w *ArtifactWriter) told() error {
	w.c.task.lost = nil
	return w.err
}

// ready reports why a piece cannot be sent. The caller holds the lock of c.handle, here and below.
func (w *ArtifactWriter) ready(p runtime.Part) error {
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
	return w.c.task.check(w.part[:])
}

// flush sends the piece that is held back. One that the store fails to take stays, for the next try; when it refuses
// one, nothing more can be written.
func (w *ArtifactWriter) flush(last bool) error {
	if !w.ripe(last) {
		return nil
	}
	w.sending = true
	out := w.c.task.writeOf(w.event, nil)
	err := w.c.task.commit(&out)
	w.sending = false
	w.answered(&out)
	return err
}

// ripe reports whether there is a piece to send, and makes its event.
func (w *ArtifactWriter) ripe(last bool) bool {
	if w.held.Kind == runtime.PartUnknown || w.sending {
		return false
	}
	if w.event.Event == nil {
		w.event = w.update(w.held, last)
	}
	return true
}

// answered lets go of the piece that is held back, unless the store has not answered.
func (w *ArtifactWriter) answered(out *write) {
	if out.outcome != unconfirmed {
		w.held, w.event, w.err = runtime.Part{}, sized{}, out.err
	}
}

// send sends a piece at once.
func (w *ArtifactWriter) send(p runtime.Part, last bool) error {
	c := w.c
	if c.handle.version == 0 {
		if err := c.task.create(runtime.StateWorking); err != nil {
			return err
		}
	}
	if !w.started {
		if err := c.task.place(&w.data); err != nil {
			return err
		}
	}
	if err := c.task.say(w.update(p, last), nil); err != nil {
		return err
	}
	w.started, w.data = true, runtime.ArtifactData{ID: w.data.ID, Append: true}
	return nil
}

func (w *ArtifactWriter) update(p runtime.Part, last bool) sized {
	w.part[0] = p
	data := w.data
	data.Parts, data.LastChunk = w.part[:], last
	return w.c.task.newArtifact(&data)
}

// incomplete returns how many bytes at the end of text are the beginning of a character.
func incomplete[T string | []byte](text T) int {
	for i := 1; i <= min(utf8.UTFMax-1, len(text)); i++ {
		c := text[len(text)-i]
		if c < utf8.RuneSelf {
			return 0
		}
		if utf8.RuneStart(c) {
			if utf8.FullRuneInString(string(text[len(text)-i:])) {
				return 0
			}
			return i
		}
	}
	return 0
}
