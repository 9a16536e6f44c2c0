package task

import (
	"cmp"
	"unicode/utf8"

	"github.com/a2agen/a2agen/runtime"
)

// ArtifactWriter streams one artifact: every write is an event. The first piece goes to the clients at once; each
// further one waits until the next or Close comes, or for a moment, so that the last piece can say that it is the last
// (docs/decisions/09). Where tasks are kept in a file, further pieces are stored in the background (docs/decisions/08): why one
// could not be stored is told by the next call, or by Close. It is not safe for concurrent use.
type ArtifactWriter struct {
	pieces pieces
	rest   []byte // first bytes of a character whose end has not come yet
}

// pieces sends the pieces of an artifact.
type pieces interface {
	Part(p runtime.Part) error
	Last(p runtime.Part) error
	Close() error
}

// NewArtifactWriter makes the writer of an artifact. The server calls it.
func NewArtifactWriter(p pieces) ArtifactWriter { return ArtifactWriter{pieces: p} }

// Stream starts an artifact that is written piece by piece. Close it. more says what else the artifact has, as for
// [Task.Emit], without parts: they are what is written.
func (t *Task) Stream(name string, more ...runtime.ArtifactData) *ArtifactWriter {
	a := runtime.ArtifactData{}
	if len(more) > 0 {
		a = more[0]
	}
	a.Name = cmp.Or(name, a.Name)
	return t.run.OpenArtifact(a)
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
	if err := w.pieces.Part(runtime.Text(string(text))); err != nil {
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
	if err := w.pieces.Part(runtime.Text(s)); err != nil {
		return 0, err
	}
	return len(s), nil
}

// Part sends a part of any kind as a chunk.
func (w *ArtifactWriter) Part(p runtime.Part) error { return w.pieces.Part(p) }

// Last sends p as the last chunk, whose event says so, and closes the artifact.
func (w *ArtifactWriter) Last(p runtime.Part) error {
	w.rest = nil
	return w.pieces.Last(p)
}

// Close ends the artifact. If its last piece is still held back, that one says so; if it has gone out already, the end
// is not announced, and clients learn it from the task's status. An artifact that nothing was written to never was.
func (w *ArtifactWriter) Close() error {
	if rest := w.rest; len(rest) > 0 {
		return w.Last(runtime.Text(string(rest)))
	}
	return w.pieces.Close()
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
