package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/server/internal/listen"
)

// WithTransport has connections and calls of another transport answered. make gets what the transport needs of the
// server.
func WithTransport(make func(*Host) (listen.Transport, error)) Option {
	return func(o *options) { o.transport = make }
}

// Host is the server as its transport sees it.
type Host struct{ s *Server }

// Versions returns the spoken versions, newest first.
func (h *Host) Versions() []*engine.Version { return h.s.engine.Versions() }

// Choose finds the version of a call: the one that it asks for or, if it names none, one that has what it asks for.
// An error is a *runtime.Error.
func (h *Host) Choose(asked string, has func(*engine.Version) bool) (*engine.Version, error) {
	v, err := h.s.engine.Choose(asked, has)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Call begins a call over a binding, which ends with ctx. header are its metadata, which stay as they are.
func (h *Host) Call(ctx context.Context, binding string, header map[string][]string) Call {
	return h.s.newCall(ctx, binding, header)
}

// Aside begins a call that is no operation of the protocol's, and that observers do not see.
func (h *Host) Aside(ctx context.Context, binding string) Call {
	c := Call{Request: h.s.engine.NewRequest(ctx), s: h.s}
	c.Binding = binding
	return c
}

// AllowHost refuses a call that came to an address of the agent, nil if it is not known, under the name of a host that is
// not one of the agent's.
func (h *Host) AllowHost(host string, local net.Addr) error {
	known, err := h.s.knowsHost(host, local)
	switch {
	case err != nil:
		return runtime.ErrInvalidRequest.With("%v", err)
	case !known:
		return runtime.ErrPermissionDenied.With("%s", unknownHost(host))
	}
	return nil
}

// AllowOrigin refuses a call that a web page of another origin has a browser make, unless the origin is trusted.
func (h *Host) AllowOrigin(r *http.Request) error {
	if h.s.origin.Check(r) != nil {
		return runtime.ErrPermissionDenied.With("%s", otherOrigin)
	}
	return nil
}

// AdmitStream counts an open stream that is none of a task. It refuses one too many. release counts it out.
func (h *Host) AdmitStream() (release func(), err error) { return h.s.engine.AdmitStream() }

// Limits returns the limits, none of which is zero.
func (h *Host) Limits() Limits { return h.s.limits }

// Logger returns the logger.
func (h *Host) Logger() *slog.Logger { return h.s.logger }

// Draining reports whether new work is refused, because the server shuts down.
func (h *Host) Draining() bool { return h.s.engine.Draining() }

// Received counts bytes of messages that have come, and are not read yet, in the budget of all. It reports whether they
// are within it. Released counts them out.
func (h *Host) Received(n int64) bool { return h.s.bodies.Add(n) }

// Released counts bytes out that [Host.Received] has counted in.
func (h *Host) Released(n int64) { h.s.bodies.Release(n) }

// Room reports whether there is any left in the budget of what is received.
func (h *Host) Room() bool { return h.s.bodies.Try(0) }

// Reserve takes bytes of a message from the budget before they are there. It is false when there are too few left.
// Released counts them out.
func (h *Host) Reserve(n int64) bool { return h.s.bodies.Try(n) }

// Patience is how long a message may take to come of which there are so many bytes.
func (h *Host) Patience(received int64) time.Duration { return h.s.patience(received) }

// ErrCrowded refuses a message that there is no room for.
func (h *Host) ErrCrowded() *runtime.Error { return errTooMany }
