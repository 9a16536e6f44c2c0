package binding

import (
	"net/http"
	"strconv"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// privateCard is how long an extended card may be kept: by its caller alone, who asks again before using it, because it
// depends on who asks and what they may do by then (R206).
var privateCard = []string{"private, no-cache"}

// getExtended is the operation that such a request asks for.
var getExtended = &runtime.Operation{Role: runtime.RoleExtendedCard, RPC: "extended card"}

// ServeExtended answers GET and HEAD of the extended card as a version writes it, where the version has no operation
// for it, but a path beside the agent's own (0.2.6 §7.10). What is wrong is said by status alone.
func ServeExtended(a *Agent, w http.ResponseWriter, r *http.Request, v *engine.Version) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD, OPTIONS")
		http.Error(w, "the card is read with GET", http.StatusMethodNotAllowed)
		return
	}
	q := new(HTTPRequest)
	q.Begin(a, w, r, runtime.BindingHTTP)
	defer q.Finish()
	q.Version, q.Op = v, getExtended
	if q.Allowed() != nil {
		http.Error(w, "this agent has no extended card", http.StatusNotFound)
		return
	}
	body, err := q.extendedCard()
	if err != nil {
		status := http.StatusInternalServerError
		if _, refused := q.ToldHTTP(err); refused != 0 {
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
func (q *HTTPRequest) extendedCard() ([]byte, error) {
	if err := q.Identify(func(v *engine.Version) bool { return v == q.Version }); err != nil {
		return nil, err
	}
	a, err := q.Serve(nil)
	if err != nil {
		return nil, err
	}
	card, ok := a.Result.(runtime.Card)
	if !ok {
		return nil, runtime.Unexpected(a.Result, "a card")
	}
	body, err := q.Version.AppendCard(nil, q.Agent.Cards.For(q.R, card, q.Version))
	if err != nil {
		return nil, err
	}
	return q.Agent.Cards.Shown(body), nil
}
