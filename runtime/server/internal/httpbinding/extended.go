package server

import (
	"net/http"
	"path"
	"strconv"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// The extended card where a version has no operation for it, but a path beside the agent's own (0.2.6 §7.10). Elsewhere
// it is an operation as others are.

// addExtended serves the extended card beside an interface.
func (s *Server) addExtended(interfacePath string) {
	for _, v := range s.engine.Versions() {
		if at := v.Rules.ExtendedPath; at != "" {
			s.extended[at] = v
			s.extended[path.Join("/", interfacePath, "..", at)] = v
		}
	}
}

// privateCard is how long an extended card may be kept: by its caller alone, who asks again before using it, because it
// depends on who asks and what they may do by then (R206).
var privateCard = []string{"private, no-cache"}

// getExtended is the operation that such a request asks for.
var getExtended = &runtime.Operation{Role: runtime.RoleExtendedCard, RPC: "extended card"}

// serveExtended answers GET and HEAD of the extended card in the words of a version. What is wrong is said by status
// alone.
func (s *Server) serveExtended(w http.ResponseWriter, r *http.Request, v *engine.Version) {
	if !s.allowOrigin(w, r, "GET, HEAD") {
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD, OPTIONS")
		http.Error(w, "the card is read with GET", http.StatusMethodNotAllowed)
		return
	}
	x := s.exchange(w, r, runtime.BindingHTTP)
	defer x.done()
	x.Version, x.Op = v, getExtended
	if x.Allowed() != nil {
		http.Error(w, "this agent has no extended card", http.StatusNotFound)
		return
	}
	body, err := x.extendedCard()
	if err != nil {
		status := http.StatusInternalServerError
		if _, refused := x.told(err); refused != 0 {
			status = refused
		}
		http.Error(w, "the extended card is not available: "+http.StatusText(status), status)
		return
	}
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = privateCard
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	if r.Method == http.MethodGet {
		_, _ = w.Write(body)
	}
}

// extendedCard is the card that the caller may see, as bytes.
func (x *exchange) extendedCard() ([]byte, error) {
	if err := x.identify(func(v *engine.Version) bool { return v == x.Version }); err != nil {
		return nil, err
	}
	a, err := x.Serve(nil)
	if err != nil {
		return nil, err
	}
	card, ok := a.Result.(runtime.Card)
	if !ok {
		return nil, runtime.Unexpected(a.Result, "a card")
	}
	body, err := x.Version.AppendCard(nil, x.s.cardAt(card, x.s.baseOf(x.r)))
	if err != nil {
		return nil, err
	}
	return x.s.shown(body), nil
}
