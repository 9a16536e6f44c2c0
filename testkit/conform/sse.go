package conform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/a2agen/a2agen/internal/sse"
)

// readEvents reads server-sent events until the stream ends, a bound is met, or until says that it is enough. The data of each
// becomes an element of x.events; what is wrong with the framing is in x.framing.
func (x *exchange) readEvents(body io.Reader, until func(*exchange) bool) error {
	var read bytes.Buffer
	events := sse.NewReader(io.TeeReader(io.LimitReader(body, maxBody+1), &read), maxBody)
	defer func() {
		// The reader ignores lines that are no fields, as readers have to.
		for line := range bytes.Lines(x.body) {
			line = bytes.TrimRight(line, "\r\n")
			name, _, _ := bytes.Cut(line, []byte(":"))
			if !slices.Contains([]string{"", "data", "event", "id", "retry"}, string(name)) {
				x.misframed("the line " + clean(string(line), 60) + " is no field of an event: readers ignore it")
			}
		}
	}()
	for {
		e, err := events.Next()
		x.body = read.Bytes()
		switch {
		case len(x.body) > maxBody || len(x.events) > maxEvents:
			return errTooLong
		case errors.Is(err, io.EOF):
			x.closed = true
			return nil
		case err != nil:
			return err
		case e.Unfinished:
			x.misframed("the last event has no empty line after it: readers drop it")
		}
		v, err := decode(e.Data)
		if err != nil {
			x.misframed(fmt.Sprintf("the data of an event: %v", err))
		}
		s := streamed{raw: v}
		if x.read != nil {
			x.read(&s)
		}
		x.events = append(x.events, s)
		if until != nil && until(x) {
			return nil
		}
	}
}

// misframed notes what is wrong with a stream.
func (x *exchange) misframed(problem string) {
	if len(x.framing) < maxFindings {
		x.framing = append(x.framing, problem)
	}
}
