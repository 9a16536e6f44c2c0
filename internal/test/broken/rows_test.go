package broken

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// row breaks one requirement of the agent, in one version. It has one of the functions, seldom two.
type row struct {
	name        string
	requirement string
	harmless    string   // why no requirement is broken: the whole suite finds nothing
	version     string   // "1.0" if empty
	over        []string // the bindings; those of its table if empty
	ops         string   // the operations that are broken, by their names in 1.0; empty: all requests

	card     func(card map[string]any)
	request  func(p *proxy, x *exchange)                                 // what the agent is asked instead
	instead  func(p *proxy, x *exchange) any                             // a result, or a failure, in place of the agent's; nil: that of the agent
	result   func(p *proxy, x *exchange, result any) any                 // of answers and of events
	failure  func(x *exchange, e map[string]any)                         // the error object of an answer
	document func(x *exchange, doc map[string]any)                       // the whole answer: of JSON-RPC with its envelope
	event    func(x *exchange, n int, doc any) []any                     // what comes in place of the n-th event of a stream
	response func(x *exchange, r *http.Response)                         // status and headers
	body     func(ctx context.Context, from io.ReadCloser) io.ReadCloser // of an answer, as it is sent
	hook     func(r *http.Request, body map[string]any) (passOn bool)    // a push notification
	trailer  func(x *exchange, h http.Header)                            // of gRPC
	header   string                                                      // that the suite has credentials for
	line     func(data string) string                                    // an event of a stream as it is written
	webhook  bool                                                        // the suite's webhook is needed, which has a socket
	timeout  time.Duration                                               // of a call

	binding string // the one of over that this is
}

// together is in the place of a binding where the card of one agent has all of its version.
const together = "all"

// The bindings of rows.
var (
	everywhere = []string{runtime.BindingJSONRPC, runtime.BindingHTTP, runtime.BindingGRPC}
	inJSON     = everywhere[:2]
	overRPC    = everywhere[:1]
	overREST   = everywhere[1:2]
	overGRPC   = everywhere[2:]
)

// failure is an error that a row answers in place of the agent.
type failure map[string]any

// concerns reports whether a row breaks an exchange.
func (r *row) concerns(x *exchange) bool {
	return r.ops == "" || slices.Contains(strings.Fields(r.ops), x.op)
}

// tables are the rows by what they break, with the bindings over which they do.
var tables = []struct {
	breaks string
	over   []string
	rows   []*row
}{
	{"the card", overRPC, cardRows},
	{"messages and tasks", everywhere, sendRows},
	{"errors of JSON-RPC", overRPC, errorRows},
	{"the envelope of JSON-RPC", overRPC, envelopeRows},
	{"lists", everywhere, listRows},
	{"cancel", everywhere, cancelRows},
	{"streams and subscriptions", everywhere, streamRows},
	{"what a stream and a task say together", everywhere, agreeRows},
	{"versions", everywhere, versionRows},
	{"capabilities and credentials", overRPC, capabilityRows},
	{"push notifications", overRPC, pushRows},
	{"HTTP+JSON", overREST, restRows},
	{"gRPC", overGRPC, grpcRows},
	{"0.3", overRPC, oldRows},
	{"nothing: a client cannot tell, or need not mind", everywhere, harmlessRows},
}

// rowsOf are the rows of a table, one for each binding, with what they leave out filled in.
func rowsOf(over []string, rows []*row) (all []*row) {
	for _, r := range rows {
		bindings := r.over
		if bindings == nil {
			bindings = over
		}
		for _, binding := range bindings {
			one := *r
			one.version, one.binding = cmp.Or(r.version, "1.0"), binding
			one.webhook = one.hook != nil || strings.Contains(one.ops, "PushNotificationConfig")
			all = append(all, &one)
		}
	}
	return all
}

// Changes of results.

// inTasks changes every whole task in a result.
func inTasks(f func(x *exchange, task map[string]any)) func(*proxy, *exchange, any) any {
	return func(_ *proxy, x *exchange, result any) any {
		for _, t := range append(wholeTasks(result), elements(asMap(result)["tasks"])...) {
			f(x, t)
		}
		return result
	}
}

// inUpdates changes what a status or artifact update holds.
func inUpdates(name string, f func(update map[string]any)) func(*proxy, *exchange, any) any {
	return func(_ *proxy, _ *exchange, result any) any {
		if u := asMap(asMap(result)[name]); u != nil {
			f(u)
		}
		return result
	}
}

// drop leaves a member of tasks out, on the way of names.
func drop(path ...string) func(*proxy, *exchange, any) any {
	return inTasks(func(_ *exchange, t map[string]any) { remove(t, path) })
}

// set gives a member of tasks a value, on the way of names.
func set(value any, path ...string) func(*proxy, *exchange, any) any {
	return inTasks(func(_ *exchange, t map[string]any) { put(t, value, path) })
}

// remove takes a member out. On its way, a list means all of its elements.
func remove(doc any, path []string) {
	each(doc, path, func(m map[string]any, name string) { delete(m, name) })
}

// put sets a member that is there.
func put(doc, value any, path []string) {
	each(doc, path, func(m map[string]any, name string) {
		if _, ok := m[name]; ok {
			m[name] = value
		}
	})
}

func each(doc any, path []string, f func(m map[string]any, name string)) {
	switch v := doc.(type) {
	case []any:
		for _, e := range v {
			each(e, path, f)
		}
	case map[string]any:
		if len(path) == 1 {
			f(v, path[0])
			return
		}
		each(v[path[0]], path[1:], f)
	}
}

// member leaves a member of a result itself out.
func member(path ...string) func(*proxy, *exchange, any) any {
	return func(_ *proxy, _ *exchange, result any) any {
		remove(result, path)
		return result
	}
}

// asked reports whether a parameter was sent.
func (x *exchange) asked(name string) (any, bool) {
	if v, ok := x.params[name]; ok {
		return v, true
	}
	if q := x.request.URL.Query(); q.Has(name) {
		return q.Get(name), true
	}
	return nil, false
}

// ask sets a parameter.
func (x *exchange) ask(name string, value any) {
	if x.params != nil {
		x.params[name] = value
		return
	}
	q := x.request.URL.Query()
	q.Set(name, toText(value))
	x.request.URL.RawQuery = q.Encode()
}

// sent is the message of a request.
func (x *exchange) sent() map[string]any { return asMap(x.params["message"]) }

// configuration is that of a request that sends a message; it makes one.
func (x *exchange) configuration() map[string]any {
	c := asMap(x.params["configuration"])
	if c == nil && x.params != nil {
		c = map[string]any{}
		x.params["configuration"] = c
	}
	return c
}

// without drops parameters before the agent sees them.
func unasked(names ...string) func(*proxy, *exchange) {
	return func(_ *proxy, x *exchange) {
		q := x.request.URL.Query()
		for _, name := range names {
			delete(x.params, name)
			delete(asMap(x.params["configuration"]), name)
			q.Del(name)
		}
		x.request.URL.RawQuery = q.Encode()
	}
}

// known is the last state of a task that the request names, or of any.
func known(p *proxy, x *exchange) any {
	if t := p.remember.task(x.task()); t != nil {
		return t
	}
	return p.remember.any()
}

// sentTask is a task in the form that SendMessage answers with.
func sentTask(p *proxy, x *exchange) any {
	if t := known(p, x); t != nil && x.version != "0.3" {
		return map[string]any{"task": t}
	}
	return known(p, x)
}

// unknownTask reports whether a request names a task that no answer had.
func unknownTask(p *proxy, x *exchange) bool {
	return x.task() != "" && p.remember.task(x.task()) == nil
}

// ended reports whether the task of a request has ended, as far as answers said.
func ended(p *proxy, x *exchange) bool {
	state := text(asMap(asMap(p.remember.task(x.task()))["status"])["state"])
	return slices.Contains([]string{"TASK_STATE_COMPLETED", "TASK_STATE_CANCELED", "completed", "canceled"}, state)
}

// when answers by f if a condition holds.
func when(cond func(*proxy, *exchange) bool, f func(*proxy, *exchange) any) func(*proxy, *exchange) any {
	return func(p *proxy, x *exchange) any {
		if cond(p, x) {
			return f(p, x)
		}
		return nil
	}
}
