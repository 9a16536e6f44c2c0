package binding

import (
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
)

// routedOperations are those of 1.0, and what other definitions may have.
func routedOperations() []*runtime.Operation {
	op := func(rpc, verb, path string) *runtime.Operation {
		return &runtime.Operation{RPC: rpc, HTTP: []runtime.Route{{Verb: verb, Path: path}}}
	}
	return append(a2a.Protocol().Versions[0].Operations,
		op("Named", "GET", "/v1/{name=tasks/*}"), op("Stopped", "POST", "/v1/{name=tasks/*}:stop"),
		op("Files", "GET", "/files/{path=**}"), op("Deep", "PUT", "/deep/{a.b}/end"), op("Root", "GET", "/"))
}

// T57: routes are matched on the escaped path.
func TestRoutes(t *testing.T) {
	rs := routesOf(&runtime.Table{Operations: routedOperations()})
	for _, tt := range []struct{ method, path, want string }{
		{"POST", "/message:send", "SendMessage"},
		{"POST", "/acme/message:send", "SendMessage tenant=acme"},
		{"POST", "/message:stream", "SendStreamingMessage"},
		{"GET", "/tasks", "ListTasks"},
		{"GET", "/acme/tasks", "ListTasks tenant=acme"},
		{"GET", "/tasks/a", "GetTask id=a"},
		{"GET", "/tasks/tasks", "GetTask id=tasks"}, // the un-prefixed route wins
		{"GET", "/tasks/a%2Fb", "GetTask id=a/b"},
		{"GET", "/tasks/a%3Acancel", "GetTask id=a:cancel"},
		{"GET", "/tasks/a:b", "GetTask id=a:b"},
		{"GET", "/a%20b/tasks/%C3%A9", "GetTask tenant=a b id=é"},
		{"POST", "/tasks/a:cancel", "CancelTask id=a"},
		{"POST", "/tasks/a:b:cancel", "CancelTask id=a:b"},
		{"POST", "/acme/tasks/a:cancel", "CancelTask tenant=acme id=a"},
		{"GET", "/tasks/a:cancel", "not GET: POST"},
		{"GET", "/tasks/a:subscribe", "SubscribeToTask id=a"},
		{"POST", "/tasks/a:subscribe", "SubscribeToTask id=a"},
		{"POST", "/acme/tasks/a:subscribe", "SubscribeToTask tenant=acme id=a"},
		{"POST", "/tasks/a/pushNotificationConfigs", "CreateTaskPushNotificationConfig task_id=a"},
		{"GET", "/tasks/a/pushNotificationConfigs", "ListTaskPushNotificationConfigs task_id=a"},
		{"DELETE", "/acme/tasks/a/pushNotificationConfigs/b", "DeleteTaskPushNotificationConfig tenant=acme task_id=a id=b"},
		{"PUT", "/tasks/a/pushNotificationConfigs", "not PUT: POST GET HEAD"},
		{"GET", "/extendedAgentCard", "GetExtendedAgentCard"},
		{"DELETE", "/tasks/a", "not DELETE: GET HEAD"},
		{"POST", "/tasks/a:nope", "not POST: GET HEAD"},
		{"HEAD", "/tasks/a", "GetTask id=a"},
		{"HEAD", "/tasks/a:subscribe", "not HEAD: GET POST"},
		{"HEAD", "/tasks/a:cancel", "not HEAD: POST"},
		{"GET", "/v1/tasks/x", "Named name=tasks/x"},
		{"POST", "/v1/tasks/x:stop", "Stopped name=tasks/x"},
		{"GET", "/files/a/b%2Fc", "Files path=a/b/c"},
		{"PUT", "/deep/x/end", "Deep a.b=x"},
		{"GET", "/tasks/", "nothing"},
		{"GET", "/./tasks", "nothing"},
		{"GET", "/../tasks", "nothing"},
		{"GET", "/%2e/tasks", "nothing"},
		{"GET", "/%2E%2e/tasks", "nothing"},
		{"GET", "/tasks/..", "nothing"},
		{"POST", "/tasks/.:cancel", "nothing"},
		{"GET", "/files/a/../b", "nothing"},
		{"GET", "/tasks/...", "GetTask id=..."},
		{"GET", "/tasks//pushNotificationConfigs", "nothing"},
		{"POST", "/tasks/:cancel", "not POST: GET HEAD"},
		{"GET", "/message%3Asend", "nothing"},
		{"GET", "/a/b/c/d/e", "nothing"},
		{"GET", "/files", "nothing"},
		{"GET", "/tasks/%zz", "undecodable"},
		{"GET", "/tasks/%", "undecodable"},
	} {
		if got := routed(rs, tt.method, tt.path); got != tt.want {
			t.Errorf("%s %s is %q, want %q", tt.method, tt.path, got, tt.want)
		}
	}
}

// routed says in words where a request goes.
func routed(rs routes, method, path string) string {
	p, ok := readPath(path)
	if !ok {
		return "undecodable"
	}
	found, allowed := rs.find(method, p)
	switch {
	case found != nil:
		words := []string{found.op.RPC}
		for _, v := range found.vars {
			words = append(words, v.name+"="+p.value(found, v))
		}
		return strings.Join(words, " ")
	case allowed != nil:
		return "not " + method + ": " + strings.Join(allowed, " ")
	}
	return "nothing"
}

// Whatever the path, it goes nowhere or to a route with that method, and a variable is never empty.
func FuzzRoutes(f *testing.F) {
	for _, p := range []string{"/v1/tasks/a/pushNotificationConfigs/b", "/v1/task/a/pushNotificationConfigs", "/tasks/a:cancel", "/%2f/tasks", "//", "/tasks/%zz", "/a/b/c:d:", ":", "/tasks/:subscribe"} {
		f.Add("POST", p)
		f.Add("GET", p)
	}
	all := []routes{routesOf(&runtime.Table{Operations: routedOperations()})}
	for _, v := range a2awires.Protocol().Versions {
		if table := v.Over(runtime.BindingHTTP); table != nil {
			all = append(all, routesOf(table), routesOf(table).orWithout(formerPrefix))
		}
	}
	f.Fuzz(func(t *testing.T, method, path string) {
		p, ok := readPath(path)
		if !ok {
			return
		}
		for _, rs := range all {
			found, allowed := rs.find(method, p)
			if (found != nil || allowed != nil) != rs.has(p) {
				t.Fatalf("%s %q: has is %v, found %v, allowed %v", method, path, rs.has(p), found, allowed)
			}
			checkFound(t, method, p, found, allowed)
		}
	})
}

func checkFound(t *testing.T, method string, p requestPath, found *route, allowed []string) {
	t.Helper()
	if found == nil {
		if slices.Contains(allowed, method) {
			t.Fatal("allowed and not found")
		}
		return
	}
	if !slices.Contains(found.methods(), method) {
		t.Fatalf("%s goes to a route of %s", method, found.method)
	}
	for _, v := range found.vars {
		if v.to > 0 && p.value(found, v) == "" {
			t.Fatalf("%s is empty", v.name)
		}
	}
}

// Whatever template a definition has, no path breaks its route.
func FuzzTemplates(f *testing.F) {
	for _, template := range []string{"/{tenant}/tasks/{id=*}:cancel", "/v1/{name=tasks/*}", "/v1/{parent=task/*/pushNotificationConfigs}", "/files/{path=**}",
		"/{a}{b}", "/{", "/}", "/:x", "/{x=}", "//", "/a:b/c:d", "/{a.b}/end:"} {
		f.Add(template, "/v1/tasks/a")
	}
	f.Fuzz(func(t *testing.T, template, path string) {
		rt := newRoute(queried, runtime.Route{Verb: "GET", Path: template})
		p, ok := readPath(path)
		if !ok {
			return
		}
		for _, rt := range append(routes{rt}, routes{rt}.orWithout("v1")...) {
			if !rt.match(p) {
				continue
			}
			for _, v := range rt.vars {
				p.value(rt, v)
			}
		}
	})
}
