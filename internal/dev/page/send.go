package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// stall is how long a reader of the live feed may take nothing.
const stall = 30 * time.Second

// sender writes server-sent events.
type sender struct {
	w       http.ResponseWriter
	control *http.ResponseController
	err     error // the reader is gone
}

func (s *sender) write(format string, args ...any) {
	if s.err == nil {
		_ = s.control.SetWriteDeadline(time.Now().Add(stall)) // not every writer has deadlines
		_, s.err = fmt.Fprintf(s.w, format, args...)
	}
}

func (s *sender) send(seq int64, kind string, what any) {
	data, err := json.Marshal(what)
	if err != nil {
		return // nothing that is sent fails
	}
	s.write("id: %d\nevent: %s\ndata: %s\n\n", seq, kind, data)
}

// comment shows the reader that the feed goes on.
func (s *sender) comment() {
	s.write(": \n\n")
	s.flush()
}

func (s *sender) flush() {
	if s.err == nil {
		s.err = s.control.Flush()
	}
}
