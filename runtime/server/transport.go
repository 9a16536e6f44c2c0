package server

import (
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
	"github.com/a2agen/a2agen/runtime/server/internal/listen"
	"github.com/a2agen/a2agen/runtime/server/internal/origin"
)

// WithTransport has connections and calls of another transport answered: see package grpcserver, whose Serve is such an
// option. make gets what the transport needs of the server.
func WithTransport(make func(*binding.Agent, *origin.Policy) (listen.Transport, error)) Option {
	return func(o *options) { o.transport = make }
}
