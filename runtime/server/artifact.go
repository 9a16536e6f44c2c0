package server

import (
	"fmt"
	"unicode/utf8"

	"github.com/a2agen/a2agen/runtime"
)

// ArtifactWriter streams one artifact: every write is an event that clients see at once (R11). It is not safe for concurrent use.
type ArtifactWriter struct {
	t       *Task
	id      string
	name    string
	rest    []byte          // first bytes of a character whose end has not come yet
	part    [1]runtime.Part // the chunk being sent; nobody keeps it
	started bool
	closed  bool
}

// Stream starts an artifact that is written piece by piece. Close it.
func (t *Task) Stream(name string) *ArtifactWriter { return &ArtifactWriter{t: t, name: name} }

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
	if err := w.send(runtime.Text(string(text)), false); err != nil {
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
	if err := w.send(runtime.Text(s), false); err != nil {
		return 0, err
	}
	return len(s), nil
}

// Part sends a part of any kind as a chunk.
func (w *ArtifactWriter) Part(p runtime.Part) error { return w.send(p, false) }

// Close ends the artifact, with an empty text part unless bytes of a character are left. An artifact that nothing was written to never was.
func (w *ArtifactWriter) Close() error {
	if w.closed {
		return nil
	}
	if len(w.rest) == 0 && !w.started {
		w.closed = true
		return nil
	}
	err := w.send(runtime.Text(string(w.rest)), true) // an artifact update has at least one part (R305): here an empty one
	w.rest, w.closed = nil, true
	return err
}

func (w *ArtifactWriter) send(p runtime.Part, last bool) error {
	if w.closed {
		return fmt.Errorf("artifact %q is closed", w.name)
	}
	t := w.t
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	if err := t.ensure(runtime.StateWorking); err != nil {
		return err
	}
	if w.id == "" {
		w.id = t.artifactID()
	}
	w.part[0] = p
	data := runtime.ArtifactData{ID: w.id, Parts: w.part[:], Append: w.started, LastChunk: last}
	if !w.started {
		data.Name = w.name
	}
	if err := t.artifact(data); err != nil {
		return err
	}
	w.started = true
	return nil
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
