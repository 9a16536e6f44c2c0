package binding

import (
	"log/slog"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// logs reports whether calls are logged.
func (q *Request) logs() bool {
	return !q.Agent.NoCallLog && q.Agent.Logger.Enabled(q.Context, slog.LevelInfo)
}

// log writes the line of a call that is over, unless its denial was logged.
func (q *Request) log(a *served) {
	if a.refused {
		return
	}
	attrs := make([]slog.Attr, 0, 10)
	add := func(name, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(name, value))
		}
	}
	add("operation", a.Operation)
	add("skill", a.Skill)
	add("task", a.Task)
	add("caller", a.Caller.Principal())
	if q.Subject.State != runtime.StateUnspecified {
		add("state", q.Subject.State.String())
	}
	if a.Reason == "" {
		add("outcome", "ok")
	} else {
		add("outcome", a.Reason)
	}
	attrs = append(attrs, slog.Duration("took", time.Since(a.Begun)))
	if q.Agent.Logger.Enabled(q.Context, slog.LevelDebug) {
		add("binding", a.Binding)
		add("version", a.Version)
		add("context", a.Context)
	}
	q.Agent.Logger.LogAttrs(q.Context, slog.LevelInfo, "request", attrs...)
}
