package binding

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/a2agen/a2agen/internal/test/growth"
	"github.com/a2agen/a2agen/runtime"
)

// queried is an operation with fields of every kind.
var queried = &runtime.Operation{Query: []runtime.QueryField{
	{Name: "done", JSON: true}, {Name: "labels", List: true}, {Name: "flags", JSON: true, List: true},
	{Name: "filter.isOpen", JSON: true}, {Name: "extra", JSON: true},
}}

// assembled is what Decode gets of path, query and body, or what is wrong.
func assembled(path, template, query, body, field string) (string, *runtime.Error) {
	q := restRequest{}
	q.R = httptest.NewRequest("POST", "/", nil)
	q.R.URL.RawQuery = query
	q.Op = queried
	q.route = newRoute(queried, runtime.Route{Verb: "POST", Path: template, Body: field})
	q.path, _ = readPath(path)
	if body != "" {
		b := []byte(body)
		q.Body = &b
	}
	err := q.assemble()
	return string(q.Params), err
}

func TestParametersOfAURL(t *testing.T) {
	for _, tt := range []struct{ name, path, template, query, body, field, want string }{
		{"nothing", "/x", "/x", "", "", "", `{}`},
		{"a variable", "/tasks/a%22b", "/tasks/{task_id=*}", "", "", "", `{"task_id":"a\"b"}`},
		{"a variable of a message in the request", "/tasks/a", "/tasks/{task.id}", "", "", "", `{"task":{"id":"a"}}`},
		{"texts", "/x", "/x", "a=1&b=x%20y+z&c=%2B", "", "", `{"a":"1","b":"x y z","c":"+"}`},
		{"a time", "/x", "/x", "after=2026-01-02T03:04:05.000Z", "", "", `{"after":"2026-01-02T03:04:05.000Z"}`},
		{"bytes", "/x", "/x", "raw=_-8%3D", "", "", `{"raw":"_-8="}`},
		{"a bool", "/x", "/x", "done=true", "", "", `{"done":true}`},
		{"a bool that is none", "/x", "/x", "done=yes", "", "", `{"done":"yes"}`},
		{"snake_case", "/x", "/x", "filter.is_open=false", "", "", `{"filter":{"is_open":false}}`},
		{"nested", "/x", "/x", "filter.a=1&filter.b.c=2&filter.isOpen=true", "", "", `{"filter":{"a":"1","b":{"c":"2"},"isOpen":true}}`},
		{"repeated", "/x", "/x", "labels=a&x=1&labels=b", "", "", `{"labels":["a","b"],"x":"1"}`},
		{"repeated with commas", "/x", "/x", "labels=a,b%2Cc", "", "", `{"labels":["a","b,c"]}`},
		{"repeated bools", "/x", "/x", "flags=true,false", "", "", `{"flags":[true,false]}`},
		{"an empty one of several", "/x", "/x", "labels=a&labels=&labels=b,", "", "", `{"labels":["a","","b",""]}`},
		{"an empty one alone", "/x", "/x", "labels=&a=1", "", "", `{"labels":[],"a":"1"}`},
		{"an object", "/x", "/x", "extra=%7B%22a%22%3A1%7D", "", "", `{"extra":{"a":1}}`},
		{"twice", "/x", "/x", "a=1&a=2", "", "", `{"a":"1","a":"2"}`}, // which Decode refuses
		{"no value", "/x", "/x", "a=&b&&c=1", "", "", `{"c":"1"}`},
		{"the version", "/x", "/x", "A2A-Version=1.0&a2a-version=1.0", "", "", `{}`},
		{"what the path says again", "/t/a", "/t/{task_id}", "taskId=a", "", "", `{"task_id":"a"}`},
		{"a body", "/x", "/x", "", ` {"a":1} `, "*", `{"a":1}`},
		{"a body that is no object", "/t/a", "/t/{id}", "", `[1]`, "*", `[1]`},
		{"a body with a variable", "/t/a", "/t/{id}", "", `{"m":[]}`, "*", `{"id":"a","m":[]}`},
		{"an empty object with a variable", "/t/a", "/t/{id}", "", `{ }`, "*", `{"id":"a"}`},
		{"a body that says what the path says", "/t/a", "/t/{task_id}", "", `{"taskId":"\u0061","m":1}`, "*", `{"taskId":"\u0061","m":1}`},
		{"a body that is a field", "/t/a", "/t/{id}", "x=1", `{"u":2}`, "config", `{"id":"a","x":"1","config":{"u":2}}`},
		{"no body", "/t/a", "/t/{id}", "", "", "*", `{"id":"a"}`},
	} {
		if got, err := assembled(tt.path, tt.template, tt.query, tt.body, tt.field); err != nil || got != tt.want {
			t.Errorf("%s: %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

// many is a format with each number up to n.
func many(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// What stands in a URL takes time linear in its size, also beside a body.
func TestURLsTakeLinearTime(t *testing.T) {
	for _, tt := range []struct {
		name       string
		n          int
		query      func(n int) string
		path, body func(n int) string
	}{
		{name: "names", n: 20_000, query: func(n int) string { return many("k%d=1&", n) }},
		{name: "names within one", n: 20_000, query: func(n int) string { return many("a.k%d=1&", n) }},
		{name: "one name", n: 20_000, query: func(n int) string { return many("k=%d&", n) }},
		{name: "values of a list", n: 20_000, query: func(n int) string { return "labels=" + strings.Repeat("a,", n) }},
		{name: "a list again and again", n: 20_000, query: func(n int) string { return strings.Repeat("labels=a&", n) }},
		{name: "dots", n: 100_000, query: func(n int) string { return strings.Repeat(".", n) + "=1" }},
		{name: "escapes", n: 100_000, query: func(n int) string { return "a=" + strings.Repeat("%41", n) }},
		{name: "separators", n: 200_000, query: func(n int) string { return strings.Repeat("&", n) }},
		{name: "slashes", n: 100_000, path: func(n int) string { return strings.Repeat("/a", n) }},
		{name: "colons", n: 100_000, path: func(n int) string { return "/" + strings.Repeat("a:", n) }},
		{name: "a long segment", n: 100_000, path: func(n int) string { return "/" + strings.Repeat("%41", n) }},
		{name: "members of a body beside names", n: 5_000, query: func(int) string { return many("k%d=1&", 90) },
			body: func(n int) string { return `{` + many(`"m%d":1,`, n) + `"m":1}` }},
		{name: "members of a body that say the same", n: 5_000, query: func(int) string { return "k=1" },
			body: func(n int) string { return `{` + strings.Repeat(`"k":"1",`, n) + `"m":1}` }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			growth.Linear(t, tt.n, func(n int) func() {
				query, path, body := "", "/x", ""
				if tt.query != nil {
					query = tt.query(n)
				}
				if tt.path != nil {
					path = tt.path(n)
				}
				if tt.body != nil {
					body = tt.body(n)
				}
				rs := routesOf(&runtime.Table{Operations: routedOperations()})
				return func() {
					p, _ := readPath(path)
					rs.find("POST", p)
					_, _ = assembled("/x", "/x", query, body, "*")
				}
			})
		})
	}
}

func TestWhatURLsMustNotSay(t *testing.T) {
	for _, tt := range []struct{ name, path, template, query, body, want string }{
		{"a value that is not encoded", "/x", "/x", "a=%zz", "", "a is not encoded as a URL is"},
		{"a name that is not encoded", "/x", "/x", "%=1", "", "the query is not encoded as a URL is"},
		{"a value that is no text", "/x", "/x", "a=%ff", "", "a is not encoded as a URL is"},
		{"a variable that is no text", "/t/%ff", "/t/{id}", "", "", "id is not UTF-8"},
		{"another one than the path", "/t/a", "/t/{task_id}", "taskId=b", "", "taskId is not what the path says"},
		{"a body with another one", "/t/a", "/t/{tenant}", "", `{"tenant":"b"}`, "tenant is not what the URL says"},
		{"a body with a number for it", "/t/1", "/t/{tenant}", "", `{"tenant":1}`, "tenant is not what the URL says"},
		{"a body with another than the query", "/x", "/x", "tenant=a", `{"tenant":"b"}`, "tenant is not what the URL says"},
		{"too many names", "/x", "/x", many("a%d=1&", 200), "", "the query has too many names"},
		{"too many names of a message", "/x", "/x", many("a.a%d=1&", 200), "", "the query has too many names"},
		{"too many dots", "/x", "/x", strings.Repeat("a.", 30) + "=1", "", "a name in the query has too many dots"},
	} {
		_, err := assembled(tt.path, tt.template, tt.query, tt.body, "*")
		if err == nil || err.Code != runtime.ErrInvalidParams.Code || err.Note != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// Whatever URL and body there are, what Decode gets of them is one JSON object unless the body was none.
func FuzzParameters(f *testing.F) {
	for _, query := range []string{"a=1", "labels=a,b&done=true", "filter.a=1&filter=2", "%zz", "a=%ff", "extra={&flags=[,]", ".=1", "a..b=1"} {
		f.Add("x", query, `{"id":"x"}`)
		f.Add("%22", query, `{`)
	}
	f.Fuzz(func(t *testing.T, id, query, body string) {
		path := "/t/" + id
		if p, ok := readPath(path); !ok || len(p.segments) != 2 || p.last == "" {
			return
		}
		for _, field := range []string{"*", "config", ""} {
			got, err := assembled(path, "/t/{id}", query, body, field)
			whole := field != "*" || body == "" || json.Valid([]byte(body)) && utf8.ValidString(body)
			if err == nil && whole && (!json.Valid([]byte(got)) || !utf8.ValidString(got)) {
				t.Fatalf("%q is no JSON", got)
			}
		}
	})
}
