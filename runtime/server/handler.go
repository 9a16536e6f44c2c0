package server

import (
	"net/http"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// Paths of the endpoints beside the bindings (A2A 1.0 §8.2, R246): the card, the card as agents before 0.3 have it
// (T52), whether the agent is well, whether requests should come to it, and what OAuth clients must know of it (RFC 9728).
const (
	CardPath     = binding.CardPath
	OldCardPath  = binding.OldCardPath
	HealthPath   = "/healthz"
	ReadyPath    = "/readyz"
	ResourcePath = binding.ResourcePath
)

// ServeHTTP answers JSON-RPC at the paths of the card's interfaces, HTTP+JSON below them, the card at [CardPath] and
// where older spoken versions have it, [HealthPath] and [ReadyPath]. A browser gets a page about the agent at "/" and where
// JSON-RPC is.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor > 1 {
		limited := binding.NewResponseWriter(w, s.limits.Stall)
		defer limited.Finish()
		w = limited
	}
	if path := r.URL.Path; path == HealthPath || path == ReadyPath {
		s.serveHealth(w, path == ReadyPath)
		return
	}
	if !s.policy.AllowTarget(w, r) {
		return
	}
	if s.beside != nil && s.beside.Calls(r) {
		s.beside.ServeHTTP(w, r)
		return
	}
	switch path := r.URL.Path; {
	case s.paths.rpc[path]:
		wanted := r.Method != http.MethodPost && binding.WantsPage(r)
		switch {
		case !s.policy.Allow(w, r, http.MethodPost, wanted):
		case r.Method == http.MethodPost:
			s.rpc.ServeHTTP(w, r)
		case wanted:
			s.page.ServeHTTP(w, r)
		default:
			w.Header().Set("Allow", "POST, OPTIONS")
			http.Error(w, "A POST is wanted here. "+s.page.Directions(r), http.StatusMethodNotAllowed)
		}
	case s.paths.other[path]:
		s.serveEndpoint(w, r)
	case s.cards.At(path) != nil:
		s.cards.Serve(w, r, s.cards.At(path), binding.AskedVersion(r))
	case s.paths.extended[path] != nil:
		if s.policy.Allow(w, r, "GET, HEAD", binding.WantsPage(r)) {
			binding.ServeExtended(s.agent, w, r, s.paths.extended[path])
		}
	case s.resource.At(path):
		s.resource.ServeHTTP(w, r)
	case path == runtime.PushKeysPath && s.signer != nil:
		serveKeys(w, r, s.signer)
	case path == "/" && binding.WantsPage(r):
		s.page.ServeHTTP(w, r)
	case s.servesOwn(w, r):
	default:
		s.serveREST(w, r)
	}
}

// serveREST answers a request below an interface of HTTP+JSON, and one of a path where nothing is.
func (s *Server) serveREST(w http.ResponseWriter, r *http.Request) {
	rest, ok := s.paths.below(r)
	if ok && r.Method != http.MethodOptions {
		if s.policy.Allow(w, r, "", binding.WantsPage(r)) {
			s.http.Serve(w, r, rest)
		}
		return
	}
	if ok {
		if methods := s.http.Methods(rest); methods != nil {
			s.policy.Allow(w, r, strings.Join(methods, ", "), binding.WantsPage(r))
			return
		}
	}
	http.Error(w, "There is nothing here. "+s.page.Directions(r), http.StatusNotFound)
}

// serveHealth answers whether the agent is well or, if ready is set, whether requests should come to it. An agent that
// does not reach its store is well: to start it again would end the work that goes on, and bring nothing back.
func (s *Server) serveHealth(w http.ResponseWriter, ready bool) {
	w.Header()["Content-Type"] = []string{"text/plain; charset=utf-8"}
	w.Header()["Cache-Control"] = []string{"no-store"}
	why := s.engine.Ready()
	switch {
	case why == nil:
		_, _ = w.Write([]byte("ok\n"))
	case ready || s.engine.Draining():
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(why.Error() + "\n"))
	default:
		_, _ = w.Write([]byte("ok, but not ready: " + why.Error() + "\n"))
	}
}

// Handle serves a page of your own beside the agent, such as the callback of OAuth. The pattern is one of
// [http.ServeMux]; it goes before HTTP+JSON, which may be below any path, and after all else. Anybody who reaches the
// agent may ask for it: what the card demands is not checked. Call it before the server serves.
func (s *Server) Handle(pattern string, h http.Handler) {
	if s.pages == nil {
		s.pages = http.NewServeMux()
	}
	s.pages.Handle(pattern, h)
}

// servesOwn answers with a page of the user's own, if there is one.
func (s *Server) servesOwn(w http.ResponseWriter, r *http.Request) bool {
	if s.pages == nil {
		return false
	}
	if _, pattern := s.pages.Handler(r); pattern == "" {
		return false
	}
	s.pages.ServeHTTP(w, r)
	return true
}
