package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// Endpoint answers requests at a path of its own in another protocol than A2A: see package mcpserver.
type Endpoint interface {
	http.Handler
	// Close ends all that is open, when the server has shut down.
	Close()
}

// EndpointHost is what an [Endpoint] has of its server.
type EndpointHost struct {
	Agent  *binding.Agent
	Skills []Skill // in the card's order, hidden ones among them
	// Call has the server answer a request of A2A for whoever sent another one: the credentials of sender are checked as
	// those of the request, over every binding over HTTP. It returns with the head of the answer.
	Call func(sender, r *http.Request) (*http.Response, error)
}

// endpointOption says which endpoint there is.
type endpointOption struct {
	path    string
	headers []string // that its requests have, for web pages
	open    func(EndpointHost) (Endpoint, error)
	start   func(*Server) error // nil: there is none
}

// WithEndpoint has requests at a path ("/mcp") answered by what open returns. It is for packages of the runtime.
// headers are those of the requests that web pages of trusted origins may set.
func WithEndpoint(path string, headers []string, open func(EndpointHost) (Endpoint, error)) Option {
	return func(o *options) { o.endpoint = endpointOption{path, headers, open, (*Server).openEndpoint} }
}

// openEndpoint makes the endpoint, and finds its paths: a proxy may pass the path of the public URL on, or strip it.
// [WithEndpoint] alone refers to it, so that no other agent links what calls it in its own process.
func (s *Server) openEndpoint() (err error) {
	o := s.endpoint
	s.paths.other = map[string]bool{o.path: true, s.cards.Base() + o.path: true}
	for at := range s.paths.other {
		if s.paths.rpc[at] {
			return fmt.Errorf("the card offers JSON-RPC at %q, where another protocol is served: give the interface another path", at)
		}
	}
	s.other, err = o.open(EndpointHost{Agent: s.agent, Skills: s.skills, Call: func(sender, r *http.Request) (*http.Response, error) {
		return s.roundTrip(binding.ForSender(context.Background(), sender), r)
	}})
	return err
}

// endpointAt is where the endpoint is when the server listens on an address, as an attribute of the log: "mcp" and a URL.
func (s *Server) endpointAt(addr net.Addr) []any {
	if s.other == nil {
		return nil
	}
	return []any{strings.Trim(s.endpoint.path, "/"), s.urlAt(addr) + s.endpoint.path}
}

func (s *Server) closeEndpoint() {
	if s.other != nil {
		s.other.Close()
	}
}

// serveEndpoint answers a request at the endpoint, unless a web page of another origin has sent it.
func (s *Server) serveEndpoint(w http.ResponseWriter, r *http.Request) {
	if !s.policy.Allow(w, r, "GET, POST, DELETE", false) {
		return
	}
	const exposed = "Access-Control-Expose-Headers"
	if h := w.Header(); h.Get(exposed) != "" {
		h.Set(exposed, strings.Join(append([]string{h.Get(exposed)}, s.endpoint.headers...), ", "))
	}
	s.other.ServeHTTP(w, r)
}

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
