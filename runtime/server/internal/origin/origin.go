package server

import (
	"fmt"
	"net"
	"net/http"
)

// An agent that demands nothing of its callers answers on its own machine alone, unless somebody has said that anybody
// may use it: otherwise a port that is opened without a thought opens the agent, too.

// errOpen refuses an address of such an agent.
func errOpen(addr net.Addr) error {
	return fmt.Errorf("%s can be reached from other machines, and the agent demands nothing of its callers: let agent.yaml "+
		"demand credentials and check them (server.WithAuth), or say that anybody may use it: \"auth: none\" in a2agen.yaml, "+
		"or %s=none", addr, EnvAuth)
}

// withheld reports whether requests that come to an address are not answered.
func (s *Server) withheld(addr net.Addr) bool {
	if s.access.open {
		return false
	}
	tcp, ok := addr.(*net.TCPAddr)
	return ok && !tcp.IP.IsLoopback()
}

// allowReach refuses requests to an address where they are not answered. Hosts of one's own come this way; Serve does
// not even begin.
func (s *Server) allowReach(w http.ResponseWriter, r *http.Request) bool {
	if s.access.open {
		return true
	}
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if addr == nil || !s.withheld(addr) {
		return true
	}
	http.Error(w, "This agent demands nothing of its callers, so that it answers on its own machine alone.\n"+
		"Whoever runs it can say otherwise: "+EnvAuth+"=none.", http.StatusForbidden)
	return false
}
