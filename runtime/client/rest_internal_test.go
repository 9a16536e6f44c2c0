package client

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/a2agen/a2agen/runtime"
)

func routes(verb, body string, paths ...string) (list []runtime.Route) {
	for _, p := range paths {
		list = append(list, runtime.Route{Verb: verb, Path: p, Body: body})
	}
	return list
}

// Operations as tables have them, and some as definitions of one's own may.
var (
	get     = &runtime.Operation{Role: runtime.RoleGet, HTTP: routes("GET", "", "/tasks/{id=*}", "/{tenant}/tasks/{id=*}")}
	list    = &runtime.Operation{Role: runtime.RoleList, HTTP: routes("GET", "", "/tasks", "/{tenant}/tasks"), Query: []runtime.QueryField{{Name: "includeArtifacts", JSON: true}}}
	cancel  = &runtime.Operation{Role: runtime.RoleCancel, HTTP: routes("POST", "*", "/tasks/{id=*}:cancel", "/{tenant}/tasks/{id=*}:cancel")}
	send    = &runtime.Operation{Role: runtime.RoleSend, HTTP: routes("POST", "*", "/message:send", "/{tenant}/message:send")}
	push    = &runtime.Operation{Role: runtime.RolePushGet, HTTP: routes("GET", "", "/tasks/{task_id=*}/pushNotificationConfigs/{id=*}", "/{tenant}/tasks/{task_id=*}/pushNotificationConfigs/{id=*}")}
	named   = &runtime.Operation{HTTP: routes("GET", "", "/v1/{name=tasks/*}")}
	config  = &runtime.Operation{HTTP: routes("POST", "config", "/v1/{parent=tasks/*}/configs")}
	create  = &runtime.Operation{HTTP: routes("POST", "config", "/v1/{parent=task/*/configs}", "/v1/{parent=tasks/*}/configs")}
	configs = &runtime.Operation{HTTP: routes("GET", "", "/v1/{name=tasks/*/configs/*}")}
	deep    = &runtime.Operation{HTTP: routes("GET", "", "/files/{file.path=**}:read")}
	search  = &runtime.Operation{HTTP: routes("GET", "", "/search"), Query: []runtime.QueryField{
		{Name: "labels", List: true}, {Name: "flags", JSON: true, List: true}, {Name: "filter.open", JSON: true}, {Name: "extra", JSON: true},
	}}
)

func TestRequestsBecomeURLsAndBodies(t *testing.T) {
	for _, tt := range []struct {
		name          string
		op            *runtime.Operation
		request, want string // verb, path and query, body
	}{
		{"a variable", get, `{"id":"t1"}`, "GET /tasks/t1"},
		{"the rest in the query", get, `{"id":"t1","historyLength":0}`, "GET /tasks/t1?historyLength=0"},
		{"a tenant", get, `{"tenant":"acme","id":"t1"}`, "GET /acme/tasks/t1"},
		{"a tenant that looks like a path", get, `{"tenant":"tasks","id":"t1"}`, "GET /tasks/t1?tenant=tasks"},
		{"a tenant that looks like a path, with a body", cancel, `{"tenant":"tasks","id":"t1"}`, `POST /tasks/t1:cancel {"tenant":"tasks","id":"t1"}`},
		{"what separates, in an id", get, `{"id":"a/b:cancel?x=1#y%2F +é"}`, "GET /tasks/a%2Fb%3Acancel%3Fx%3D1%23y%252F%20%2B%C3%A9"},
		{"an id that leads up", get, `{"id":".."}`, "GET /tasks/%2E%2E"},
		{"two variables", push, `{"tenant":"a b","taskId":"t/1","id":"p:1"}`, "GET /a%20b/tasks/t%2F1/pushNotificationConfigs/p%3A1"},
		{"an action", cancel, `{"id":"t1","metadata":{"a":[1]}}`, `POST /tasks/t1:cancel {"id":"t1","metadata":{"a":[1]}}`},
		{"a body", send, `{"message":{"parts":[]}}`, `POST /message:send {"message":{"parts":[]}}`},
		{"nothing", list, `{}`, "GET /tasks"},
		{"null", list, `{"contextId":null}`, "GET /tasks"},
		{"text, enum, number, time and bool", list, `{"contextId":"c,1&x=y z","status":"TASK_STATE_WORKING","pageSize":7,"statusTimestampAfter":"2020-01-02T03:04:05Z","includeArtifacts":true}`,
			"GET /tasks?contextId=c%2C1%26x%3Dy%20z&status=TASK_STATE_WORKING&pageSize=7&statusTimestampAfter=2020-01-02T03%3A04%3A05Z&includeArtifacts=true"},
		{"a list", search, `{"labels":["a","b,c"]}`, "GET /search?labels=a&labels=b%2Cc"},
		{"a list of other than text", search, `{"flags":[true,false]}`, "GET /search?flags=true&flags=false"},
		{"a message", search, `{"filter":{"open":true,"by":{"name":"n"}}}`, "GET /search?filter.open=true&filter.by.name=n"},
		{"any JSON", search, `{"extra":{"a":[1,null]}}`, "GET /search?extra=%7B%22a%22%3A%5B1%2Cnull%5D%7D"},
		{"bytes and numbers as text", search, `{"raw":"aGk/+Q==","big":"9007199254740993"}`, "GET /search?raw=aGk%2F%2BQ%3D%3D&big=9007199254740993"},
		{"a name with a pattern", named, `{"name":"tasks/a:b","historyLength":3}`, "GET /v1/tasks/a%3Ab?historyLength=3"},
		{"a name of two, with what separates", configs, `{"name":"tasks/a/b/configs/c:d/e"}`, "GET /v1/tasks/a%2Fb/configs/c%3Ad%2Fe"},
		{"a name with what the path goes on with", config, `{"parent":"tasks/t1/configs"}`, "POST /v1/tasks/t1/configs"},
		{"a body that is a field", config, `{"parent":"tasks/t1","configId":"c","config":{"name":"x"}}`, `POST /v1/tasks/t1/configs?configId=c {"name":"x"}`},
		{"another route than one that does not fit", create, `{"parent":"tasks/t1","config":{}}`, `POST /v1/tasks/t1/configs {}`},
		{"a field in a message, over many segments", deep, `{"file":{"path":"a b/c/d"}}`, "GET /files/a%20b/c/d:read?file.path=a%20b%2Fc%2Fd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, err := webURL("https://agent.example/base/")
			if err != nil {
				t.Fatal(err)
			}
			try, err := newRESTFraming(base).address(tt.op, []byte(tt.request))
			if err != nil {
				t.Fatal(err)
			}
			got := try.verb + " " + strings.TrimPrefix(try.url, "https://agent.example/base")
			if try.body != nil {
				got += " " + string(try.body)
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	for name, tt := range map[string]struct {
		op      *runtime.Operation
		request string
		want    error
	}{
		"no id":                   {get, `{"historyLength":1}`, runtime.ErrInvalidParams},
		"an empty id":             {get, `{"id":""}`, runtime.ErrInvalidParams},
		"a name of other things":  {named, `{"name":"jobs/1"}`, runtime.ErrInvalidParams},
		"a name without anything": {named, `{"name":"tasks"}`, runtime.ErrInvalidParams},
		"a name without its end":  {configs, `{"name":"tasks/t/configs/"}`, runtime.ErrInvalidParams},
		"no path":                 {&runtime.Operation{}, `{}`, runtime.ErrUnsupportedOperation},
	} {
		if _, err := (&restFraming{base: "https://a.example"}).address(tt.op, []byte(tt.request)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnInterfaceMayHaveAnyURL(t *testing.T) {
	for base, want := range map[string]string{
		"https://a.example":              "https://a.example/tasks/t1?historyLength=1",
		"https://a.example/":             "https://a.example/tasks/t1?historyLength=1",
		"https://a.example:8443/x%2Fy//": "https://a.example:8443/x%2Fy/tasks/t1?historyLength=1",
		"http://a.example/x?key=1&b#f":   "http://a.example/x/tasks/t1?key=1&b&historyLength=1",
		"https://u:p@a.example/x":        "https://u:p@a.example/x/tasks/t1?historyLength=1",
	} {
		u, err := webURL(base)
		if err != nil {
			t.Fatal(err)
		}
		if try, err := newRESTFraming(u).address(get, []byte(`{"id":"t1","historyLength":1}`)); err != nil || try.url != want {
			t.Errorf("%s gives %v, %v", base, try, err)
		}
	}
}

// FuzzAddress: whatever a request says, its URL can be read, leads below the interface, and says it.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"t1", "a/b:cancel", "..", "...", "%2F", "?x=y&z#", "\x00é ", "tasks"} {
		f.Add(s, s, s)
	}
	f.Fuzz(func(t *testing.T, tenant, id, text string) {
		if !utf8.ValidString(tenant) || !utf8.ValidString(id) || !utf8.ValidString(text) {
			return
		}
		request, err := json.Marshal(map[string]any{"tenant": tenant, "taskId": id, "id": id, "text": text, "filter": map[string]any{"by": []string{text, text}}})
		if err != nil {
			t.Fatal(err)
		}
		try, err := (&restFraming{base: "https://a.example/x"}).address(push, request)
		if (err != nil) != (id == "") {
			t.Fatalf("id %q: %v", id, err)
		}
		if err != nil {
			return
		}
		u, err := url.Parse(try.url)
		if err != nil || u.Host != "a.example" {
			t.Fatalf("%s: %v", try.url, err)
		}
		parts := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/x/"), "/")
		if tenant != "" && tenant != "tasks" {
			if got, err := url.PathUnescape(parts[0]); err != nil || got != tenant {
				t.Errorf("%q: the tenant is %q, %v", tenant, got, err)
			}
			parts = parts[1:]
		}
		if len(parts) != 4 || parts[1] == "." || parts[1] == ".." || strings.Contains(parts[1], ":") {
			t.Fatalf("%q", parts)
		}
		if got, err := url.PathUnescape(parts[1]); err != nil || got != id {
			t.Errorf("%q: the id is %q, %v", id, got, err)
		}
		query := u.Query()
		if got := query["filter.by"]; query.Get("text") != text || len(got) != 2 || got[1] != text {
			t.Errorf("%q: the query is %v", text, query)
		}
	})
}
