package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
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

// note takes note of who brings up an id.
func (rec *recording) note(f *frame) {
	byClient := f.Type == typeRequest
	visit := func(at place, s string) string {
		if _, known := rec.seen[s]; !known && idKind(at) != "" && isName(s) {
			rec.seen[s] = byClient
		}
		return s
	}
	walk(f.Body, place{}, visit)
	if !byClient {
		return
	}
	for name, values := range parseQuery(f.Query) {
		for _, v := range values {
			visit(place{member: name}, v)
		}
	}
	segments := strings.Split(f.Path, "/")
	for i, s := range segments[1:] {
		id, _, _ := strings.Cut(s, ":")
		visit(place{member: memberBehind(segments[i])}, id)
	}
}

// load reads a file of at most max bytes.
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
	return parse(file, src)
}

// parse reads a recording.
func parse(file string, src []byte) (*recording, error) {
	rec := &recording{seen: map[string]bool{}}
	for line := 1; len(src) > 0; line++ {
		var text []byte
		text, src, _ = bytes.Cut(src, []byte("\n"))
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		f, err := readFrame(text)
		if err == nil {
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

// readFrame reads one line.
func readFrame(text []byte) (*frame, error) {
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
		return nil, fmt.Errorf("no line of a recording: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return f, nil
}

// add takes the frame of a line.
func (rec *recording) add(f *frame, line int) error {
	if f.Type == typeRequest && !strings.HasPrefix(f.Path, "/") {
		return fmt.Errorf("the path %q, which does not begin with a slash", f.Path)
	}
	rec.note(f)
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
	return rec.exchanges[f.N-1].add(f, len(rec.exchanges))
}

// add takes a frame behind the request. after is how many requests are before it.
func (x *recorded) add(f *frame, after int) error {
	switch {
	case f.Type != typeResponse && f.Type != typeEvent && f.Type != typeEnd:
		return fmt.Errorf("a frame of the unknown type %q", f.Type)
	case x.complete() && (f.Type != typeEnd || x.ended()):
		return fmt.Errorf("request %d has ended before", f.N)
	case f.Type == typeResponse && x.answer != nil:
		return fmt.Errorf("request %d has an answer already", f.N)
	case f.Type == typeEvent && (x.answer == nil || !x.stream()):
		return fmt.Errorf("an event of request %d, whose answer is no stream", f.N)
	case f.Type == typeResponse:
		if f.Status < 100 || f.Status > 999 {
			return fmt.Errorf("the status %d", f.Status)
		}
		x.answer = f
		x.parts = append(x.parts, part{frame{Type: typeResponse}, after})
		return nil
	case f.Type == typeEnd && !validEnd(f.How, x.answer != nil):
		return fmt.Errorf("the end %q", f.How)
	}
	x.parts = append(x.parts, part{*f, after})
	return nil
}

// validEnd reports whether an exchange can end in a way.
func validEnd(how string, answered bool) bool {
	switch how {
	case endCut, endLeft:
		return true
	case endUnreached:
		return !answered
	}
	return how == "" && answered
}

// ofCard reports whether the request fetches a card.
func (x *recorded) ofCard() bool { return isCard(x.request.Method, x.request.Path) }

// stream reports whether the answer is one.
func (x *recorded) stream() bool { return isEvents(x.answer.Header["Content-Type"]) }

// ended reports whether the last frame is an end.
func (x *recorded) ended() bool {
	n := len(x.parts)
	return n > 0 && x.parts[n-1].Type == typeEnd
}

// complete reports whether nothing must follow.
func (x *recorded) complete() bool {
	return x.ended() || x.answer != nil && !x.stream()
}
