package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/a2agen/a2agen/internal/sse"
)

// FormatError is a file that is no recording, or one that cannot be played.
type FormatError struct {
	File string
	Line int // from 1; 0: the whole file
	Err  error
}

// Error names file and line.
func (e *FormatError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns what is wrong.
func (e *FormatError) Unwrap() error { return e.Err }

var errMore = errors.New("there is more behind the value")

// recorded is an exchange of a recording.
type recorded struct {
	request frame
	line    int // of the request
	answer  *frame
	parts   []part // events and the end of a stream, or the end of a body
}

// part is a frame behind the head of an answer.
type part struct {
	frame
	after int // requests that were made before it
}

// recording is what a file has.
type recording struct {
	head      frame
	exchanges []*recorded
	seen      map[string]bool // names of ids → whether the client brought them up, rather than the agent
}

// load reads a recording from a file of at most max bytes.
func load(file string, max int) (*recording, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, int64(max)+1))
	if err != nil {
		return nil, err
	}
	if len(src) > max {
		err := fmt.Errorf("it has more than %d bytes: allow more by record.MaxBytes", max)
		return nil, &FormatError{File: file, Err: err}
	}
	rec := &recording{seen: map[string]bool{}}
	for line := 1; len(src) > 0; line++ {
		var text []byte
		text, src, _ = bytes.Cut(src, []byte("\n"))
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		d.DisallowUnknownFields()
		f := new(frame)
		err := d.Decode(f)
		if err == nil {
			if _, more := d.Token(); more != io.EOF {
				err = errMore
			}
		}
		if err != nil {
			err = fmt.Errorf("no line of a recording: %s", strings.TrimPrefix(err.Error(), "json: "))
		} else {
			err = rec.add(f, line)
		}
		if err != nil {
			return nil, &FormatError{File: file, Line: line, Err: err}
		}
	}
	if rec.head.Type == "" {
		return nil, &FormatError{File: file, Err: errors.New("it is empty")}
	}
	for _, x := range rec.exchanges {
		if !x.complete() {
			err := fmt.Errorf("request %d has no end: the file was cut", x.request.N)
			return nil, &FormatError{File: file, Line: x.line, Err: err}
		}
	}
	return rec, nil
}

// add takes the frame of a line.
func (rec *recording) add(f *frame, line int) error {
	if f.Type == typeRequest && !strings.HasPrefix(f.Path, "/") {
		return fmt.Errorf("the path %q, which does not begin with a slash", f.Path)
	}
	asked := f.Type == typeRequest
	f.each(func(at place, s string) string {
		if _, known := rec.seen[s]; !known && idKind(at) != "" && isName(s) {
			rec.seen[s] = asked
		}
		return s
	})
	if (rec.head.Type == "") != (f.Type == typeRecording) {
		if rec.head.Type == "" {
			return fmt.Errorf(`it is no recording: the first line is not {"type":"recording",…}`)
		}
		return errors.New("a second header")
	}
	switch f.Type {
	case typeRecording:
		if f.Format != Format {
			return fmt.Errorf("the recording has format %d, and this version of a2agen plays format %d: record again",
				f.Format, Format)
		}
		rec.head = *f
		return nil
	case typeRequest:
		if f.N != len(rec.exchanges)+1 {
			return fmt.Errorf("request %d where %d comes", f.N, len(rec.exchanges)+1)
		}
		rec.exchanges = append(rec.exchanges, &recorded{request: *f, line: line})
		return nil
	}
	if f.N < 1 || f.N > len(rec.exchanges) {
		return fmt.Errorf("a frame of request %d, which is not there", f.N)
	}
	x := rec.exchanges[f.N-1]
	answered := x.answer != nil
	switch {
	case f.Type != typeResponse && f.Type != typeEvent && f.Type != typeEnd:
		return fmt.Errorf("a frame of the unknown type %q", f.Type)
	case x.complete() && (f.Type != typeEnd || x.parts[len(x.parts)-1].Type == typeEnd):
		return fmt.Errorf("request %d has ended before", f.N)
	case f.Type == typeResponse && answered:
		return fmt.Errorf("request %d has an answer already", f.N)
	case f.Type == typeEvent && (!answered || !x.stream()):
		return fmt.Errorf("an event of request %d, whose answer is no stream", f.N)
	case f.Type == typeResponse && (f.Status < 100 || f.Status > 999):
		return fmt.Errorf("the status %d", f.Status)
	case f.Type == typeEnd && f.How != endCut && f.How != endLeft && (f.How != endUnreached || answered) && (f.How != "" || !answered):
		return fmt.Errorf("the end %q", f.How)
	}
	p := part{*f, len(rec.exchanges)}
	if f.Type == typeResponse {
		x.answer, p.frame = f, frame{Type: typeResponse}
	}
	x.parts = append(x.parts, p)
	return nil
}

// ofCard reports whether the request fetches a card.
func (x *recorded) ofCard() bool { return isCard(x.request.Method, x.request.Path) }

// stream reports whether the answer is one.
func (x *recorded) stream() bool { return sse.IsContentType(x.answer.Header["Content-Type"]) }

// complete reports whether nothing must follow.
func (x *recorded) complete() bool {
	n := len(x.parts)
	return n > 0 && x.parts[n-1].Type == typeEnd || x.answer != nil && !x.stream()
}
