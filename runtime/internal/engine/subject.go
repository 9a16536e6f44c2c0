package engine

import (
	"log/slog"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/observing"
)

// Subject is what a request is about, as far as that is known: for the log and for observers.
type Subject struct {
	Skill, Task, Context, Tenant string
	State                        runtime.State // of the task that a message is answered with; of a stream it is not known
}

// Observers are those of the engine.
func (e *Engine) Observers() *observing.Group { return &e.observers }

// Operation is what the newest version calls the operation; "" when it is not known.
func (r *Request) Operation() string {
	if r.Op == nil {
		return ""
	}
	return r.e.protocol.NameOf(r.Op)
}

// Logger returns the logger with what is known of the request. It is for rare events: attributes cost time.
func (r *Request) Logger() *slog.Logger {
	return r.e.logger.With(attributes("operation", r.Operation(), "skill", r.Subject.Skill, "task", r.Subject.Task,
		"caller", r.Caller.Principal())...)
}

// attributes are those of names and values that are not "".
func attributes(all ...string) (list []any) {
	for i := 0; i < len(all); i += 2 {
		if all[i+1] != "" {
			list = append(list, all[i], all[i+1])
		}
	}
	return list
}

// ofMessage notes the task that a message is for.
func (s *Subject) ofMessage(m runtime.Message) {
	if m != nil {
		info := m.MessageInfo()
		s.Task, s.Context = limit(info.TaskID, maxName), limit(info.ContextID, maxName)
	}
}

// ofResult notes what a message is answered with.
func (s *Subject) ofResult(result any) {
	switch v := result.(type) {
	case runtime.Task:
		info := v.TaskInfo()
		s.Task, s.Context = info.ID, info.ContextID
	case runtime.Message:
		s.Context = v.MessageInfo().ContextID
	}
}

// limit cuts a text of the client after n bytes.
func limit(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}
