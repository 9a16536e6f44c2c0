package server

import (
	"net/http"

	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// WithTransport has connections and calls of another transport answered: see package grpcserver, whose Serve is such an
// option. make gets what the transport needs of the server.
func WithTransport(make func(*binding.Agent, *binding.Policy) (binding.Transport, error)) Option {
	return func(o *options) { o.transport = make }
}

// routes is a binding whose operations are paths below a URL: HTTP+JSON.
type routes interface {
	// Serve answers a request. rest is what follows the path of the interface, encoded.
	Serve(w http.ResponseWriter, r *http.Request, rest string)
	// Methods are those that a path below that of the interface has.
	Methods(rest string) []string
}

// withREST serves HTTP+JSON. Only [New] refers to it.
func withREST(o *options) {
	o.newHTTP = func(a *binding.Agent) routes { return binding.NewREST(a) }
}
