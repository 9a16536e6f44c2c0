package server

import (
	"context"
	"log/slog"
	"slices"

	"github.com/a2agen/a2agen/runtime/observe"
)

// WithClients has open make the clients with which handlers call other agents: once, before the first handler runs.
// They are to have the observers, which are those that options after this one add, and one that logs. What open
// returns is called when the server has shut down; its error is that of [New]. Generated code calls it.
func WithClients(open func(observers []observe.Observer) (closeClients func(), err error)) Option {
	return func(o *options) {
		before := len(o.core.Observers)
		o.openClients = func(all *options) (func(), error) {
			return open(append(slices.Clone(all.core.Observers[before:]), callLog{all.core.Logger}))
		}
	}
}

// callLog logs the calls to other agents: those that fail at level info, because the handler decides what becomes of
// that, and the others at level debug.
type callLog struct{ logger *slog.Logger }

func (callLog) Begin(ctx context.Context, _ *observe.Activity) context.Context { return ctx }

func (l callLog) End(ctx context.Context, a *observe.Activity) {
	level, message := slog.LevelDebug, "called another agent"
	if a.Reason != "" {
		level, message = slog.LevelInfo, "a call to another agent failed"
	}
	attrs := []slog.Attr{slog.String("peer", a.Peer), slog.String("operation", a.Operation)}
	for _, known := range []slog.Attr{slog.String("skill", a.Skill), slog.String("task", a.Task), slog.String("reason", a.Reason)} {
		if known.Value.String() != "" {
			attrs = append(attrs, known)
		}
	}
	l.logger.LogAttrs(ctx, level, message, attrs...)
}

// CardChanged logs that an agent has another card than the one that its client was made of.
func (l callLog) CardChanged(ctx context.Context, c *observe.CardChange) {
	const message = "the card of an agent that is called changed: a2agen update clients takes it over"
	l.logger.LogAttrs(ctx, slog.LevelWarn, message, slog.String("agent", c.Agent), slog.String("peer", c.Peer),
		slog.Any("changes", c.Changes), slog.Bool("followed", c.Followed))
}

// closeClients closes the clients of the handlers.
func (s *Server) closeClients() {
	if s.disconnect != nil {
		s.disconnect()
	}
}
