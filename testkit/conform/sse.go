package conform

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// readEvents reads server-sent events until the stream ends, a bound is met, or until says that it is enough. The data of each
// becomes an element of x.events; what is wrong with the framing is in x.framing.
func (x *exchange) readEvents(body io.Reader, until func(*exchange) bool) {
	lines := bufio.NewReaderSize(io.LimitReader(body, maxBody+1), 64<<10)
	var data []string
	for {
		line, err := lines.ReadString('\n')
		x.body = append(x.body, line...)
		if len(x.body) > maxBody || len(x.events) > maxEvents {
			x.err = errTooLong
			return
		}
		ended := err != nil
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			data = x.readField(line, data)
		}
		if ended && data != nil {
			x.misframed("the last event has no empty line after it: readers drop it")
		}
		if data != nil && (line == "" || ended) {
			x.events = append(x.events, x.element(strings.Join(data, "\n")))
			data = nil
			if until != nil && until(x) {
				return
			}
		}
		if ended {
			x.closed = errors.Is(err, io.EOF)
			if !x.closed {
				x.err = err
			}
			return
		}
	}
}

// readField reads a line of an event.
func (x *exchange) readField(line string, data []string) []string {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "data":
		return append(data, value)
	case "", "event", "id", "retry":
	default:
		x.misframed("the line " + clean(line, 60) + " is no field of an event: readers ignore it")
	}
	return data
}

// misframed notes what is wrong with a stream.
func (x *exchange) misframed(problem string) {
	if len(x.framing) < maxFindings {
		x.framing = append(x.framing, problem)
	}
}

// element decodes the data of an event.
func (x *exchange) element(data string) streamed {
	v, err := decode([]byte(data))
	switch {
	case !utf8.ValidString(data):
		x.misframed("an event is not UTF-8")
	case err != nil:
		x.misframed("the data of an event: " + err.Error())
	}
	return streamed{raw: v}
}

// decoded returns the body of an answer that is one JSON value; nil if it is empty.
func (x *exchange) decoded() (any, bool) {
	if len(bytes.TrimSpace(x.body)) == 0 {
		return nil, true
	}
	v, err := decode(x.body)
	x.check("answer.json", err == nil, "%v", err)
	return v, err == nil
}
