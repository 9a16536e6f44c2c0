// Package binding is the side of a server that clients meet. One port serves HTTP/1, HTTP/2 and gRPC (port.go, mux.go, tls.go,
// detach.go, deadline.go); where a request comes from decides whether it is answered (origin.go). A request of whatever
// binding finds its caller, keeps within a budget, has the engine carry the operation out, and is observed and logged
// (request.go, caller.go). The bindings over HTTP share headers, bodies, dispatch and event streams
// (httprequest.go, events.go); jsonrpc.go and rest.go, with route.go and params.go, have what is
// their own. Beside them are the card, what clients of OAuth must know, and a page for people.
package binding

import (
	"crypto/x509"
	"log/slog"
	"net/http"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/internal/errorformat"
	"github.com/a2agen/a2agen/runtime/internal/guard"
)

// Agent is what bindings need of the agent that they serve.
type Agent struct {
	*engine.Engine
	Limits engine.Limits // none of which is zero
	Logger *slog.Logger
	Now    func() time.Time
	Cards  *Cards
	Access *Access
	Bodies budget.Budget // of messages that are being received and decoded, in bytes

	Audited        func() bool // reports whether calls can be written down; nil: they need not be
	NoCallLog      bool        // calls are not logged one by one
	FormerStatuses bool        // errors have the statuses of A2A 1.0.0

	denials denialLog
}

// Access says who may call.
type Access struct {
	Verifiers auth.Verifiers                      // nil: what the card demands is not checked
	Proxied   func(*http.Request) (string, error) // who calls, by what a proxy says; nil: no proxy does
	Guard     *Guard                              // checks what the card demands; nil: nothing is checked
	Demands   *auth.Demands                       // of the cards
	Extended  []string                            // scopes of who may see the extended card
	Grace     time.Duration                       // how long streams outlive their callers' credentials

	AsksCertificates bool           // clients are asked for one
	Authorities      *x509.CertPool // whose certificates pass; nil: whatever TLS is shown
}

// Guard is what is asked of an [guard.Guard], as functions: an agent links them only where it is given verifiers. Methods of
// an interface would not do: the linker keeps those of every type that requests lead to.
type Guard struct {
	Check        func(r *http.Request) (*guard.Grant, *guard.Denial)
	Skill        func(t *guard.Grant, id, tenant string) *guard.Denial
	Lacks        func(t *guard.Grant, scopes []string) *guard.Denial
	Unidentified func(reason error) *guard.Denial
	Skills       bool     // some skill has requirements of its own
	KeyHeaders   []string // names of the headers that hold API keys
}

// NewGuard makes what is asked of a guard.
func NewGuard(g *guard.Guard) *Guard {
	return &Guard{
		Check: g.Check, Skill: (*guard.Grant).Skill, Lacks: (*guard.Grant).Lacks, Unidentified: g.Unidentified,
		Skills: g.GuardsSkills(), KeyHeaders: g.KeyHeaders(),
	}
}

// Identifies reports whether the agent finds out who callers are.
func (a *Access) Identifies() bool { return a.Proxied != nil || len(a.Verifiers) > 0 }

// FreeBody is up to which size a message is not counted, in bytes: a connection costs as much anyway.
const FreeBody = 16 << 10

// bodyRate is how fast a message must come once [engine.Limits].Read is over, in bytes a second.
const bodyRate = 16 << 10

// Patience is how long a message may take of which so many bytes have come.
func (a *Agent) Patience(received int64) time.Duration {
	return a.Limits.Read + time.Duration(received)*time.Second/bodyRate
}

// ErrTooMany refuses a message for which the budget has no room.
var ErrTooMany = engine.ErrBusy.With("too many large requests are being received, try again later")

// Status is how an error of a version is classed, over bindings that class them; v is nil while it is not known.
func (a *Agent) Status(v *engine.Version, e *runtime.Error) errorformat.Status {
	switch {
	case v != nil && v.Rules.PlainErrors:
		return errorformat.Of(e, errorformat.Statuses03)
	case a.FormerStatuses:
		return errorformat.Of(e, errorformat.Statuses100)
	}
	return errorformat.Of(e, errorformat.Statuses101)
}
